"""Events as JSON and as Server-Sent Events. What many subscribers get is made once."""

import datetime as dt
from collections.abc import Mapping
from typing import Any, Final

import msgspec

from tamis.server.web.mailbox import Ending, Waiting
from tamis.wire import DeliveryFrames

SSE: Final = "text/event-stream"


def _plain(value: Any) -> str:
    # A date comes as a subclass of its own (`tamis.wire`).
    if isinstance(value, dt.date):
        return value.isoformat()
    raise TypeError(f"JSON has no {type(value).__name__}")


_ENCODER: Final = msgspec.json.Encoder(enc_hook=_plain)


def encoded(value: Any) -> bytes:
    """Return a value as JSON."""
    return _ENCODER.encode(value)


def event_json(waiting: Waiting, numbered: bool = False) -> bytes:
    """Return an event as a JSON object, with its subscription where there may be several, and its number if asked."""
    parts = [_shown(waiting.event)]
    if waiting.age is not None:
        parts.append(b'"age_bound":' + encoded(waiting.age_now))
    if waiting.subscription:
        parts.append(b'"subscription":' + encoded(waiting.subscription))
    if numbered:
        parts.append(b'"number":' + encoded(waiting.number))
    return b"{" + b",".join(parts) + b"}"


def event_sse(waiting: Waiting) -> bytes:
    """Return an event as a Server-Sent Event. JSON has no line breaks of its own, so that it is one line."""
    id = str(waiting.event.fields()[0])
    # An id with a line break in it cannot be said there; the data has it.
    first = b"" if any(each in id for each in "\r\n\0") else b"id: " + id.encode() + b"\n"
    return first + b"data: " + event_json(waiting) + b"\n\n"


def remark_sse(kind: str, content: Mapping[str, Any]) -> bytes:
    """Return something else than an event as a Server-Sent Event of a kind."""
    return b"event: " + kind.encode() + b"\ndata: " + encoded(content) + b"\n\n"


def ending_sse(ending: Ending) -> bytes:
    """Return why a stream ends."""
    return remark_sse("goodbye", ending._asdict())


def _shown(event: DeliveryFrames) -> bytes:
    """Return id, content and trace context of an event as members of a JSON object."""
    try:
        return event.shown
    except AttributeError:
        pass
    id, content, trace = event.fields()
    try:
        body = encoded(content)
    except TypeError:
        body = encoded(_spelled(content))
    shown = b'"id":' + encoded(id) + b',"event":' + body
    if trace is not None:
        shown += b',"traceparent":' + encoded(trace)
    event.shown = shown
    return shown


def _spelled(value: Any) -> Any:
    """Return a value whose maps have texts as keys: msgpack allows others, JSON does not."""
    if isinstance(value, Mapping):
        return {key if isinstance(key, str) else str(key): _spelled(each) for key, each in value.items()}
    if isinstance(value, list | tuple):
        return [_spelled(each) for each in value]
    return value
