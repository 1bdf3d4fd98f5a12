"""W3C trace context with events, and spans where OpenTelemetry runs (the extra `tracing`).

An event carries the `traceparent` of its publisher unchanged to all subscribers. Whoever deals with it on the way makes
a span below that one: the first broker, each further broker, and handlers of subscribers. Nothing here imports
OpenTelemetry: where the program has not done so itself, nobody collects spans, and none are made.
"""

import re
import sys
from collections.abc import Iterator
from contextlib import AbstractContextManager, contextmanager, nullcontext
from typing import Any, Final

#: A `traceparent` of version 00: version, trace, parent span and flags.
_PATTERN: Final = re.compile(r"00-(?!0{32})([0-9a-f]{32})-(?!0{16})([0-9a-f]{16})-([0-9a-f]{2})\Z")
_API: Final = "opentelemetry.trace"
_NOTHING: Final = nullcontext()


def checked(text: str | None) -> str | None:
    """Return a trace context, or None for a text that is none: as the standard has it, it is then passed over."""
    return text if text is not None and _PATTERN.match(text) else None


def current() -> str | None:
    """Return the trace context of the span that is active here; None if there is none."""
    api: Any = sys.modules.get(_API)
    if api is None:
        return None
    found = api.get_current_span().get_span_context()
    if not found.is_valid:
        return None
    return f"00-{found.trace_id:032x}-{found.span_id:016x}-{int(found.trace_flags):02x}"


def is_active() -> bool:
    """Say whether spans may be wanted in this process."""
    return _API in sys.modules


def span(name: str, trace: str | None, **attributes: str) -> AbstractContextManager[None]:
    """Return a span below a trace context, to be used with `with`; it does nothing where nobody wants spans."""
    if trace is None or _API not in sys.modules:
        return _NOTHING
    return _span(name, trace, attributes)


@contextmanager
def _span(name: str, trace: str, attributes: dict[str, str]) -> Iterator[None]:
    found = _PATTERN.match(trace)
    if found is None:
        yield
        return
    api: Any = sys.modules[_API]
    flags = api.TraceFlags(int(found[3], 16))
    parent = api.SpanContext(int(found[1], 16), int(found[2], 16), is_remote=True, trace_flags=flags)
    context = api.set_span_in_context(api.NonRecordingSpan(parent))
    with api.get_tracer("tamis").start_as_current_span(
        name, context, attributes={f"tamis.{key}": value for key, value in attributes.items()}
    ):
        yield
