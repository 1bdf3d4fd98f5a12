"""CloudEvents 1.0 as events: an event's attributes are the members of the CloudEvent's JSON format.

So `type = 'order' and data.price > 10` is a condition on CloudEvents, and what a subscriber gets is the CloudEvent in
its JSON format. `time` becomes a timestamp. A CloudEvent is known by its source and its id together, and so is the
event.
"""

import base64
import datetime as dt
import re
from collections.abc import Iterable
from hashlib import sha256
from typing import Any, Final
from urllib.parse import unquote

import msgspec

from tamis.server.web.asking import whole
from tamis.wire import MAX_NAME, ProtocolError

STRUCTURED: Final = "application/cloudevents+json"
BATCH: Final = "application/cloudevents-batch+json"
#: What every CloudEvent has.
REQUIRED: Final = ("id", "source", "specversion", "type")
#: Those that are texts, if they are there.
TEXTS: Final = (*REQUIRED, "subject", "datacontenttype", "dataschema", "time")
#: How header fields of the binary mode begin.
PREFIX: Final = "ce-"

_NAME: Final = re.compile(r"[a-z0-9]+\Z")
_JSON: Final = re.compile(r"(application|text)/(.+\+)?json\Z")


def from_object(given: Any) -> tuple[str, dict[str, Any]]:
    """Return the id and the attributes of an event that came in structured mode."""
    if not isinstance(given, dict):
        raise ProtocolError("bad-event", "a CloudEvent is a JSON object")
    made = {name: whole(value) for name, value in given.items() if value is not None}
    for name, value in made.items():
        if name not in ("data", "data_base64"):
            _check_attribute(name, value)
    if "data" in made and "data_base64" in made:
        raise ProtocolError("bad-event", "a CloudEvent has one of data and data_base64")
    try:
        base64.b64decode(made.get("data_base64", ""), validate=True)
    except (TypeError, ValueError):
        raise ProtocolError("bad-event", "data_base64 of a CloudEvent is a text in Base64") from None
    return _checked(made)


def _check_attribute(name: str, value: Any) -> None:
    if not _NAME.match(name):
        raise ProtocolError(
            "bad-event", f"{name!r} is no name of a CloudEvent attribute: a to z and 0 to 9 are"[:MAX_NAME]
        )
    if name in TEXTS:
        if not isinstance(value, str) or not value:
            raise ProtocolError("bad-event", f"CloudEvent attribute {name!r} is a text that is not empty")
    elif not isinstance(value, str | bool) and not (isinstance(value, int) and -(1 << 31) <= value < 1 << 31):
        raise ProtocolError("bad-event", f"CloudEvent attribute {name!r} is a text, an integer of 32 bits or a Boolean")


def from_headers(headers: Iterable[tuple[str, str]], media_type: str, body: bytes) -> tuple[str, dict[str, Any]]:
    """Return the id and the attributes of an event that came in binary mode: its attributes in header fields."""
    made: dict[str, Any] = {}
    for name, value in headers:
        if name.startswith(PREFIX):
            short = name.removeprefix(PREFIX)
            if not _NAME.match(short):
                raise ProtocolError("bad-event", f"{name!r} is no header field of a CloudEvent")
            # Values are percent-encoded where they are not printable ASCII (CloudEvents HTTP binding, 3.1.3.2).
            made[short] = unquote(value.strip('"'))
    if media_type:
        made["datacontenttype"] = media_type
    if body:
        made |= _data(media_type.partition(";")[0].strip().lower(), body)
    return _checked(made)


def _data(kind: str, body: bytes) -> dict[str, Any]:
    if _JSON.match(kind):
        try:
            return {"data": msgspec.json.decode(body)}
        except (msgspec.MsgspecError, RecursionError, UnicodeDecodeError) as error:
            raise ProtocolError("bad-frame", f"the data is no JSON: {error}"[:MAX_NAME]) from None
    if kind.startswith("text/"):
        try:
            return {"data": body.decode()}
        except UnicodeDecodeError:
            pass
    return {"data_base64": base64.b64encode(body).decode()}


def _checked(made: dict[str, Any]) -> tuple[str, dict[str, Any]]:
    for name in REQUIRED:
        if not isinstance(made.get(name), str) or not made[name]:
            raise ProtocolError("bad-event", f"a CloudEvent has an attribute {name}, a text that is not empty")
    if made["specversion"] != "1.0":
        text = f"CloudEvents of version 1.0 are taken, not {made['specversion']!r}"
        raise ProtocolError("bad-event", text[:MAX_NAME])
    if "time" in made:
        made["time"] = _time(made["time"])
    return _id(made["source"], made["id"]), made


def _time(value: Any) -> dt.datetime:
    try:
        found = msgspec.convert(value, dt.datetime)
    except msgspec.ValidationError:
        found = None
    if found is None or found.tzinfo is None:
        raise ProtocolError("bad-event", "time of a CloudEvent is written as 2026-01-31T12:00:00Z")
    return found.astimezone(dt.UTC)


def _id(source: str, id: str) -> str:
    """Return what the event is known by in the overlay: repeats are recognised by it."""
    both = f"{source}#{id}"
    return both if len(both) <= MAX_NAME else f"sha256:{sha256(both.encode()).hexdigest()}"
