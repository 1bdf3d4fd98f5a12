import asyncio
import threading
from collections.abc import Iterator

import pytest

from tamis import ExpressionError
from tamis.client import ConnectionLostError
from tamis.client.blocking import connect
from tamis.server import Server, ServerSettings


@pytest.fixture
def url() -> Iterator[str]:
    """The address of a broker in another thread."""
    found: list[str] = []
    ready = threading.Event()
    stop: list[tuple[asyncio.AbstractEventLoop, asyncio.Event]] = []

    async def serve() -> None:
        async with Server(ServerSettings(port=0)) as server:
            stop.append((asyncio.get_running_loop(), asyncio.Event()))
            found.append(server.url)
            ready.set()
            await stop[0][1].wait()

    thread = threading.Thread(target=lambda: asyncio.run(serve()))
    thread.start()
    ready.wait()
    yield found[0]
    loop, event = stop[0]
    loop.call_soon_threadsafe(event.set)
    thread.join()


def test_the_same_without_asyncio(url: str) -> None:
    with connect(url) as client:
        with client.subscribe("x > 1") as events:
            client.publish_many([{"x": 1}, {"x": 2}, {"x": 3}])
            id = client.publish({"x": 4})
            assert [next(events)["x"] for _ in range(2)] == [2, 3]
            assert events.take(timeout=60).id == id
            with pytest.raises(TimeoutError):
                events.take(timeout=0.01)
            client.publish({"x": 5})
            assert next(events)["x"] == 5
        assert list(events) == []
        with pytest.raises(ExpressionError):
            client.subscribe("x >")


def test_where_there_is_no_broker() -> None:
    with pytest.raises(ConnectionLostError), connect("tamis://127.0.0.1:1"):
        pass
