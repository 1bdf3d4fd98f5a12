"""Whatever protocol somebody comes by, rights, limits and answers are the same."""

import asyncio
import json
from pathlib import Path
from typing import Any

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from websockets.exceptions import InvalidStatus

from support.brokers import awaited, until
from support.tokens import TokenFile, soon
from support.web import client, served, socket, stream
from tamis.client import connect
from tamis.language import parse
from tamis.server.limits import Limits


@awaited
async def test_tokens_are_asked_for_and_content_is_the_boundary(tmp_path: Path) -> None:
    file = TokenFile(tmp_path)
    a, b = (file.add(each, publish=f"tenant = '{each}'", subscribe=f"tenant = '{each}'") for each in "ab")
    admin = file.add("root", administer=True)
    old = file.add("old", subscribe="true", expires=soon(-1))
    async with (
        served(tokens=file.path) as (server, nobody),
        client(server, a) as at_a,
        client(server, b) as at_b,
        client(server, admin) as at_root,
        client(server, old) as late,
    ):
        for path in ("/subscriptions", "/subscribe?condition=true", "/metrics", "/why?event={}&subscription=s"):
            response = await nobody.get(path)
            assert (response.status_code, response.json()["code"]) == (401, "unauthorized")
            assert response.headers["www-authenticate"].startswith("Bearer")
        assert (await late.get("/subscriptions")).json()["code"] == "expired"
        for path in ("/health", "/ready", "/docs", "/openapi.json"):
            assert (await nobody.get(path)).status_code == 200
        refused = await at_a.post("/events", json={"tenant": "b"})
        assert (refused.status_code, refused.json()["code"]) == (403, "forbidden")
        assert "'b'" not in refused.text
        assert (await at_a.get("/metrics")).status_code == 403
        assert (await at_root.get("/metrics")).status_code == 200
        assert (await at_root.get("/subscribe", params={"condition": "true"})).status_code == 403

        kept = (await at_a.post("/subscriptions", json={"condition": "x > 0"})).json()["id"]
        for verb in ("get", "delete"):
            hidden = await getattr(at_b, verb)(f"/subscriptions/{kept}")
            assert (hidden.status_code, hidden.json()["code"]) == (404, "unknown-subscription")
        assert (await at_b.get("/subscriptions")).json() == {"subscriptions": []}
        why = {"subscription": kept, "event": '{"x": 1, "tenant": "a"}'}
        assert (await at_a.get("/why", params=why)).json()["matched"] is True
        assert (await at_b.get("/why", params=why)).json()["code"] == "forbidden"
        assert (await at_b.get("/why", params={**why, "event": '{"x": 1, "tenant": "b"}'})).status_code == 404

        # A browser's EventSource and WebSocket have the token in the query.
        async with stream(nobody, condition="x > 0", token=b) as sse, socket(server, f"?token={a}") as web:
            await web.ask(type="subscribe", subscription="s", condition="x > 0")
            assert (await at_b.post("/events", json={"tenant": "b", "x": 1})).json()["ids"][0].startswith("b/")
            assert (await web.ask(type="publish", event={"tenant": "b", "x": 2}))["code"] == "forbidden"
            await web.say(type="publish", event={"tenant": "a", "x": 3}, id="own")
            assert (await web.next())["event"]["x"] == 3
            assert (await sse.next())[2]["event"]["x"] == 1
            found = (await at_a.get(f"/subscriptions/{kept}/events")).json()["events"]
            assert [(each["id"], each["event"]["x"]) for each in found] == [("a/own", 3)]

            # A token that is withdrawn ends everything that was done with it.
            file.remove(a)
            server.reload()
            assert (await web.next())["code"] == "unauthorized"
            assert server.http is not None
            await until(lambda: server.http is not None and len(server.http.web.kept) == 0)
        with pytest.raises(InvalidStatus) as wrong:
            async with socket(server, f"?token={a}"):
                pass
        assert wrong.value.response.status_code == 401
        await until(lambda: len(server.accounts) == 0)


@awaited
async def test_without_tokens_pages_of_others_cannot_use_a_broker() -> None:
    async with served() as (server, http):
        assert server.http is not None
        port = server.http.address[1]
        json_event: dict[str, Any] = {"json": {"x": 1}}
        for host, origin, status in [
            (f"127.0.0.1:{port}", None, 200),
            (f"localhost:{port}", f"http://localhost:{port}", 200),
            (f"[::1]:{port}", None, 200),
            (f"127.0.0.1:{port}", "http://evil.example", 403),
            (f"127.0.0.1:{port}", "null", 403),
            # A name that somebody else has given to this machine.
            (f"evil.example:{port}", f"http://evil.example:{port}", 403),
        ]:
            headers = {"host": host} | ({} if origin is None else {"origin": origin})
            assert (await http.post("/events", headers=headers, **json_event)).status_code == status
        with pytest.raises(InvalidStatus) as refused:
            async with socket(server, origin="http://evil.example"):
                pass
        assert refused.value.response.status_code == 403
        async with socket(server, origin=f"http://127.0.0.1:{port}"):
            pass
    async with served(insecure=True) as (_, http):
        named = {"host": "broker.example"}
        assert (await http.post("/events", headers=named, **json_event)).status_code == 200


@awaited
async def test_limits_hold_over_requests() -> None:
    async with served(limits=Limits(rate=0.5, burst=2, subscriptions=1, condition=20)) as (server, http):
        status, second = [(await http.post("/events", json={"x": 1})).status_code for _ in range(2)]
        assert (status, second) == (200, 200)
        third = await http.post("/events", json={"x": 1})
        assert (third.status_code, third.json()["code"]) == (429, "rate")
        assert 1 <= int(third.headers["retry-after"]) <= 2
        lines = await http.post("/events", json=[{"x": 1}])
        assert (lines.status_code, lines.json()["refused"][0]["code"]) == (429, "rate")
        await http.post("/subscriptions", json={"condition": "true"})
        more = await http.post("/subscriptions", json={"condition": "true"})
        assert (more.status_code, more.json()["code"]) == (429, "too-many")
        long = await http.get("/subscribe", params={"condition": "x = 1 or x = 2 or x = 3"})
        assert (long.status_code, long.json()["code"]) == (422, "condition-too-large")
        assert server.counts["published"] == 2


NAMES = st.sampled_from(["x", "y", "z", "né", "a b"])
VALUES: st.SearchStrategy[Any] = st.recursive(
    st.none()
    | st.booleans()
    | st.integers(-(1 << 63), (1 << 63) - 1)
    | st.floats(allow_nan=False, allow_infinity=False)
    | st.text(st.characters(exclude_categories=["Cs"]), max_size=5),
    lambda inner: st.lists(inner, max_size=2) | st.dictionaries(NAMES, inner, max_size=2),
    max_leaves=4,
)
EVENTS = st.lists(st.dictionaries(NAMES, VALUES, max_size=4), min_size=1, max_size=8)
CONDITIONS = st.lists(
    st.sampled_from(
        [
            "true",
            "x > 0",
            "x = 'a' or y is null",
            "`a b` = true",
            "x.y >= 1.5",
            "not (x < 0)",
            "`né` like 'a%'",
            "x = y",
        ]
    ).filter(lambda text: text != "x = y")
    | st.builds(lambda n: f"x between -{n} and {n}", st.integers(1, 1 << 62)),
    min_size=1,
    max_size=3,
    unique=True,
)


def test_subscribers_over_http_and_websocket_get_exactly_what_those_over_tcp_get() -> None:
    async def main() -> None:
        async with served() as (server, http), connect(server.url) as tcp:

            @settings(max_examples=25, deadline=None, suppress_health_check=[HealthCheck.too_slow])
            @given(CONDITIONS, EVENTS)
            def compare(conditions: list[str], events: list[dict[str, Any]]) -> None:
                asyncio.run_coroutine_threadsafe(same(conditions, events), loop).result(60)

            async def same(conditions: list[str], events: list[dict[str, Any]]) -> None:
                end = {"x": "the end", "y": None, "a b": True, "né": "a"}
                wanted = {each: [e for e in events if parse(each).matches(e)] for each in conditions}
                async with socket(server) as web:
                    feeds = {each: await tcp.subscribe(f"({each}) or x = 'the end'") for each in conditions}
                    kept = {}
                    for each in conditions:
                        text = f"({each}) or x = 'the end'"
                        await web.ask(type="subscribe", subscription=each, condition=text)
                        kept[each] = (await http.post("/subscriptions", json={"condition": text})).json()["id"]
                    async with stream(http, condition=f"({conditions[0]}) or x = 'the end'") as sse:
                        body = "\n".join(json.dumps(each) for each in [*events, end])
                        headers = {"content-type": "application/x-ndjson"}
                        done = await http.post("/events", content=body, headers=headers)
                        assert done.json()["count"] == len(events) + 1, done.text
                        by_sse = await _until_end(lambda: _sse(sse))
                    by_web: dict[str, list[Any]] = {each: [] for each in conditions}
                    while not all(each and each[-1][1] == end for each in by_web.values()):
                        message = await web.next()
                        by_web[message["subscription"]].append((message["id"], message["event"]))
                for each in conditions:
                    by_tcp = await _until_end(lambda feed=feeds[each]: _tcp(feed))
                    fetched = (await http.get(f"/subscriptions/{kept[each]}/events")).json()["events"]
                    assert [content for _, content in by_tcp] == [*wanted[each], end]
                    assert by_web[each] == by_tcp == [(one["id"], one["event"]) for one in fetched]
                    if each == conditions[0]:
                        assert by_sse == by_tcp
                    feeds[each].unsubscribe()
                    await http.delete(f"/subscriptions/{kept[each]}")
                await until(lambda: not server.subscriptions)

            loop = asyncio.get_running_loop()
            await loop.run_in_executor(None, compare)

    asyncio.run(main())


async def _until_end(take: Any) -> list[Any]:
    found: list[Any] = []
    while not found or found[-1][1].get("x") != "the end":
        found.append(await take())
    return found


async def _sse(sse: Any) -> tuple[Any, Any]:
    data = (await sse.next())[2]
    return data["id"], data["event"]


async def _tcp(feed: Any) -> tuple[Any, Any]:
    event = await anext(feed)
    return event.id, event.content
