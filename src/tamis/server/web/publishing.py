"""Events that come over HTTP: one, a list, JSON lines, or CloudEvents."""

import asyncio
import secrets
from collections.abc import Iterator
from itertools import count
from time import monotonic
from typing import TYPE_CHECKING, Annotated, Any, Final, NamedTuple

import msgspec
from starlette.requests import Request
from starlette.responses import Response

from tamis import tracing
from tamis.server.connection import TURN
from tamis.server.consumer import Done
from tamis.server.guest import Guest
from tamis.server.web import cloudevents
from tamis.server.web.asking import MAX_BODY, body, media_type, object_of, query, wrong_media_type
from tamis.server.web.problems import Refusal, problem, status_of
from tamis.server.web.rendering import encoded
from tamis.wire import ENCODER, MAX_FRAME, MAX_NAME, ProtocolError, Publish

if TYPE_CHECKING:
    from tamis.server.web.app import Web

JSON: Final = "application/json"
#: An id that is given has at most so many characters, so that there is room for a number behind it.
MAX_ID: Final = 128
LINES: Final = "application/x-ndjson"


class PublishQuery(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """What can be said about events that come without ids, which CloudEvents have."""

    #: The id of the event, or of several how their ids begin: a point and their number or line follow. Ids are unique
    #: in the overlay, so that events that are said again are recognised. Without one they are made here.
    id: Annotated[str, msgspec.Meta(min_length=1, max_length=MAX_ID)] | None = None
    #: Whether they are kept for durable subscriptions: then the answer comes when they are on disk.
    durable: bool = False


class Published(msgspec.Struct, frozen=True, omit_defaults=True):
    """All events were published."""

    count: int
    #: The id of each, in order.
    ids: tuple[str, ...]


class Draft(NamedTuple):
    """An event as it came."""

    id: str | None
    content: dict[str, Any]


class Ids:
    """Ids for events that come without one: no two brokers, and no two lives of a broker, make the same."""

    def __init__(self) -> None:
        self._first = secrets.token_urlsafe(9)
        self._numbers = count(1)

    def __call__(self) -> str:
        """Return another one."""
        return f"{self._first}.{next(self._numbers)}"


class Sender(NamedTuple):
    """Who publishes, and how."""

    guest: Guest
    trace: str | None
    durable: bool

    def send(self, id: str, content: Any) -> "asyncio.Future[ProtocolError | None]":
        """Publish an event; when that is done, the future has what went wrong, if anything."""
        future: asyncio.Future[ProtocolError | None] = asyncio.get_running_loop().create_future()

        def done(error: ProtocolError | None) -> None:
            if not future.done():
                future.set_result(error)

        publish(self.guest, id, content, self.trace, done if self.durable else None)
        if not self.durable:
            done(None)
        return future


def publish(guest: Guest, id: str, content: Any, trace: str | None, done: Done | None = None) -> None:
    """Publish one event that came as JSON, with the checks of a frame; what is wrong is a `ProtocolError`.

    With `done` it is durable, and `done` is told when it is on disk or why not.
    """
    if not isinstance(content, dict):
        raise ProtocolError("bad-event", "an event is a JSON object")
    try:
        try:
            size = len(ENCODER.encode(Publish(1, id, content)))
        except OverflowError:
            content = _within_doubles(content)
            size = len(ENCODER.encode(Publish(1, id, content)))
    except (OverflowError, RecursionError) as error:
        raise ProtocolError("bad-event", f"the event cannot be sent on: {error}"[:MAX_NAME]) from None
    guest.publish(id, content, size, trace, done)


def _within_doubles(value: Any) -> Any:
    """Return a value in which integers of more than 64 bits are doubles, as JSON has it."""
    if isinstance(value, dict):
        return {name: _within_doubles(each) for name, each in value.items()}
    if isinstance(value, list):
        return [_within_doubles(each) for each in value]
    return float(value) if isinstance(value, int) and not -(1 << 63) <= value < 1 << 64 else value


class Publishing:
    """Takes events."""

    def __init__(self, web: "Web") -> None:
        self._web = web

    async def post(self, request: Request) -> Response:
        """Publish the events of a request."""
        with self._web.publisher(request) as guest:
            return await self._taken(request, guest)

    async def _taken(self, request: Request, guest: Guest) -> Response:
        asked = query(request, PublishQuery)
        kind = media_type(request)
        sender = Sender(guest, tracing.checked(request.headers.get("traceparent")), asked.durable)
        if kind in (LINES, cloudevents.BATCH):
            data = await body(request, MAX_BODY)
            return await self._many(sender, _lines(data, asked.id) if kind == LINES else _batch(data))
        if kind == cloudevents.STRUCTURED:
            given = object_of(await body(request, MAX_FRAME), "the body")
            return await self._one(sender, *cloudevents.from_object(given))
        if any(name.startswith(cloudevents.PREFIX) for name in request.headers):
            data = await body(request, MAX_FRAME)
            headers = request.headers.items()
            return await self._one(
                sender, *cloudevents.from_headers(headers, request.headers.get("content-type", ""), data)
            )
        if kind != JSON:
            raise wrong_media_type(JSON, LINES, cloudevents.STRUCTURED, cloudevents.BATCH)
        given = object_of(await body(request, MAX_BODY), "the body")
        if isinstance(given, list):
            return await self._many(
                sender, ((line, Draft(_numbered(asked.id, line), each)) for line, each in enumerate(given, 1))
            )
        return await self._one(sender, asked.id or self._web.next_id(), given)

    async def _one(self, sender: Sender, id: str, content: Any) -> Response:
        await self._web.room()
        error = await sender.send(id, content)
        if error is not None:
            raise error
        return Response(encoded(Published(1, (sender.guest.ids + id,))), media_type=JSON)

    async def _many(self, sender: Sender, drafts: "Iterator[tuple[int, Draft | ProtocolError]]") -> Response:
        """Publish events in order, whatever becomes of some of them, and let others have their turn meanwhile.

        Only if all were published it is a success.
        """
        sent: list[tuple[int, str, asyncio.Future[ProtocolError | None] | ProtocolError]] = []
        end = 0.0
        for line, draft in drafts:
            if monotonic() > end:
                await asyncio.sleep(0)
                await self._web.room()
                end = monotonic() + TURN
            if isinstance(draft, ProtocolError):
                sent.append((line, "", draft))
                continue
            id = draft.id or self._web.next_id()
            try:
                sent.append((line, sender.guest.ids + id, sender.send(id, draft.content)))
            except ProtocolError as error:
                sent.append((line, "", error))
        ids: list[str | None] = []
        refused: list[Refusal] = []
        for line, id, done in sent:
            wrong = done if isinstance(done, ProtocolError) else await done
            ids.append(id if wrong is None else None)
            if wrong is not None:
                refused.append(Refusal(line, wrong.code, wrong.message))
        if not refused:
            return Response(encoded(Published(len(ids), tuple(filter(None, ids)))), media_type=JSON)
        # Whoever looks at the status alone must not take all for published.
        first, count = refused[0], len(ids) - len(refused)
        detail = f"{count:,} of {len(ids):,} events were published; line {first.line}: {first.detail}"
        more = {"count": count, "ids": tuple(ids), "refused": tuple(refused)}
        return problem(status_of(first.code), first.code, detail, **more)


def _numbered(id: str | None, line: int) -> str | None:
    return None if id is None else f"{id}.{line}"


def _lines(data: bytes, id: str | None) -> "Iterator[tuple[int, Draft | ProtocolError]]":
    for line, text in enumerate(data.split(b"\n"), 1):
        if not text.strip():
            continue
        try:
            yield line, Draft(_numbered(id, line), msgspec.json.decode(text))
        except (msgspec.MsgspecError, RecursionError, UnicodeDecodeError) as error:
            yield line, ProtocolError("bad-frame", f"no JSON: {error}"[:MAX_NAME])


def _batch(data: bytes) -> "Iterator[tuple[int, Draft | ProtocolError]]":
    given = object_of(data, "the body")
    if not isinstance(given, list):
        raise ProtocolError("bad-frame", "a batch of CloudEvents is a JSON list")
    for line, each in enumerate(given, 1):
        try:
            yield line, Draft(*cloudevents.from_object(each))
        except ProtocolError as error:
            yield line, error
