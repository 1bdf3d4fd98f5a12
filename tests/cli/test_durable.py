import asyncio
import json
import threading
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from support.kept import stored
from tamis.client import blocking


@pytest.fixture
def url(tmp_path: Path) -> Iterator[str]:
    """The address of a broker with a store, in another thread."""
    found: list[tuple[str, asyncio.AbstractEventLoop, asyncio.Event]] = []
    ready = threading.Event()

    async def serve() -> None:
        async with stored(tmp_path, "a") as server:
            found.append((server.url, asyncio.get_running_loop(), asyncio.Event()))
            ready.set()
            await found[0][2].wait()

    thread = threading.Thread(target=lambda: asyncio.run(serve()))
    thread.start()
    ready.wait()
    address, loop, stop = found[0]
    yield address
    loop.call_soon_threadsafe(stop.set)
    thread.join()


def test_durable_events_are_printed_once_each_until_the_subscription_ends(url: str, invoke: Any) -> None:
    with blocking.connect(url) as client, client.subscribe("x > 1", durable="me"):
        pass
    lines = "".join(f'{{"x": {x}}}\n' for x in range(5))
    assert invoke("pub", "--durable", "--url", url, stdin=lines).stderr == "5 published\n"
    for count, printed in ((2, [2, 3]), (1, [4])):
        result = invoke("sub", "x > 1", "--durable", "me", "--count", str(count), "--json", "--url", url)
        assert [json.loads(line)["event"]["x"] for line in result.stdout.splitlines()] == printed
    result = invoke("sub", "x > 1", "--durable", "me", "--unsubscribe", "--url", url)
    assert (result.exit_code, result.stderr) == (0, "durable subscription me has ended\n")
    result = invoke("sub", "x > 1", "--unsubscribe", "--url", url)
    assert (result.exit_code, result.stderr) == (2, "tamis: --unsubscribe: say which one with --durable NAME\n")


def test_a_store_that_is_none_is_bad_input(tmp_path: Path, invoke: Any) -> None:
    (tmp_path / "letter.txt").write_text("no store at all" * 1000)
    result = invoke("serve", "--port", "0", "--store", "letter.txt")
    assert result.exit_code == 2
    assert "letter.txt cannot be used as a store: file is not a database" in result.stderr
    result = invoke("serve", "--port", "0", "--store", "a.store", "--store-size", "5")
    assert result.exit_code == 2
    assert "a store has room for" in result.stderr
