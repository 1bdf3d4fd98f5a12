from typing import Any

from prometheus_client.parser import text_string_to_metric_families

from support.brokers import awaited, until
from support.web import client, served
from tamis.server import Server, ServerSettings


@awaited
async def test_a_broker_says_whether_it_is_ready() -> None:
    async with served() as (server, http):
        alive = await http.get("/health")
        assert (alive.status_code, alive.json()) == (200, {"broker": "b", "ok": True, "problems": []})
        assert (await http.get("/ready")).status_code == 200
        settings = ServerSettings(port=0, http_port=0, name="c", join=(server.url,))
        async with Server(settings) as other, client(other) as far:
            await until(lambda: len(server.links) == 1)
            assert (await far.get("/ready")).status_code == 200
            (link,) = server.links
            link.connection.abort()
            await until(lambda: other.problems())
            answer = await far.get("/ready")
            if answer.status_code == 503:
                assert answer.json()["problems"] == ["1 of 1 links that were asked for do not stand"]
            await until(lambda: not other.problems())
            assert (await far.get("/health")).json()["ok"] is True


@awaited
async def test_two_brokers_that_call_each_other_are_both_ready() -> None:
    async with served() as (one, _):
        settings = ServerSettings(port=0, name="a", join=(one.url,))
        async with Server(settings) as other:
            await until(lambda: not other.problems())
            assert len(other.links) == 1


@awaited
async def test_why_an_event_meets_a_subscription_or_not() -> None:
    async with served() as (_, http):
        condition = "price > 10 and (symbol = 'ACME' or urgent) notify price moves 2"
        id = (await http.post("/subscriptions", json={"condition": condition})).json()["id"]

        async def why(event: str) -> Any:
            return (await http.get("/why", params={"subscription": id, "event": event})).json()

        found = await why('{"price": 12, "symbol": "ACM"}')
        assert (found["matched"], found["truth"], found["notify"]) == (False, None, "notify price moves 2")
        assert [(each["condition"], each["truth"], each["because"]) for each in found["parts"]] == [
            ("price > 10", True, "price is 12"),
            ("symbol = 'ACME' or urgent", None, "any of: unknown"),
        ]
        assert found["text"].splitlines()[1] == "  ✓ price > 10   (price is 12)"
        assert (await why('{"price": 12, "symbol": "ACME"}'))["matched"] is True
        assert (await why("[1]"))["code"] == "bad-event"
        assert (await why("{"))["code"] == "bad-frame"
        assert (await http.get("/why", params={"subscription": "no", "event": "{}"})).status_code == 404


@awaited
async def test_metrics_are_what_prometheus_reads() -> None:
    async with served() as (server, http):
        await http.post("/subscriptions", json={"condition": "x > 0"})
        await http.post("/events", json=[{"x": 0}, {"x": 1}])
        answer = await http.get("/metrics")
        assert answer.headers["content-type"].startswith("text/plain; version=")
        found = {
            (sample.name, *sorted(sample.labels.values())): sample.value
            for family in text_string_to_metric_families(answer.text)
            for sample in family.samples
        }
        assert found["tamis_published_events_total",] == 2
        assert found["tamis_matched_events_total", "http", "plain"] == 1
        assert found["tamis_waiting_events", "http"] == 1
        assert found["tamis_subscriptions",] == 1
        assert found["tamis_matching_seconds_count",] == 1
        assert found["tamis_matching_seconds_bucket", "+Inf"] == 1
        assert found["tamis_broker_info", "b", server.strategy.name] == 1
