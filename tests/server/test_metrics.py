import pytest

from support.brokers import Raw, awaited, overlay, until
from support.web import served, socket, stream
from tamis.client import connect
from tamis.server import Server
from tamis.server.latency import BOUNDS, Latency
from tamis.server.metrics import Metrics
from tamis.server.runner import SAMPLED
from tamis.wire import VERSION, ClientHello, Slow, Subscribe, frame


def figures(server: Server) -> dict[tuple[str, ...], float]:
    """All figures of a broker, by name and labels."""
    return {
        (sample.name.removeprefix("tamis_"), *sample.labels.values()): sample.value
        for family in Metrics(server).registry.collect()
        for sample in family.samples
    }


@awaited
async def test_what_became_of_events_is_told_by_class_of_subscription() -> None:
    async with (
        served() as (server, http),
        connect(server.url) as tcp,
        socket(server) as web,
        stream(http, condition="x > 0") as sse,
    ):
        plain = await tcp.subscribe("true")
        notify = await tcp.subscribe("true notify x moves 5")
        await web.ask(type="subscribe", subscription="s", condition="x > 0 notify x moves 5")
        for x in range(12):
            await tcp.publish({"x": x})
        for _ in range(12):
            await anext(plain)
        for _ in range(3):
            await anext(notify)
        for _ in range(11):
            await sse.next()
        assert [(await web.next())["event"]["x"] for _ in range(3)] == [1, 6, 11]
        found = figures(server)
        assert found["published_events_total",] == 12
        assert {key[1:]: value for key, value in found.items() if key[0] == "matched_events_total"} == {
            ("tcp", "plain"): 12,
            ("tcp", "notify"): 3,
            ("websocket", "notify"): 3,
            ("sse", "plain"): 11,
        }
        assert {key[1]: value for key, value in found.items() if key[0] == "delivered_events_total"} == {
            "tcp": 15,
            "websocket": 3,
            "sse": 11,
        }
        assert found["connections", "tcp"] == 1
        assert found["connections", "http"] >= 2
        assert found["subscriptions",] == 4
        assert found["matching_seconds_count",] == 1
        for x in range(SAMPLED):
            await tcp.publish({"y": x})
        assert figures(server)["matching_seconds_count",] == 2


@pytest.mark.parametrize("slow", ["disconnect", "drop-newest"])
@awaited
async def test_what_is_dropped_is_told_by_reason_and_nothing_is_missing(slow: Slow) -> None:
    async with overlay(1, []) as (server,), connect(server.url) as client:
        hello = frame(ClientHello(VERSION, "lazy", 3, slow))
        raw = await Raw.open(server, hello + frame(Subscribe(1, 0, "true")))
        await raw.some(2)
        raw.writer.transport.pause_reading()  # type: ignore[attr-defined]
        (lazy,) = [session for session in server.sessions if session.guest.name == "lazy"]
        sent = 0
        while not lazy.connection.closing and lazy.connection.outbox.dropped < 5:
            await client.publish({"n": sent, "blob": "x" * 50_000})
            sent += 1
        found = figures(server)
        reason = "slow" if slow == "disconnect" else slow
        dropped = found["dropped_events_total", "tcp", reason]
        waiting = found["waiting_events", "tcp"]
        assert (dropped, waiting) == ((4, 0) if slow == "disconnect" else (5, 3))
        assert found["delivered_events_total", "tcp"] == sent - dropped - waiting
        raw.writer.transport.abort()
        await until(lambda: len(server.sessions) == 1)
        found = figures(server)
        lost = found.get(("dropped_events_total", "tcp", "left"), 0)
        assert lost == (0 if slow == "disconnect" else 3)
        assert found["dropped_events_total", "tcp", reason] == dropped


@awaited
async def test_events_that_came_in_vain_are_false_positives() -> None:
    async with overlay(2, [(0, 1)], strategy="flood") as (one, other), connect(one.url) as client:
        async with connect(other.url) as reader:
            events = await reader.subscribe("x > 0")
            for x in range(3):
                await client.publish({"x": x})
            for _ in range(2):
                await anext(events)
            assert figures(other)["false_positives_total",] == 1
        assert figures(one)["links",] == 1
        assert figures(one)["false_positives_total",] == 0


def test_times_are_counted_up_to_each_bound() -> None:
    latency = Latency()
    for seconds in (0.0, 1e-5, 1.1e-5, 0.5, 7.0):
        latency.add(seconds)
    buckets = dict(latency.buckets())
    assert (buckets["1e-05"], buckets["2.5e-05"], buckets["1.0"], buckets["+Inf"]) == (2, 3, 4, 5)
    assert len(buckets) == len(BOUNDS) + 1
    assert latency.total == pytest.approx(7.500021)
