import asyncio
import json
from typing import Any

import pytest
from websockets.exceptions import ConnectionClosed, InvalidStatus

from support.brokers import awaited, until
from support.web import Socket, served, socket
from tamis.client import connect
from tamis.wire import MAX_FRAME, Slow

TRACE = "00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01"


@awaited
async def test_a_client_publishes_and_subscribes_and_gets_answers_in_order() -> None:
    async with served() as (server, _), socket(server) as web, connect(server.url) as tcp:
        assert await web.ask(type="subscribe", subscription="dear", condition="price > 10") == {"type": "accepted"}
        await web.ask(type="subscribe", subscription="all", condition="true")
        events = await tcp.subscribe("true")
        await web.say(type="publish", event={"price": 12}, id="mine", traceparent=TRACE)
        got = [await web.next(), await web.next()]
        same = {"type": "event", "id": "mine", "event": {"price": 12}, "traceparent": TRACE}
        assert sorted(got, key=lambda each: each["subscription"]) == [
            {**same, "subscription": "all"},
            {**same, "subscription": "dear"},
        ]
        assert (await anext(events)).trace == TRACE
        assert await web.ask(type="unsubscribe", subscription="all") == {"type": "accepted"}
        await web.say(type="publish", event={"price": 1})
        answer = await web.ask(type="publish", event={"price": 2})
        assert answer["type"] == "accepted"
        assert [await anext(events), await anext(events)][1].id == answer["id"]
        assert len(server.subscriptions) == 2
    assert server.subscriptions == {}


@awaited
async def test_a_request_that_is_refused_leaves_the_others_alone() -> None:
    async with served() as (server, _), socket(server) as web:
        refused = await web.ask(type="subscribe", subscription="s", condition="x >> 1")
        assert refused == {
            "type": "refused",
            "code": "bad-condition",
            "message": "expected a value, found '>'",
            "position": 3,
        }
        await web.ask(type="subscribe", subscription="s", condition="x > 1")
        twice = await web.ask(type="subscribe", subscription="s", condition="x > 2")
        assert twice["code"] == "duplicate-subscription"
        assert (await web.ask(type="unsubscribe", subscription="t"))["code"] == "unknown-subscription"
        deep: Any = 1
        for _ in range(40):
            deep = [deep]
        # Who gave no number is told of a refusal all the same.
        await web.say(type="publish", event={"x": deep})
        assert (await web.next())["code"] == "bad-event"
        await web.say(type="publish", event={"x": 2}, id="a")
        assert (await web.next())["id"] == "a"


WRONG: list[str | bytes] = [
    "{",
    "[]",
    '{"type": "sing"}',
    '{"type": "subscribe", "condition": "true"}',
    '{"type": "publish", "event": 3}',
    '{"type": "publish", "event": {}, "colour": 1}',
    b"\xff\xfe",
    "[" * 2_000,
]


@awaited
async def test_who_breaks_the_protocol_is_told_why_and_left() -> None:
    async with served() as (server, _):
        for wrong in WRONG:
            async with socket(server) as web:
                await web.ask(type="subscribe", subscription="s", condition="true")
                await web.raw.send(wrong)
                goodbye = await web.next()
                assert (goodbye["type"], goodbye["code"]) == ("goodbye", "bad-frame")
                with pytest.raises(ConnectionClosed) as closed:
                    await web.next()
                assert closed.value.rcvd is not None
                assert (closed.value.rcvd.code, closed.value.rcvd.reason) == (1008, "bad-frame")
                await until(lambda: not server.subscriptions)


@awaited
async def test_messages_that_are_too_long_and_queries_that_are_wrong_are_refused() -> None:
    async with served() as (server, _):
        async with socket(server) as web:
            await web.raw.send("x" * (MAX_FRAME + 1))
            with pytest.raises(ConnectionClosed):
                await web.next()
        assert server.http is not None
        for query in ("?queue=0", "?slow=never", "?colour=red"):
            with pytest.raises(InvalidStatus) as refused:
                async with socket(server, query):
                    pass
            assert refused.value.response.status_code == 400
            assert json.loads(refused.value.response.body or b"")["code"] == "bad-frame"
        await until(lambda: server.http is not None and not server.http.web.mailboxes)


async def pause(web: Socket) -> None:
    """Let a client read nothing more."""
    web.raw.transport.pause_reading()


@pytest.mark.parametrize("slow", ["disconnect", "drop-oldest", "drop-newest"])
@awaited
async def test_one_who_does_not_read_is_dealt_with_as_agreed_and_delays_nobody(slow: Slow) -> None:
    async with (
        served() as (server, http),
        socket(server, f"?queue=5&slow={slow}", max_queue=None, close_timeout=0) as web,
        connect(server.url) as tcp,
    ):
        await web.ask(type="subscribe", subscription="s", condition="true")
        events = await tcp.subscribe("true")
        assert server.http is not None
        (mailbox,) = server.http.web.mailboxes
        await pause(web)
        sent = 0
        while mailbox.ending is None and mailbox.dropped < 10:
            await http.post("/events", json={"n": sent, "blob": "x" * 50_000})
            assert (await anext(events))["n"] == sent
            sent += 1
        mailbox.check_invariants()
        web.raw.transport.resume_reading()
        got: list[Any] = []
        while not got or got[-1]["type"] == "event":
            got.append(await web.next())
        if slow == "disconnect":
            assert (got[-1]["type"], got[-1]["code"]) == ("goodbye", "slow")
            return
        assert got[-1]["type"] == "dropped"
        await until(lambda: len(mailbox) == 0)
        await http.post("/events", json={"n": sent})
        while got[-1].get("event", {}).get("n") != sent:
            got.append(await web.next())
        kept = [each["event"]["n"] for each in got[:-1] if each["type"] == "event"]
        assert kept == sorted(set(kept))
        assert len(kept) == sent - mailbox.dropped
        assert (sent - 1 in kept) == (slow == "drop-oldest")


@awaited
async def test_who_vanishes_is_forgotten() -> None:
    async with served() as (server, _):
        async with socket(server, close_timeout=0) as web:
            await web.ask(type="subscribe", subscription="s", condition="true")
            web.raw.transport.abort()
        await until(lambda: not server.subscriptions)
        assert server.http is not None
        await until(lambda: server.http is not None and server.http.connections == 0)
        await asyncio.sleep(0)
        assert server.http.web.mailboxes == {}
