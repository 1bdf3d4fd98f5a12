import asyncio
from typing import Any

import pytest

from support.brokers import Raw, awaited, overlay, until
from tamis.client import connect
from tamis.healing import Ages, Healing, Leases
from tamis.server import Server, ServerSettings
from tamis.server.limits import Limits
from tamis.server.link import BEHIND
from tamis.wire import (
    MAX_FRAME,
    MAX_HELLO,
    VERSION,
    Accepted,
    ClientHello,
    Delivered,
    Dropped,
    Goodbye,
    Publish,
    Refused,
    Slow,
    Subscribe,
    Unsubscribe,
    Welcome,
    frame,
)

HELLO = frame(ClientHello(VERSION, "raw"))


@pytest.mark.parametrize(
    ("wrong", "why"),
    [
        ({"host": "0.0.0.0"}, "--insecure"),  # noqa: S104 - it is refused
        ({"host": "example.invalid"}, "--insecure"),
        ({"port": 70_000}, "65535"),
        ({"name": ""}, "characters"),
        ({"join": ("a:b",)}, "no address"),
        ({"options": {"max_degree": 3}}, "max_degree"),
        ({"healing": Healing(leases=Leases())}, "leases"),
        ({"healing": Healing(), "ages": Ages()}, "one of"),
    ],
)
def test_settings_that_are_wrong_are_refused_before_anything_listens(wrong: dict[str, Any], why: str) -> None:
    with pytest.raises(ValueError, match=why):
        ServerSettings(**wrong)


def test_a_strategy_or_option_that_is_none_is_refused() -> None:
    with pytest.raises(ValueError, match="no strategy 'ddrb'"):
        Server(ServerSettings(strategy="ddrb"))
    with pytest.raises(ValueError, match="its options are"):
        Server(ServerSettings(options={"colour": 1}))


@awaited
async def test_requests_are_done_in_order_and_acknowledged_together() -> None:
    async with overlay(1, []) as (server,):
        requests = [Subscribe(1, 9, "x > 1"), Publish(2, "a", {"x": 2}), Publish(3, "b", {"x": 1}), Unsubscribe(4, 9)]
        raw = await Raw.open(server, HELLO + b"".join(map(frame, [*requests, Publish(5, "c", {"x": 2})])))
        welcome, *rest = await raw.some(3)
        assert isinstance(welcome, Welcome)
        assert (welcome.version, welcome.broker, welcome.max_age) == (VERSION, "b0", None)
        assert rest == [Delivered(9, "a", {"x": 2}, None), Accepted(5)]
        raw.writer.close()


@awaited
async def test_a_request_that_is_refused_leaves_the_others_alone() -> None:
    async with overlay(1, []) as (server,):
        deep: Any = 1
        for _ in range(40):
            deep = [deep]
        requests = [
            Subscribe(1, 0, "x >> 1"),
            Subscribe(2, 0, "x > 1"),
            Subscribe(3, 0, "x > 2"),
            Unsubscribe(4, 1),
            Publish(5, "a", {"x": deep}),
            Publish(6, "b", {"x": 2}),
            Subscribe(7, 5, f"x = '{'y' * 65_600}'"),
        ]
        raw = await Raw.open(server, HELLO + b"".join(map(frame, requests)))
        _, *rest = await raw.some(8)
        refused = {each.number: (each.code, each.position) for each in rest if isinstance(each, Refused)}
        assert refused == {
            1: ("bad-condition", 3),
            3: ("duplicate-subscription", None),
            4: ("unknown-subscription", None),
            5: ("bad-event", None),
            7: ("condition-too-large", None),
        }
        assert Delivered(0, "b", {"x": 2}, None) in rest
        assert rest[-1] == Accepted(7)
        raw.writer.close()


@awaited
async def test_a_client_has_only_so_many_subscriptions() -> None:
    async with overlay(1, [], limits=Limits(subscriptions=2)) as (server,):
        raw = await Raw.open(server, HELLO + b"".join(frame(Subscribe(n, n, f"x > {n}")) for n in (1, 2, 3)))
        _, refused, _ = await raw.some(3)
        assert (refused.number, refused.code) == (3, "too-many")
        raw.writer.close()


@pytest.mark.parametrize(
    ("data", "code"),
    [
        (frame(ClientHello(VERSION + 1, "new")), "version"),
        (b"GET / HTTP/1.1\r\n\r\n", "frame-too-large"),
        ((MAX_HELLO + 1).to_bytes(4, "big"), "frame-too-large"),
        (b"\x00\x00\x00\x03abc", "bad-frame"),
        (frame(Publish(1, "a", {})), "bad-frame"),
        (HELLO + (MAX_FRAME + 1).to_bytes(4, "big"), "frame-too-large"),
        (HELLO + b"\x00\x00\x00\x01\xc1", "bad-frame"),
        (HELLO + HELLO, "bad-frame"),
        (HELLO + frame(Publish(2, "a", {})) + frame(Publish(2, "b", {})), "bad-frame"),
    ],
)
@awaited
async def test_who_breaks_the_protocol_is_told_why_and_left_and_nobody_else_notices(data: bytes, code: str) -> None:
    async with overlay(1, []) as (server,), connect(server.url) as client:
        events = await client.subscribe("x > 0")
        raw = await Raw.open(server, data)
        last = (await raw.rest())[-1]
        assert isinstance(last, Goodbye)
        assert last.code == code
        await until(lambda: len(server.sessions) == 1)
        await client.publish({"x": 1})
        assert (await anext(events))["x"] == 1
        assert server.strangers == {}


@awaited
async def test_the_reason_reaches_one_who_is_still_sending() -> None:
    async with overlay(1, []) as (server,):
        raw = await Raw.open(server, HELLO + frame(Publish(2, "a", {})) + HELLO + bytes(8 << 20))
        await raw.writer.drain()
        assert (await raw.rest())[-1].code == "bad-frame"
        await until(lambda: not server.sessions)


@awaited
async def test_subscriptions_end_with_their_connection() -> None:
    async with overlay(2, [(0, 1)]) as (one, other):
        raw = await Raw.open(one, HELLO + frame(Subscribe(1, 0, "x > 1")))
        await raw.some(2)
        await until(lambda: other.runner.machine.stored() == 1)
        raw.writer.transport.abort()
        await until(lambda: other.runner.machine.stored() == 0)
        assert (one.subscriptions, one.sessions, one.runner.machine.stored()) == ({}, {}, 0)


@pytest.mark.parametrize("slow", ["disconnect", "drop-oldest", "drop-newest"])
@awaited
async def test_one_who_does_not_read_is_dealt_with_as_agreed_and_delays_nobody(slow: Slow) -> None:
    async with overlay(1, []) as (server,), connect(server.url) as client:
        events = await client.subscribe("true")
        raw = await Raw.open(server, frame(ClientHello(VERSION, "lazy", 5, slow)) + frame(Subscribe(1, 0, "true")))
        await raw.some(2)
        raw.writer.transport.pause_reading()  # type: ignore[attr-defined]
        (lazy,) = [session for session in server.sessions if session.guest.name == "lazy"]
        blob = "x" * 50_000
        sent = 0
        while sent < 20 or (not lazy.connection.closing and lazy.connection.outbox.dropped < 10):
            await client.publish({"n": sent, "blob": blob})
            assert (await anext(events))["n"] == sent
            sent += 1
            assert lazy.connection.waiting < 10 * len(blob) + (1 << 19)
        if slow == "disconnect":
            assert lazy not in server.sessions
            raw.writer.transport.resume_reading()  # type: ignore[attr-defined]
            last = (await raw.rest())[-1]
            assert isinstance(last, Goodbye)
            assert last.code == "slow"
            return
        dropped = lazy.connection.outbox.dropped
        raw.writer.transport.resume_reading()  # type: ignore[attr-defined]
        got: list[Any] = []
        while Dropped(dropped) not in got:
            got += await raw.some(1)
        await until(lambda: not lazy.connection.outbox.paused)
        await client.publish({"n": sent})
        while not any(isinstance(each, Delivered) and each.content["n"] == sent for each in got):
            got += await raw.some(1)
        numbers = [each.content["n"] for each in got if isinstance(each, Delivered)]
        assert Dropped(dropped) in got
        kept = [number for number in numbers if number < sent]
        assert kept == sorted(set(kept))
        assert len(kept) == sent - dropped
        assert (sent - 1 in kept) == (slow == "drop-oldest")
        raw.writer.close()


@awaited
async def test_clients_are_not_read_while_a_neighbour_is_behind() -> None:
    async with overlay(2, [(0, 1)]) as (one, other), connect(one.url) as client, connect(other.url) as reader:
        events = await reader.subscribe("true")
        await until(lambda: one.runner.machine.stored() == 1)
        (end,) = other.links
        end.connection.stop_reading("test")
        task = asyncio.create_task(client.publish_many({"n": n, "blob": "x" * 100_000} for n in range(200)))
        await until(lambda: one.links.are_behind)
        (link,) = one.links
        assert link.connection.waiting < 2 * BEHIND
        assert not task.done()
        end.connection.read_again("test")
        await task
        assert [(await anext(events))["n"] for _ in range(200)] == list(range(200))
        assert not one.links.are_behind


@pytest.mark.parametrize("strategy", ["ddbr", "covering"])
@awaited
async def test_ages_are_bounded_over_links_and_events_are_timely(strategy: str) -> None:
    async with (
        overlay(2, [(0, 1)], strategy=strategy, ages=Ages(max_age=60.0)) as (one, other),
        connect(one.url) as a,
        connect(other.url) as b,
    ):
        assert (one.healing.stabilise is not None) == (strategy == "covering")
        events = await a.subscribe("true")
        await until(lambda: other.runner.machine.stored() == 1)
        # Both ends need a stamp of the other before they can bound anything; until then events count as late.
        event = None
        while event is None or not event.timely:
            await b.publish({"x": 1})
            event = await anext(events)
            assert event.timely is (event.age_bound is not None and event.age_bound <= 60)
        assert event.age_bound is not None
        assert event.age_bound > 0


@awaited
async def test_a_broker_that_stops_says_so_and_leaves_nothing() -> None:
    server = Server(ServerSettings(port=0))
    await server.start()
    assert server.name.endswith(f":{server.address[1]}")
    address = server.address
    raw = await Raw.open(server, HELLO)
    await raw.some(1)
    await server.stop()
    assert (await raw.rest())[-1].code == "stopping"
    with pytest.raises(ConnectionError):
        await asyncio.open_connection(*address)


@awaited
async def test_who_is_silent_is_left(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("tamis.server.server.HEARTBEAT", 0.02)
    monkeypatch.setattr("tamis.server.server.SILENCE", 0.5)
    async with overlay(1, []) as (server,):
        raw = await Raw.open(server, HELLO)
        found = await raw.rest()
        assert found[-1].code == "silent"
        assert len(found) > 2  # the broker said that it is alive meanwhile


@awaited
async def test_who_does_not_say_who_it_is_is_left_however_much_it_sends(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("tamis.server.greeting.GREETING", 0.1)
    async with overlay(1, []) as (server,):
        raw = await Raw.open(server, (1 << 15).to_bytes(4, "big"))
        while server.strangers or not server._connections:
            raw.writer.write(b"x")
            await asyncio.sleep(0.01)
        assert (await raw.rest())[-1].code == "silent"


@awaited
async def test_nobody_waits_for_one_who_asks_for_much_at_once(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("tamis.server.connection.TURN", 0.0)
    monkeypatch.setattr("tamis.server.server.TURN", 0.0001)
    async with overlay(1, []) as (server,), connect(server.url) as client:
        events = await client.subscribe("x > 0")
        raw = await Raw.open(server, HELLO + b"".join(frame(Subscribe(n, n, f"y > {n}")) for n in range(1, 1_001)))
        await until(lambda: server.subscriptions)
        for x in range(1, 20):
            await client.publish({"x": x})
            assert (await anext(events))["x"] == x
        while (await raw.some(1))[-1] != Accepted(1_000):
            pass
        assert server.runner.machine.stored() == 1_001
        raw.writer.close()
        await until(lambda: server.runner.machine.stored() == 1)
        server.runner.machine.check_invariants()
