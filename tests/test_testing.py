"""A broker in memory does what a real one does."""

import asyncio
from collections.abc import Callable
from contextlib import AsyncExitStack
from typing import Any

import msgspec
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from support.brokers import awaited, until
from tamis import ExpressionError
from tamis.client import BrokerError, Client, Event, SlowConsumerError, connect
from tamis.server import Server, ServerSettings
from tamis.server.limits import Limits
from tamis.testing import MemoryBroker, VirtualClock

CLIENTS = 3
CONDITIONS = (
    "price > 10",
    "price between 5 and 15 and symbol = 'A'",
    "symbol is null",
    "true notify price moves 3",
    "price > 0 notify price moves 50% per symbol",
    "true",
    "price >",
)

steps = st.one_of(
    st.tuples(st.just("subscribe"), st.integers(0, CLIENTS - 1), st.sampled_from(CONDITIONS)),
    st.tuples(st.just("unsubscribe"), st.integers(0, 9), st.none()),
    st.tuples(
        st.just("publish"),
        st.integers(0, CLIENTS - 1),
        st.fixed_dictionaries({"price": st.integers(0, 20)}, optional={"symbol": st.sampled_from("AB")}),
    ),
    st.tuples(st.just("many"), st.integers(0, CLIENTS - 1), st.integers(1, 40)),
)


async def played(history: list[Any], connected: Callable[..., Client]) -> list[Any]:
    """Do what a history says; return what was refused, and what each subscription got, in order."""
    told: list[Any] = []
    got: list[list[dict[str, Any]]] = []
    async with AsyncExitStack() as stack:
        clients = [await stack.enter_async_context(connected(name=f"c{number}")) for number in range(CLIENTS)]
        ends = [await client.subscribe("end = true") for client in clients]
        held: list[Any] = []

        async def all_came() -> None:
            """What came before it has come when it has: of each client, since each has a connection of its own."""
            await clients[0].publish({"end": True})
            for end in ends:
                await anext(end)

        for kind, who, what in history:
            if kind == "subscribe":
                try:
                    subscription = await clients[who].subscribe(what)
                except ExpressionError as error:
                    told.append(str(error))
                    continue
                held.append(subscription)
                got.append([])
            elif kind == "unsubscribe" and who < len(held):
                await all_came()
                held[who].unsubscribe()
            elif kind == "publish":
                await clients[who].publish(what)
            elif kind == "many":
                await clients[who].publish_many({"price": number, "symbol": "AB"[number % 2]} for number in range(what))
        await all_came()
        for place, subscription in enumerate(held):
            subscription.unsubscribe()
            got[place] += [dict(event) async for event in subscription]
    return [told, got]


@settings(max_examples=40, deadline=None)
@given(st.lists(steps, max_size=25))
def test_it_behaves_as_a_real_broker_does(history: list[Any]) -> None:
    async def both() -> None:
        async with Server(ServerSettings(port=0)) as server:
            real = await played(history, lambda **named: connect(server.url, **named))
        async with MemoryBroker() as broker:
            assert await played(history, broker.connect) == real

    asyncio.run(both())


class Trade(msgspec.Struct):
    symbol: str
    price: float


@awaited
async def test_handlers_types_and_clauses_work_as_ever() -> None:
    async with MemoryBroker() as broker, broker.connect() as client:
        got: list[Trade] = []
        moved: list[Event] = []
        client.on("price > 10", type=Trade)(got.append)

        @client.on("true notify price moves 2")
        async def tell(event: Event) -> None:
            moved.append(event)

        for price in (11, 12, 13, 5):
            await client.publish(Trade("A", price))
        await broker.settle()
        assert [trade.price for trade in got] == [11, 12, 13]
        assert [event["price"] for event in moved] == [11, 13, 5]
        assert (await client.stats()).broker == "memory"


@awaited
async def test_settling_shows_that_nothing_came() -> None:
    async with MemoryBroker() as broker, broker.connect() as one, broker.connect() as other:
        events = await one.subscribe("price > 10")
        big = {"price": 11, "text": "x" * 200_000}
        await other.publish_many([{"price": 1}, big, big])
        await broker.settle()
        assert len(events._feed.events) == 2
        assert [len((await anext(events))["text"]) for _ in range(2)] == [200_000] * 2


@awaited
async def test_time_passes_only_when_told() -> None:
    limited = ServerSettings(name="b", limits=Limits(rate=2.0))
    async with MemoryBroker(limited) as broker, broker.connect() as client:
        refused = 0
        while not refused:
            try:
                await client.publish({"x": 1})
            except BrokerError as error:
                assert error.code == "rate"
                refused = 1
        with pytest.raises(BrokerError, match="try again"):
            await client.publish({"x": 1})
        await broker.advance(60.0)
        await client.publish({"x": 2})
        assert broker.clock.now() == 60.0


def test_timers_fire_in_order_and_at_their_times() -> None:
    clock = VirtualClock()
    fired: list[tuple[str, float]] = []

    def fire(name: str, again: float | None = None) -> None:
        fired.append((name, clock.now()))
        if again is not None:
            clock.later(again, fire, f"{name}'")

    clock.later(2.0, fire, "b", 0.5)
    clock.later(1.0, fire, "a")
    clock.later(1.5, fire, "gone").cancel()
    clock.later(9.0, fire, "later")
    clock.advance(0.5)
    assert fired == []
    clock.advance(2.0)
    assert fired == [("a", 1.0), ("b", 2.0), ("b'", 2.5)]
    assert clock.now() == 2.5
    with pytest.raises(ValueError, match="not -1"):
        clock.advance(-1)


@awaited
async def test_a_client_comes_back_after_a_cut() -> None:
    async with MemoryBroker() as broker, broker.connect() as client:
        events = await client.subscribe("x > 0")
        broker.disconnect()
        await client.publish({"x": 1})
        await until(lambda: client.connections == 2)
        await client.publish({"x": 2})
        await broker.settle()
        assert {event["x"] for event in events._feed.events} >= {2}


@awaited
async def test_who_does_not_take_events_is_slow_as_ever() -> None:
    async with MemoryBroker() as broker, broker.connect(queue=3) as client, broker.connect() as other:
        events = await client.subscribe("true")
        await other.publish_many([{"x": number} for number in range(5)])
        await broker.settle()
        assert [(await anext(events))["x"] for _ in range(3)] == [0, 1, 2]
        with pytest.raises(SlowConsumerError):
            await anext(events)


@awaited
async def test_a_broker_that_stops_says_so() -> None:
    async with AsyncExitStack() as stack:
        broker = await stack.enter_async_context(MemoryBroker())
        client = await stack.enter_async_context(broker.connect())
        await broker.server.stop()
        await until(lambda: not client.is_connected)
