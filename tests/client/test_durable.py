import asyncio
from pathlib import Path
from typing import Any

import msgspec
import pytest

from support.brokers import awaited, until
from support.kept import stored, taken
from tamis.client import BrokerError, ConnectionLostError, Event, EventTypeError, blocking, connect
from tamis.client.durable import DurableFeed


class Reading(msgspec.Struct):
    x: int


@awaited
async def test_a_lost_connection_costs_nothing_and_repeats_nothing(tmp_path: Path) -> None:
    async with stored(tmp_path, "a") as server, connect(server.url) as publisher, connect(server.url) as client:
        events = await client.subscribe("x >= 0", durable="me", queue=50)
        load = asyncio.create_task(publisher.publish_many([{"x": x} for x in range(2_000)], durable=True))
        found: list[int] = []
        while len(found) < 2_000:
            if len(found) % 300 == 150 and client.is_connected:
                assert client._channel is not None
                client._channel.abort()
            found += await taken(events, 1)
        await load
        assert found == list(range(2_000))
        assert client.connections > 3
        events.ack()
        await until(lambda: server.durable is not None and server.durable.store.counts()["wanted"] == 0)


@awaited
async def test_a_broker_that_starts_anew_goes_on(tmp_path: Path) -> None:
    server = stored(tmp_path, "a")
    await server.start()
    port = server.address[1]
    async with connect(server.url) as client:
        events = await client.subscribe("x >= 0", durable="me")
        await client.publish({"x": 1}, durable=True)
        assert await taken(events, 1) == [1]
        await server.stop()
        publishing = asyncio.create_task(client.publish({"x": 2}, durable=True))
        async with stored(tmp_path, "a", port=port):
            await publishing
            # The first has not been acknowledged and comes again, but whoever had it is not given it twice.
            assert await taken(events, 1) == [2]


@awaited
async def test_events_of_a_type_and_handlers(tmp_path: Path) -> None:
    async with stored(tmp_path, "a") as server, connect(server.url) as client:
        readings = await client.subscribe("x >= 0 or y > 0", durable="typed", type=Reading)
        seen: list[int] = []
        failures: list[dict[str, Any]] = []
        asyncio.get_running_loop().set_exception_handler(lambda _, context: failures.append(context))

        @client.on("x >= 0", durable="handled")
        async def handle(event: Event) -> None:
            if event["x"] == 2:
                raise ZeroDivisionError
            seen.append(event["x"])

        await client.publish_many([{"x": 1}, {"y": 1}, {"x": 2}, {"x": 3}], durable=True)
        assert await anext(readings) == Reading(1)
        with pytest.raises(EventTypeError):
            await anext(readings)
        assert await anext(readings) == Reading(2)
        await until(lambda: seen == [1, 3])
        assert [type(failure["exception"]) for failure in failures] == [ZeroDivisionError]
        # A handler is done with an event even if it has raised something.
        await until(lambda: server.durable is not None and server.durable.store.counts()["wanted"] == 2)


@awaited
async def test_names_that_are_none_are_refused_at_once(tmp_path: Path) -> None:
    async with stored(tmp_path, "a") as server, connect(server.url) as client:
        for name in ("", "x" * 300):
            with pytest.raises(ValueError, match="length"):
                client.subscribe("x > 0", durable=name)
        assert client._feeds == {}


@awaited
async def test_whoever_ends_a_subscription_without_a_connection_is_told(tmp_path: Path) -> None:
    server = stored(tmp_path, "a")
    await server.start()
    async with connect(server.url) as client:
        one, two = await client.subscribe("x >= 0", durable="one"), await client.subscribe("x >= 0", durable="two")
        assert (one.name, two.name, one.is_over) == ("one", "two", False)
        await server.stop()
        await until(lambda: not client.is_connected)
        with pytest.raises(ConnectionLostError, match="stays"):
            await two.unsubscribe()
        one.leave()
    assert one.is_over
    assert two.is_over


@awaited
async def test_the_disk_of_the_broker_is_full(tmp_path: Path) -> None:
    async with stored(tmp_path, "a") as server, connect(server.url) as client:
        assert server.durable is not None
        server.durable.store._writing.execute("PRAGMA max_page_count=1")
        with pytest.raises(BrokerError) as caught:
            await client.publish_many([{"x": "y" * 5_000}] * 100, durable=True)
        assert caught.value.code == "store-full"


@awaited
async def test_without_asyncio(tmp_path: Path) -> None:
    def use(url: str) -> None:
        with blocking.connect(url) as client:
            with client.subscribe("x > 0", durable="me") as events:
                client.publish({"x": 1}, durable=True)
                client.publish_many([{"x": 2}, {"x": 3}], durable=True)
                assert [events.take(30)["x"] for _ in range(2)] == [1, 2]
            events = client.subscribe("x > 0", durable="me")
            assert (events.take(30)["x"], events.given_up, events.unseen) == (3, 0, 0)
            events.leave()
            events = client.subscribe("x > 0", durable="me")
            client.publish({"x": 4}, durable=True)
            assert (next(events)["x"], next(events)["x"]) == (3, 4)
            events.ack()
            events.unsubscribe()

    async with stored(tmp_path, "a") as server:
        await asyncio.to_thread(use, server.url)
        assert server.durable is not None
        assert len(server.durable) == 0


@awaited
async def test_only_what_came_on_this_connection_is_acknowledged() -> None:
    acknowledged: list[int] = []
    feed = DurableFeed(0, "true", 10, "me", lambda _, position: acknowledged.append(position))
    for position in (1, 2, 3):
        feed.put_kept(position, Event(f"e{position}", {}))
    assert ((await feed.take()).id, acknowledged) == ("e1", [])
    assert ((await feed.take()).id, acknowledged) == ("e2", [1])
    feed.begin_anew()
    # After that the broker has another store, and positions begin anew.
    for position, id in enumerate(["e1", "e2", "e3", "e4"], 1):
        feed.put_kept(position, Event(id, {}))
    feed.acknowledge()
    assert acknowledged == [1]
    assert ((await feed.take()).id, acknowledged) == ("e3", [1, 1, 2])
    assert ((await feed.take()).id, acknowledged) == ("e4", [1, 1, 2, 3])


@awaited
async def test_many_are_taken_together_and_acknowledged_when_told() -> None:
    acknowledged: list[int] = []
    feed = DurableFeed(0, "true", 10, "me", lambda _, position: acknowledged.append(position))
    for position, id in enumerate(["e1", "e1", "e2", "e3", "e3"], 1):
        feed.put_kept(position, Event(id, {}))
    assert [event.id for event in await feed.take_many(2)] == ["e1", "e2"]
    assert [event.id for event in await feed.take_many(2)] == ["e3"]
    assert acknowledged == []
    feed.acknowledge()
    assert acknowledged == [5]
