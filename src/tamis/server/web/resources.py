"""`/subscriptions`: make, list, show and end subscriptions that live without a connection, and fetch their events."""

import asyncio
from contextlib import ExitStack, suppress
from typing import TYPE_CHECKING, Annotated, Final

import msgspec
from starlette.requests import Request
from starlette.responses import Response

from tamis.server.guest import Guest
from tamis.server.web.asking import MAX_TEXT, body_as, query
from tamis.server.web.kept import Kept, Shown, Wanted
from tamis.server.web.mailbox import Mailbox
from tamis.server.web.rendering import SSE, encoded, event_json
from tamis.server.web.streams import EventStream
from tamis.wire import DEFAULT_QUEUE, MAX_FRAME, MAX_QUEUE, ProtocolError, Slow

if TYPE_CHECKING:
    from tamis.server.web.app import Web

JSON: Final = "application/json"
#: A fetch waits at most so many seconds for events: less than what lies between may take for a broken connection.
MAX_WAIT: Final = 60.0
DEFAULT_WAIT: Final = 20.0
#: So many events are fetched at a time, at most and unless asked otherwise.
MAX_FETCHED: Final = 1_000
DEFAULT_FETCHED: Final = 100


class StreamQuery(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """A subscription that lasts as long as its connection."""

    condition: Annotated[str, msgspec.Meta(max_length=MAX_TEXT)]
    queue: Annotated[int, msgspec.Meta(ge=1, le=MAX_QUEUE)] = DEFAULT_QUEUE
    slow: Slow = "disconnect"


class FetchQuery(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """Which events are fetched."""

    #: The caller has all events up to this number, as `next` said: they are forgotten.
    after: Annotated[int, msgspec.Meta(ge=0, lt=1 << 53)] = 0
    #: So many seconds it waits if there are none yet.
    wait: Annotated[float, msgspec.Meta(ge=0, le=MAX_WAIT)] = DEFAULT_WAIT
    #: So many at most.
    most: Annotated[int, msgspec.Meta(ge=1, le=MAX_FETCHED)] = DEFAULT_FETCHED


class Listed(msgspec.Struct, frozen=True):
    """All subscriptions of the caller."""

    subscriptions: tuple[Shown, ...]


class Resources:
    """The endpoints."""

    def __init__(self, web: "Web") -> None:
        self._web = web

    async def make(self, request: Request) -> Response:
        """`POST /subscriptions`."""
        rights = self._web.rights(request)
        kept = self._web.kept.add(rights, await body_as(request, Wanted, MAX_FRAME))
        return Response(encoded(kept.shown()), 201, media_type=JSON, headers={"location": f"/subscriptions/{kept.id}"})

    async def listed(self, request: Request) -> Response:
        """`GET /subscriptions`."""
        shown = (each.shown() for each in self._web.kept.owned(self._web.rights(request)))
        return Response(encoded(Listed(tuple(shown))), media_type=JSON)

    async def show(self, request: Request) -> Response:
        """`GET /subscriptions/{id}`."""
        return Response(encoded(self._kept(request).shown()), media_type=JSON)

    async def end(self, request: Request) -> Response:
        """`DELETE /subscriptions/{id}`."""
        self._web.kept.end(self._kept(request))
        return Response(status_code=204)

    async def fetch(self, request: Request) -> Response | EventStream:
        """`GET /subscriptions/{id}/events`: as they come to those who accept Server-Sent Events, otherwise some."""
        asked = query(request, FetchQuery)
        kept = self._kept(request)
        after = asked.after
        if SSE in request.headers.get("accept", ""):
            last = request.headers.get("last-event-id")
            after = max(after, kept.mailbox.number_of(last) if last else 0)
            kept.mailbox.forget(after)
            stack = ExitStack()
            stack.enter_context(self._web.kept.fetching(kept))
            return EventStream(kept.mailbox, stack.close, keeps=True, after=after)
        kept.mailbox.forget(after)
        with self._web.kept.fetching(kept):
            return await self._fetched(kept, asked)

    async def stream(self, request: Request) -> EventStream:
        """`GET /subscribe`: a subscription that lasts as long as the response."""
        asked = query(request, StreamQuery)
        mailbox = Mailbox(asked.queue, asked.slow, self._web.server.traffic, "sse")
        guest = Guest(self._web.server, "sse", self._web.rights(request), mailbox.end)
        with ExitStack() as stack:
            stack.callback(guest.leave)
            guest.subscribe(asked.condition, mailbox.taker(asked.condition))
            stack.enter_context(self._web.open(mailbox))
            return EventStream(mailbox, stack.pop_all().close)

    async def _fetched(self, kept: Kept, asked: FetchQuery) -> Response:
        mailbox = kept.mailbox
        found = mailbox.after(asked.after, asked.most)
        with suppress(TimeoutError):
            async with asyncio.timeout(min(asked.wait, MAX_WAIT)):
                while not found and mailbox.ending is None:
                    await mailbox.news(asked.after)
                    found = mailbox.after(asked.after, asked.most)
        if not found and mailbox.ending is not None:
            raise ProtocolError(*mailbox.ending)
        events = b",".join(event_json(each, numbered=True) for each in found)
        rest = encoded({"next": found[-1].number if found else asked.after, "dropped": mailbox.dropped})
        return Response(b'{"events":[' + events + b"]," + rest[1:], media_type=JSON)

    def _kept(self, request: Request) -> Kept:
        return self._web.kept.get(self._web.rights(request), request.path_params["id"])
