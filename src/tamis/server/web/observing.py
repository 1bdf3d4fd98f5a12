"""How the broker is: alive, ready, its figures, and why an event meets a subscription or not."""

from typing import TYPE_CHECKING, Annotated, Any, Final

import msgspec
from prometheus_client import CONTENT_TYPE_LATEST, generate_latest
from starlette.requests import Request
from starlette.responses import Response

from tamis.language import parse_subscription
from tamis.language.explain import explain
from tamis.server.web.asking import MAX_TEXT, object_of, query
from tamis.server.web.rendering import encoded
from tamis.wire import MAX_NAME, ProtocolError, check_content

if TYPE_CHECKING:
    from tamis.server.web.app import Web

JSON: Final = "application/json"


class WhyQuery(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """Which subscription, and which event."""

    #: One of `/subscriptions`.
    subscription: Annotated[str, msgspec.Meta(min_length=1, max_length=MAX_NAME)]
    #: A JSON object.
    event: Annotated[str, msgspec.Meta(max_length=MAX_TEXT)]


class Health(msgspec.Struct, frozen=True):
    """Whether a broker is alive, or ready and if not why not."""

    broker: str
    ok: bool
    problems: tuple[str, ...] = ()


class Why(msgspec.Struct, frozen=True):
    """Why an event meets a condition or not."""

    matched: bool
    condition: str
    #: True, false, or null for unknown.
    truth: bool | None
    because: str
    parts: list[Any]
    #: A clause that may hold an event back although it meets the condition.
    notify: str | None
    #: The same for people.
    text: str


class Observing:
    """The endpoints."""

    def __init__(self, web: "Web") -> None:
        self._web = web

    async def health(self, request: Request) -> Response:  # noqa: ARG002 - who answers is alive
        """`GET /health`."""
        return Response(encoded(Health(self._web.server.name, True)), media_type=JSON)

    async def ready(self, request: Request) -> Response:  # noqa: ARG002 - the same for all
        """`GET /ready`: 503 while something is missing."""
        problems = self._web.server.problems()
        shown = Health(self._web.server.name, not problems, tuple(problems))
        return Response(encoded(shown), 503 if problems else 200, media_type=JSON)

    async def metrics(self, request: Request) -> Response:
        """`GET /metrics`: for Prometheus."""
        if not self._web.rights(request).may_administer:
            raise ProtocolError("forbidden", "the figures of a broker are for those who may administer it")
        figures = generate_latest(self._web.metrics.registry)
        return Response(figures, headers={"content-type": CONTENT_TYPE_LATEST})

    async def why(self, request: Request) -> Response:
        """`GET /why`: predicate by predicate."""
        rights = self._web.rights(request)
        asked = query(request, WhyQuery)
        event = object_of(asked.event.encode(), "the event")
        if not isinstance(event, dict):
            raise ProtocolError("bad-event", "an event is a JSON object")
        check_content(event)
        if not rights.sees(event):
            raise ProtocolError("forbidden", "the event is outside of the right to subscribe that this token gives")
        subscription = parse_subscription(self._web.kept.get(rights, asked.subscription).wanted.condition)
        found = explain(subscription.condition, event)
        notify = None if subscription.notify is None else str(subscription.notify)
        parts = msgspec.to_builtins(found.parts)
        why = Why(found.matched, found.condition, found.truth, found.because, parts, notify, str(found))
        return Response(encoded(why), media_type=JSON)
