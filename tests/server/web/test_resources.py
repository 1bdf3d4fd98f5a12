import asyncio
from typing import Any

import httpx
import msgspec
import pytest

from support.brokers import awaited, until
from support.web import served, stream
from tamis.server.web import kept as kept_module


async def make(http: httpx.AsyncClient, condition: str, **more: Any) -> str:
    response = await http.post("/subscriptions", json={"condition": condition, **more})
    assert response.status_code == 201, response.text
    made = response.json()
    assert response.headers["location"] == f"/subscriptions/{made['id']}"
    return str(made["id"])


async def fetch(http: httpx.AsyncClient, id: str, **query: Any) -> Any:
    response = await http.get(f"/subscriptions/{id}/events", params=query)
    return response.json() if response.status_code == 200 else (response.status_code, response.json()["code"])


@awaited
async def test_subscriptions_are_made_listed_shown_and_ended() -> None:
    async with served() as (server, http):
        id = await make(http, "x > 1", name="mine", queue=5)
        shown = (await http.get(f"/subscriptions/{id}")).json()
        rest = {"queue": 5, "slow": "drop-oldest", "expires": 300.0, "waiting": 0, "dropped": 0}
        assert shown == {"id": id, "condition": "x > 1", "name": "mine", **rest}
        assert (await http.get("/subscriptions")).json() == {"subscriptions": [shown]}
        assert (await http.delete(f"/subscriptions/{id}")).status_code == 204
        gone = await http.get(f"/subscriptions/{id}")
        assert (gone.status_code, gone.json()["code"]) == (404, "unknown-subscription")
        assert (await http.get("/subscriptions")).json() == {"subscriptions": []}
        assert (server.subscriptions, server.runner.machine.stored()) == ({}, 0)


@awaited
async def test_events_wait_until_they_are_fetched_and_are_there_until_the_next_ones_are() -> None:
    async with served() as (_, http):
        id = await make(http, "x > 1")
        await http.post("/events", json=[{"x": x} for x in range(6)])
        first = await fetch(http, id, most=2)
        assert [(each["number"], each["event"]) for each in first["events"]] == [(1, {"x": 2}), (2, {"x": 3})]
        assert (first["next"], first["dropped"]) == (2, 0)
        # Who is not sure that the answer came asks again.
        assert (await fetch(http, id, most=2)) == first
        second = await fetch(http, id, after=first["next"])
        assert [each["event"]["x"] for each in second["events"]] == [4, 5]
        assert (await http.get(f"/subscriptions/{id}")).json()["waiting"] == 0
        assert (await fetch(http, id, after=second["next"], wait=0))["events"] == []
        waits = asyncio.create_task(fetch(http, id, after=second["next"]))
        await http.post("/events", json={"x": 9})
        assert [each["event"]["x"] for each in (await waits)["events"]] == [9]


@awaited
async def test_a_stream_goes_on_where_the_last_one_ended() -> None:
    async with served() as (server, http):
        id = await make(http, "true")
        path = f"/subscriptions/{id}/events"
        await http.post("/events", json={"n": 0}, params={"id": "a"})
        async with stream(http, path) as events:
            assert (await events.next())[1:] == ("a", {"id": "a", "event": {"n": 0}})
            await http.post("/events", json={"n": 1}, params={"id": "b"})
            assert (await events.next())[1] == "b"
        await http.post("/events", json={"n": 2}, params={"id": "c"})
        async with stream(http, path, last="a") as events:
            assert [(await events.next())[1] for _ in range(2)] == ["b", "c"]
            deleted = await http.delete(f"/subscriptions/{id}")
            assert deleted.status_code == 204
            kind, _, data = await events.next()
            assert (kind, data["code"]) == ("goodbye", "unknown-subscription")
        assert server.subscriptions == {}


@awaited
async def test_what_waits_is_bounded_and_what_goes_was_agreed() -> None:
    async with served() as (server, http):
        oldest, newest, end = [
            await make(http, "true", queue=2, slow=slow) for slow in ("drop-oldest", "drop-newest", "disconnect")
        ]
        await http.post("/events", json=[{"n": n} for n in range(5)])
        for id, left in ((oldest, [3, 4]), (newest, [0, 1])):
            found = await fetch(http, id)
            assert ([each["event"]["n"] for each in found["events"]], found["dropped"]) == (left, 3)
        assert await fetch(http, end) == (404, "slow")
        assert await fetch(http, end) == (404, "slow")
        assert len(server.subscriptions) == 2


@awaited
async def test_a_subscription_that_nobody_fetches_from_ends() -> None:
    async with served() as (server, http):
        assert server.http is not None

        async def soon(seconds: float) -> str:
            id = await make(http, "true", expires=10)
            (kept,) = server.http.web.kept  # type: ignore[union-attr]
            kept.wanted = msgspec.structs.replace(kept.wanted, expires=seconds)
            await fetch(http, id, wait=0)
            return id

        id = await soon(0.05)
        await until(lambda: not server.subscriptions)
        assert await fetch(http, id) == (404, "idle")
        kept = await soon(0.2)
        # As long as somebody fetches, it stays.
        assert (await fetch(http, kept, wait=0.5))["events"] == []
        assert len(server.subscriptions) == 1
        await until(lambda: not server.subscriptions)


@awaited
async def test_what_is_wrong_is_a_problem(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(kept_module, "MAX_KEPT", 1)
    async with served() as (server, http):
        for body, status, code in [
            ({"condition": "x >> 1"}, 422, "bad-condition"),
            ({"condition": f"x = '{'y' * 65_600}'"}, 422, "condition-too-large"),
            ({"condition": "true", "queue": 0}, 400, "bad-frame"),
            ({"condition": "true", "expires": -1}, 400, "bad-frame"),
            ({"condition": "true", "colour": "red"}, 400, "bad-frame"),
            ({}, 400, "bad-frame"),
        ]:
            response = await http.post("/subscriptions", json=body)
            assert (response.status_code, response.json()["code"]) == (status, code)
        assert server.http is not None
        assert (server.subscriptions, server.http.web.kept._guests) == ({}, {})
        wrong = await http.post("/subscriptions", content="{}")
        assert (wrong.status_code, wrong.json()["code"]) == (415, "media-type")
        id = await make(http, "true")
        full = await http.post("/subscriptions", json={"condition": "true"})
        assert (full.status_code, full.json()["code"]) == (429, "too-many")
        assert await fetch(http, id, wait=61) == (400, "bad-frame")
        assert await fetch(http, "other") == (404, "unknown-subscription")
