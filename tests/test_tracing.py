import subprocess
import sys
from typing import Any

import pytest
from opentelemetry import trace
from opentelemetry.sdk.trace import TracerProvider
from opentelemetry.sdk.trace.export import SimpleSpanProcessor
from opentelemetry.sdk.trace.export.in_memory_span_exporter import InMemorySpanExporter

from support.brokers import awaited, overlay, until
from tamis import tracing
from tamis.client import connect

GOOD = "00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01"


@pytest.mark.parametrize(
    "wrong",
    [
        None,
        "",
        GOOD.upper(),
        GOOD + "-more",
        GOOD[:-1],
        "01" + GOOD[2:],
        GOOD.replace("b7ad6b7169203331", "0" * 16),
        GOOD.replace("0af7651916cd43dd8448eb211c80319c", "0" * 32),
    ],
)
def test_what_is_no_trace_context_is_passed_over(wrong: str | None) -> None:
    assert tracing.checked(GOOD) == GOOD
    assert tracing.checked(wrong) is None


def test_without_opentelemetry_nothing_is_imported_and_nothing_is_done() -> None:
    code = """
import sys
import tamis.client, tamis.server
from tamis import tracing
assert not tracing.is_active() and tracing.current() is None
with tracing.span("x", "00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01"):
    pass
assert not any(name.startswith("opentelemetry") for name in sys.modules)
"""
    subprocess.run([sys.executable, "-c", code], check=True)


@pytest.fixture
def spans(monkeypatch: pytest.MonkeyPatch) -> InMemorySpanExporter:
    """Where spans go."""
    exporter = InMemorySpanExporter()
    provider = TracerProvider()
    provider.add_span_processor(SimpleSpanProcessor(exporter))
    monkeypatch.setattr(trace, "get_tracer", lambda name: provider.get_tracer(name))
    return exporter


@awaited
async def _published(got: list[Any]) -> None:
    async with overlay(2, [(0, 1)]) as (one, other), connect(one.url) as a, connect(other.url) as b:

        @b.on("x > 0")
        async def take(event: Any) -> None:
            got.append((event.trace, tracing.current()))

        await until(lambda: one.runner.machine.stored() == 1)
        with trace.get_tracer("test").start_as_current_span("work"):
            got.append(tracing.current())
            await a.publish({"x": 1})
        await a.publish({"x": 2})
        await until(lambda: len(got) == 3)


def test_an_event_carries_the_span_of_its_publisher_and_all_who_deal_with_it_are_below(
    spans: InMemorySpanExporter,
) -> None:
    got: list[Any] = []
    _published(got)
    first, (carried, current), (second, nothing) = got
    assert tracing.checked(first) == first == carried
    assert (second, nothing) == (None, None)
    by_name = {span.name: span for span in spans.get_finished_spans()}
    assert by_name.keys() == {"work", "publish", "forward", "receive"}
    work = by_name["work"].get_span_context()
    assert work is not None
    assert first == f"00-{work.trace_id:032x}-{work.span_id:016x}-{int(work.trace_flags):02x}"
    for name in ("publish", "forward", "receive"):
        span = by_name[name]
        assert span.parent is not None
        assert (span.parent.trace_id, span.parent.span_id) == (work.trace_id, work.span_id)
    assert by_name["publish"].attributes is not None
    assert by_name["publish"].attributes["tamis.broker"] == "b0"
    assert by_name["forward"].attributes is not None
    assert by_name["forward"].attributes["tamis.broker"] == "b1"
    received = by_name["receive"].get_span_context()
    assert received is not None
    assert current[:52] == f"00-{received.trace_id:032x}-{received.span_id:016x}"
