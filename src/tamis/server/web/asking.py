"""What a request says: its query, its body within limits, and who asks."""

import asyncio
from typing import Any, Final, TypeVar

import msgspec
from starlette.requests import ClientDisconnect, HTTPConnection, Request

from tamis.server.web.problems import WrongRequest
from tamis.wire import MAX_NAME

#: No body is longer: many events may come at once.
MAX_BODY: Final = 1 << 24
#: A body gets so many seconds to come.
PATIENCE: Final = 30.0
#: A text in a query has at most so many characters; longer conditions come by `POST /subscriptions` or WebSocket.
MAX_TEXT: Final = 4_096
#: The name of the query parameter for a token: a browser's WebSocket and EventSource cannot send header fields.
TOKEN: Final = "token"

Q = TypeVar("Q", bound=msgspec.Struct)


def query(request: HTTPConnection, kind: type[Q]) -> Q:
    """Return the query as a struct; what is missing, too much or wrong is a problem that names it."""
    given: dict[str, str] = {}
    for name, value in request.query_params.multi_items():
        if name in given:
            raise WrongRequest(400, "bad-frame", f"the query has {name!r} twice"[:MAX_NAME])
        if name != TOKEN:
            given[name] = value
    try:
        return msgspec.convert(given, kind, strict=False)
    except msgspec.ValidationError as error:
        raise WrongRequest(400, "bad-frame", f"the query: {error}"[:MAX_NAME]) from None


async def body(request: Request, limit: int = MAX_BODY) -> bytes:
    """Return the body; one that is too long or does not come is a problem."""
    length = request.headers.get("content-length", "")
    if length.isdecimal() and int(length) > limit:
        raise _too_long(limit)
    parts: list[bytes] = []
    size = 0
    try:
        async with asyncio.timeout(PATIENCE):
            async for part in request.stream():
                parts.append(part)
                size += len(part)
                if size > limit:
                    raise _too_long(limit)
    except TimeoutError:
        raise WrongRequest(408, "timeout", f"the body did not come within {PATIENCE:g} seconds") from None
    except ClientDisconnect:
        raise WrongRequest(400, "bad-frame", "the body did not come to its end") from None
    return b"".join(parts)


async def body_as(request: Request, kind: type[Q], limit: int) -> Q:
    """Return a body of JSON as a struct."""
    if media_type(request) != "application/json":
        raise wrong_media_type("application/json")
    given = object_of(await body(request, limit), "the body")
    if isinstance(given, dict):
        # JSON has no integers of its own: 5.0 is 5.
        given = {name: whole(value) for name, value in given.items()}
    try:
        return msgspec.convert(given, kind)
    except msgspec.ValidationError as error:
        raise WrongRequest(400, "bad-frame", f"the body: {error}"[:MAX_NAME]) from None


def media_type(request: Request) -> str:
    """Return the media type of the body without its parameters."""
    return request.headers.get("content-type", "").partition(";")[0].strip().lower()


def wrong_media_type(*taken: str) -> WrongRequest:
    """Return a problem that says which media types are taken."""
    return WrongRequest(415, "media-type", f"the body is taken as {', '.join(taken)}")


def token(request: HTTPConnection) -> str | None:
    """Return the token with which somebody asks, if there is one."""
    scheme, _, given = request.headers.get("authorization", "").partition(" ")
    if scheme.lower() == "bearer" and given.strip():
        return given.strip()
    return request.query_params.get(TOKEN)


def _too_long(limit: int) -> WrongRequest:
    return WrongRequest(413, "frame-too-large", f"a body has at most {limit:,} bytes")


def whole(value: Any) -> Any:
    """Return a number that is whole as an integer, and anything else as it is."""
    return int(value) if isinstance(value, float) and value.is_integer() else value


def object_of(data: bytes, what: str) -> Any:
    """Return JSON as plain values."""
    try:
        return msgspec.json.decode(data)
    except (msgspec.MsgspecError, RecursionError, UnicodeDecodeError) as error:
        raise WrongRequest(400, "bad-frame", f"{what} is no JSON: {error}"[:MAX_NAME]) from None
