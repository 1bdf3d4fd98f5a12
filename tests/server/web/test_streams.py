import asyncio
from typing import Any

import httpx
import pytest

from support.brokers import PATIENCE, awaited, until
from support.web import served, stream
from tamis.client import connect
from tamis.healing import Ages
from tamis.server import Server
from tamis.wire import Slow


@awaited
async def test_events_come_as_they_are_published_with_their_ids() -> None:
    async with served(ages=Ages(max_age=60.0)) as (server, http), stream(http, condition="x > 1") as events:
        await http.post("/events", json={"x": 1})
        await http.post("/events", json={"x": 2, "text": "two\nlines"}, params={"id": "a b"})
        kind, id, data = await events.next()
        assert (kind, id, data["id"], data["event"]) == ("message", "a b", "a b", {"x": 2, "text": "two\nlines"})
        assert 0 <= data["age_bound"] < 60
        async with connect(server.url) as tcp:
            # An id that a line cannot hold is in the data all the same.
            await tcp.publish({"x": 3}, id="a\nb")
        assert (await events.next())[1:] == (
            "",
            {"id": "a\nb", "event": {"x": 3}, "age_bound": pytest.approx(0, abs=60)},
        )
        assert len(server.subscriptions) == 1
    assert server.subscriptions == {}


@awaited
async def test_who_leaves_is_forgotten() -> None:
    async with served() as (server, http):
        async with stream(http, condition="true"), stream(http, condition="x = 1"):
            assert len(server.subscriptions) == 2
        await until(lambda: not server.subscriptions)
        await until(lambda: server.runner.machine.stored() == 0)
        assert server.http is not None
        assert server.http.web.mailboxes == {}


@awaited
async def test_heartbeats_come_while_nothing_else_does(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("tamis.server.web.streams.HEARTBEAT", 0.02)
    async with served() as (_, http), stream(http, condition="true") as events:
        assert [await events.comment() for _ in range(3)] == [": alive"] * 3
        await http.post("/events", json={"x": 1})
        assert (await events.next())[2]["event"] == {"x": 1}


@awaited
async def test_a_subscription_that_is_wrong_is_a_problem() -> None:
    async with served() as (server, http):
        for query, status, code in [
            ({"condition": "x >> 1"}, 422, "bad-condition"),
            ({}, 400, "bad-frame"),
            ({"condition": "true", "queue": "0"}, 400, "bad-frame"),
            ({"condition": "true", "slow": "never"}, 400, "bad-frame"),
            ([("condition", "true"), ("condition", "false")], 400, "bad-frame"),
        ]:
            response = await http.get("/subscribe", params=query)  # type: ignore[arg-type]
            assert (response.status_code, response.json()["code"]) == (status, code)
        found = (await http.get("/subscribe", params={"condition": "x >> 1"})).json()
        assert (await http.head("/subscribe", params={"condition": "true"})).status_code == 405
        assert (found["position"], found["detail"]) == (3, "expected a value, found '>'")
        assert server.subscriptions == {}
        assert len(server.accounts) == 0


async def stalled(server: Server, path: str) -> tuple[asyncio.StreamReader, asyncio.StreamWriter]:
    """Open a stream by hand and read no more than its head."""
    assert server.http is not None
    reader, writer = await asyncio.open_connection(*server.http.address, limit=1 << 12)
    writer.write(f"GET {path} HTTP/1.1\r\nhost: localhost\r\n\r\n".encode())
    async with asyncio.timeout(PATIENCE):
        await reader.readuntil(b": subscribed\n\n")
    writer.transport.pause_reading()  # type: ignore[attr-defined]
    return reader, writer


async def flood(server: Server, http: httpx.AsyncClient, enough: Any) -> int:
    """Publish until something holds; each event comes at once to somebody who reads."""
    blob = "x" * 50_000
    sent = 0
    async with connect(server.url) as client:
        events = await client.subscribe("true")
        while not enough():
            await http.post("/events", json={"n": sent, "blob": blob})
            assert (await anext(events))["n"] == sent
            sent += 1
    return sent


@pytest.mark.parametrize("slow", ["disconnect", "drop-oldest", "drop-newest"])
@awaited
async def test_one_who_does_not_read_is_dealt_with_as_agreed_and_delays_nobody(slow: Slow) -> None:
    async with served() as (server, http):
        reader, writer = await stalled(server, f"/subscribe?condition=true&queue=5&slow={slow}")
        assert server.http is not None
        (mailbox,) = server.http.web.mailboxes
        sent = await flood(server, http, lambda: mailbox.ending is not None or mailbox.dropped >= 10)
        mailbox.check_invariants()
        writer.transport.resume_reading()  # type: ignore[attr-defined]
        text = b""
        async with asyncio.timeout(PATIENCE):
            if slow == "disconnect":
                while b"event: goodbye" not in text:
                    text += await reader.read(1 << 20)
                assert b'"code":"slow"' in text
                await until(lambda: len(server.subscriptions) == 0)
            else:
                while b"event: dropped" not in text:
                    text += await reader.read(1 << 20)
                await until(lambda: len(mailbox) == 0)
                await http.post("/events", json={"n": sent})
                while b'{"n":%d}' % sent not in text:
                    text += await reader.read(1 << 20)
                kept = [n for n in range(sent) if b'"event":{"n":%d,' % n in text]
                assert len(kept) == sent - mailbox.dropped
                assert (sent - 1 in kept) == (slow == "drop-oldest")
        writer.close()
