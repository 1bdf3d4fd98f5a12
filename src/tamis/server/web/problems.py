"""What went wrong, as `application/problem+json` (RFC 9457), with the codes of docs/protocol.md."""

import math
from collections.abc import Mapping
from http import HTTPStatus
from typing import Any, Final

import msgspec
from starlette.exceptions import HTTPException
from starlette.requests import Request
from starlette.responses import Response

from tamis.language import ExpressionError
from tamis.wire import ProtocolError

MEDIA_TYPE: Final = "application/problem+json"

#: The status for each code; for others it is 400.
STATUS: Final[Mapping[str, int]] = {
    "bad-frame": 400,
    "frame-too-large": 413,
    "bad-condition": 422,
    "bad-event": 422,
    "unknown-subscription": 404,
    "duplicate-subscription": 409,
    "too-many": 429,
    "unauthorized": 401,
    "expired": 401,
    "changed": 401,
    "forbidden": 403,
    "rate": 429,
    "condition-too-large": 422,
    # Of a subscription that was kept: it is not there any more, and the code says why.
    "slow": 404,
    "idle": 404,
    "stopping": 503,
    "no-store": 409,
    "store-full": 507,
    "store-failed": 500,
}


class Problem(msgspec.Struct, frozen=True, omit_defaults=True):
    """Why a request was not done, or only in part."""

    #: In short, the same for all of one code.
    title: str
    status: int
    #: One of docs/protocol.md, or `not-found`, `method`, `media-type`, `timeout`, `internal`.
    code: str
    #: For people.
    detail: str
    #: Of a condition: which character is wrong.
    position: int | None = None
    #: Of several events: how many were published all the same, the id of each in order, null for one that was refused,
    #: and which were refused and why.
    count: int | None = None
    ids: tuple[str | None, ...] = ()
    refused: "tuple[Refusal, ...]" = ()


class Refusal(msgspec.Struct, frozen=True, omit_defaults=True):
    """An event of several that was not published."""

    #: The how-manieth it was, or in which line it stood, from 1.
    line: int
    code: str
    detail: str


def problem(status: int, code: str, detail: str, **more: Any) -> Response:
    """Return a problem as a response, with other fields of `Problem`."""
    body = Problem(HTTPStatus(status).phrase, status, code, detail, **more)
    return Response(msgspec.json.encode(body), status, media_type=MEDIA_TYPE)


def status_of(code: str) -> int:
    """Return the status for a code."""
    return STATUS.get(code, 400)


def said(error: ProtocolError | ExpressionError) -> Response:
    """Return an error that a guest got as a response."""
    if isinstance(error, ExpressionError):
        return problem(status_of("bad-condition"), "bad-condition", error.message, position=error.position)
    made = problem(status_of(error.code), error.code, error.message)
    if error.after is not None:
        made.headers["retry-after"] = str(math.ceil(error.after))
    if made.status_code == 401:
        made.headers["www-authenticate"] = 'Bearer realm="tamis"'
    return made


class WrongRequest(Exception):  # noqa: N818 - it is no error here
    """A request that is answered with a problem."""

    def __init__(self, status: int, code: str, detail: str) -> None:
        super().__init__(detail)
        self.response = problem(status, code, detail)


_HTTP: Final[Mapping[int, tuple[str, str]]] = {
    404: ("not-found", "there is nothing at this path; /docs lists what there is"),
    405: ("method", "this path does not take this method"),
}


async def on_error(request: Request, error: Exception) -> Response:  # noqa: ARG001 - Starlette passes both
    """Return the response for whatever was raised."""
    if isinstance(error, WrongRequest):
        return error.response
    if isinstance(error, ProtocolError | ExpressionError):
        return said(error)
    assert isinstance(error, HTTPException)
    code, detail = _HTTP.get(error.status_code, ("bad-frame", error.detail))
    made = problem(error.status_code, code, detail)
    made.headers.update(error.headers or {})
    return made


HANDLERS: Final[Mapping[Any, Any]] = {
    WrongRequest: on_error,
    ProtocolError: on_error,
    ExpressionError: on_error,
    HTTPException: on_error,
}
