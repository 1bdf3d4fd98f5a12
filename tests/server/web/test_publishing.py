import asyncio
import json
from pathlib import Path
from typing import Any

import httpx
import pytest

from support.brokers import PATIENCE, awaited, overlay, until
from support.web import client, served, socket, stream
from tamis.client import connect
from tamis.server.web import asking
from tamis.wire import MAX_FRAME

CLOUD = {"specversion": "1.0", "id": "1", "source": "/shop", "type": "order", "data": {"price": 12}}


async def post(http: httpx.AsyncClient, body: bytes | str, kind: str = "application/json", **query: str) -> Any:
    response = await http.post("/events", content=body, headers={"content-type": kind}, params=query)
    expected = "application/json" if response.status_code < 400 else "application/problem+json"
    assert response.headers["content-type"] == expected
    return response.status_code, response.json()


@awaited
async def test_events_that_come_in_any_form_reach_a_subscriber_over_tcp() -> None:
    async with served() as (server, http), connect(server.url) as tcp:
        events = await tcp.subscribe("true")
        status, done = await post(http, '{"price": 1, "tags": ["a", {"b": null}]}')
        assert (status, done["count"]) == (200, 1)
        first = await anext(events)
        assert ([first.id], first.content) == (done["ids"], {"price": 1, "tags": ["a", {"b": None}]})
        status, done = await post(http, '[{"price": 2}, {"price": 3}]')
        assert [(await anext(events))["price"] for _ in done["ids"]] == [2, 3]
        status, done = await post(http, '{"price": 4}\n\n{"price": 5}\r\n', "application/x-ndjson")
        assert (status, [(await anext(events))["price"] for _ in done["ids"]]) == (200, [4, 5])
        await post(http, '{"price": 6}', id="mine")
        assert (await anext(events)).id == "mine"
        assert (await post(http, '[{"price": 6}, {"price": 6}]', id="batch"))[1]["ids"] == ["batch.1", "batch.2"]
        assert [(await anext(events)).id for _ in range(2)] == ["batch.1", "batch.2"]
        # JSON has no integers of more than 64 bits: what is none is a double.
        await post(http, f'{{"price": [{1 << 64}, {{"x": {-(1 << 63)}}}]}}')
        assert (await anext(events))["price"] == [float(1 << 64), {"x": -(1 << 63)}]
        status, done = await post(http, json.dumps(CLOUD), "application/cloudevents+json; charset=utf-8")
        cloud = await anext(events)
        assert (cloud.id, cloud.content) == ("/shop#1", CLOUD)
        batch = json.dumps([{**CLOUD, "id": "2"}, {**CLOUD, "id": "3"}])
        assert (await post(http, batch, "application/cloudevents-batch+json"))[1]["ids"] == ["/shop#2", "/shop#3"]
        assert [(await anext(events))["id"] for _ in range(2)] == ["2", "3"]
        headers = {"ce-specversion": "1.0", "ce-id": "4", "ce-source": "/shop", "ce-type": "order"}
        await http.post("/events", json={"price": 7}, headers=headers)
        assert (await anext(events))["data"] == {"price": 7}
        # What was said before is not said again.
        await post(http, json.dumps(CLOUD), "application/cloudevents+json")
        await post(http, '{"price": 8}')
        assert (await anext(events))["price"] == 8


@awaited
async def test_some_events_of_many_may_be_refused_and_it_is_said_which_and_why() -> None:
    async with served() as (server, http), connect(server.url) as tcp:
        events = await tcp.subscribe("true")
        deep = "[" * 40 + "]" * 40
        lines = f'{{"n": 1}}\n{{"n": \n[]\n{{"n": {deep}}}\n{{"n": {10**400}}}\n{{"n": 2}}'
        status, done = await post(http, lines, "application/x-ndjson")
        assert (status, done["code"], done["count"]) == (400, "bad-frame", 2)
        assert [id is None for id in done["ids"]] == [False, True, True, True, True, False]
        codes = [(each["line"], each["code"]) for each in done["refused"]]
        assert codes == [(2, "bad-frame"), (3, "bad-event"), (4, "bad-event"), (5, "bad-event")]
        assert [(await anext(events))["n"] for _ in range(2)] == [1, 2]
        status, problem = await post(http, "[1, 2]")
        assert (status, problem["code"], problem["count"], len(problem["refused"])) == (422, "bad-event", 0, 2)
        assert (await post(http, "[]"))[1] == {"count": 0, "ids": []}
        batch = json.dumps([CLOUD, {**CLOUD, "id": ""}])
        assert (await post(http, batch, "application/cloudevents-batch+json"))[1]["ids"] == ["/shop#1", None]


WRONG: list[tuple[bytes | str, str, int, str]] = [
    ("{", "application/json", 400, "bad-frame"),
    ("3", "application/json", 422, "bad-event"),
    ("[" * 2_000, "application/json", 400, "bad-frame"),
    (b'{"x": "\xff"}', "application/json", 400, "bad-frame"),
    ('{"x": 1}', "text/csv", 415, "media-type"),
    ('{"x": 1}', "", 415, "media-type"),
    (f'{{"x": "{"y" * MAX_FRAME}"}}', "application/json", 422, "bad-event"),
    ("{}", "application/cloudevents+json", 422, "bad-event"),
    ("{}", "application/cloudevents-batch+json", 400, "bad-frame"),
    ("x" * (MAX_FRAME + 1), "application/cloudevents+json", 413, "frame-too-large"),
]


@awaited
async def test_what_cannot_be_published_is_a_problem_and_nothing_is_published() -> None:
    async with served() as (server, http):
        for body, kind, status, code in WRONG:
            found, problem = await post(http, body, kind)
            assert (found, problem["status"], problem["code"]) == (status, status, code)
        assert (await post(http, "{}", id="x" * 300))[0] == 400
        assert (await post(http, "{}", colour="red"))[1]["detail"].endswith("unknown field `colour`")
        assert server.counts["published"] == 0


@pytest.mark.parametrize(
    ("head", "body", "status"),
    [
        ("content-length: 1001", b"", b"413"),
        ("transfer-encoding: chunked", b"400\r\n" + b"x" * 1024 + b"\r\n", b"413"),
        ("content-length: 10", b"{", b"408"),
        ("transfer-encoding: chunked", b"1\r\n{\r\n", b"408"),
    ],
)
@awaited
async def test_a_body_that_is_too_long_or_does_not_come_is_not_waited_for(
    head: str, body: bytes, status: bytes, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(asking, "PATIENCE", 0.05)
    monkeypatch.setattr("tamis.server.web.publishing.MAX_BODY", 1_000)
    async with served() as (server, _):
        assert server.http is not None
        reader, writer = await asyncio.open_connection(*server.http.address)
        text = f"POST /events HTTP/1.1\r\nhost: localhost\r\ncontent-type: application/x-ndjson\r\n{head}\r\n\r\n"
        writer.write(text.encode() + body)
        async with asyncio.timeout(PATIENCE):
            assert (await reader.readline()).split()[1] == status
        writer.close()


@awaited
async def test_durable_events_are_on_disk_when_they_are_answered(tmp_path: Path) -> None:
    async with served() as (_, http):
        assert (await post(http, "{}", durable="true"))[1]["code"] == "no-store"
    async with served(store=tmp_path / "store") as (server, http), connect(server.url) as tcp:
        events = await tcp.subscribe("x > 0", durable="mine")
        assert (await post(http, '{"x": 1}', durable="true"))[0] == 200
        status, done = await post(http, '[{"x": 2}, 3, {"x": 4}]', durable="true")
        assert (status, done["count"], [id is None for id in done["ids"]]) == (422, 2, [False, True, False])
        assert [(await anext(events))["x"] for _ in range(3)] == [1, 2, 4]


@awaited
async def test_who_publishes_waits_while_a_neighbour_is_behind() -> None:
    async with overlay(2, [(0, 1)], http_port=0) as (one, other), client(one) as http, connect(other.url) as reader:
        events = await reader.subscribe("true")
        await until(lambda: one.runner.machine.stored() == 1)
        (end,) = other.links
        end.connection.stop_reading("test")
        blob = "x" * 100_000
        while not one.links.are_behind:
            await post(http, json.dumps({"n": 0, "blob": blob}))
        task = asyncio.create_task(post(http, '{"n": 1}'))
        async with socket(one) as web:
            await web.say(type="publish", event={"n": 2})
            done, _ = await asyncio.wait([task], timeout=0.1)
            assert not done
            end.connection.read_again("test")
            assert (await task)[0] == 200
        got: set[int] = set()
        while got != {0, 1, 2}:
            got.add((await anext(events))["n"])


@awaited
async def test_a_trace_context_goes_with_the_event_over_hops() -> None:
    trace = "00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01"
    async with (
        overlay(2, [(0, 1)], http_port=0) as (one, other),
        client(one) as http,
        client(other) as far,
        connect(other.url) as tcp,
        stream(far, condition="true") as sse,
    ):
        events = await tcp.subscribe("true")
        await until(lambda: one.runner.machine.stored() >= 1)
        await http.post("/events", json={"x": 1}, headers={"traceparent": trace})
        assert (await anext(events)).trace == trace
        assert (await sse.next())[2]["traceparent"] == trace
        await http.post("/events", json={"x": 1}, headers={"traceparent": "00-nothing"})
        assert (await anext(events)).trace is None
        assert "traceparent" not in (await sse.next())[2]
