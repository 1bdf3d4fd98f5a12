"""The overlay of `tamis demo`: five brokers in processes of their own, alerts at all of them, a market through them."""

import asyncio
from collections.abc import Iterator, Mapping, Sequence
from contextlib import AsyncExitStack
from functools import partial
from itertools import pairwise
from time import perf_counter
from typing import Any, Final

import msgspec

from tamis.cli.broker_processes import Plan, brokers
from tamis.cli.demo_show import Show
from tamis.cli.errors import InputError
from tamis.client import Client, Event, connect

#: Five brokers and how they are linked: events have more than one way to most of them.
PLANS: Final = (
    Plan("b0", ()),
    Plan("b1", (0,)),
    Plan("b2", (0,)),
    Plan("b3", (1, 2)),
    Plan("b4", (1, 2)),
)
#: At each broker, somebody wants to know when a price has moved by half since they were told last.
WATCHES: Final = tuple(
    f"sector = '{sector}' notify price moves 50% per symbol"
    for sector in ("technology", "finance", "health", "energy", "industry")
)
#: The stream takes so many seconds, or less if there are few events: one can watch it.
STREAM: Final = 8.0
SLOWEST: Final = 400.0
#: So often a second events are published and the display is drawn.
TICKS: Final = 10
#: Whatever has not come after so many seconds will not, however busy the machine is.
PATIENCE: Final = 120.0
#: Seconds until a question that was not answered is asked again.
AGAIN: Final = 0.25


class OverlayResult(msgspec.Struct, frozen=True):
    """What the overlay did. `missing` and `extra` count deliveries that differ from what the index has found."""

    brokers: int
    links: int
    deliveries: int
    missing: int
    extra: int
    #: Of subscriptions that are told only when a value has moved: events that met the condition, and those told.
    watched: int
    notifications: int
    start_seconds: float
    subscribe_seconds: float
    seconds: float


class OverlayDemo:
    """One run: alert number n is placed at broker n modulo 5, and event number n is published there."""

    def __init__(self, alerts: Sequence[str], events: Sequence[Mapping[str, Any]], show: Show) -> None:
        self._alerts = alerts
        self._events = events
        self._show = show
        self._clients: list[Client] = []
        #: Pairs of an event's number and an alert's, as they were delivered.
        self._found: list[tuple[int, int]] = []
        self._notifications = 0
        self._echoes: set[tuple[int, int, int]] = set()

    async def run(self, expected: set[tuple[int, int]], arguments: Sequence[str] = ()) -> OverlayResult:
        """Do it all, and compare what was delivered with the pairs of events and alerts that are expected."""
        started = perf_counter()
        links = sum(len(plan.joins) for plan in PLANS)
        self._show.say(f"Starting {len(PLANS)} brokers, each a process, with {links} links between them …")
        async with brokers(PLANS, arguments) as urls, AsyncExitStack() as stack:
            self._show.brokers([(plan.name, url) for plan, url in zip(PLANS, urls, strict=True)])
            self._clients = [await stack.enter_async_context(connect(url, name="demo")) for url in urls]
            up = perf_counter()
            self._subscribe()
            await self._echo(0)
            spread = perf_counter()
            self._show.say(
                f"{len(self._alerts):,} alerts and {len(WATCHES)} watchers placed, and known to all brokers, "
                f"in {spread - up:.1f} s"
            )
            with self._show:
                await self._stream()
                # Links keep their order: what was published before these has arrived when they have.
                await self._echo(1)
                self._draw(len(self._events))
            done = perf_counter()
        missing, extra = (
            len(expected.difference(self._found)),
            len(self._found) - len(expected.intersection(self._found)),
        )
        return OverlayResult(
            brokers=len(PLANS),
            links=links,
            deliveries=len(self._found),
            missing=missing,
            extra=extra,
            watched=sum(1 for event in self._events if any(f"'{event.get('sector')}'" in watch for watch in WATCHES)),
            notifications=self._notifications,
            start_seconds=up - started,
            subscribe_seconds=spread - up,
            seconds=done - spread,
        )

    def _subscribe(self) -> None:
        for number, condition in enumerate(self._alerts):
            self._clients[number % len(self._clients)].on(condition)(partial(self._matched, number))
        for place, (client, watch) in enumerate(zip(self._clients, WATCHES, strict=True)):
            client.on(watch)(partial(self._told, place))
            # The last one: who knows of it knows of all before.
            client.on(f"`demo echo` = {place}")(self._heard)

    async def _echo(self, turn: int) -> None:
        """Publish at each broker something for each, again and again, until all has come."""
        places = range(len(self._clients))
        wanted = {(turn, start, end) for start in places for end in places}
        until = perf_counter() + PATIENCE
        while missing := sorted(wanted - self._echoes):
            if perf_counter() > until:
                _, start, end = missing[0]
                raise InputError(f"no event came from broker b{start} to b{end} for {PATIENCE:g} seconds")
            for _, start, end in missing:
                await self._clients[start].publish({"demo echo": end, "turn": turn, "from": start})
            await asyncio.sleep(AGAIN if wanted - self._echoes else 0)

    async def _stream(self) -> None:
        ticks = max(1, int(TICKS * min(STREAM, len(self._events) / SLOWEST)))
        loop = asyncio.get_running_loop()
        start = loop.time()
        for tick, chunk in enumerate(_chunks(len(self._events), ticks), 1):
            sent = [
                self._clients[number % len(self._clients)].publish(self._events[number], id=f"event-{number}")
                for number in chunk
            ]
            await asyncio.gather(*sent)
            self._draw(chunk.stop)
            await asyncio.sleep(start + tick / TICKS - loop.time())

    def _draw(self, published: int) -> None:
        self._show.update(published, len(self._events), len(self._found), self._notifications)

    def _matched(self, alert: int, event: Event) -> None:
        # An alert may ask for what lacks an attribute: then it is met by an echo, too.
        if str(event.id).startswith("event-"):
            self._found.append((int(str(event.id).removeprefix("event-")), alert))
            self._show.match(alert % len(self._clients), alert, event)

    def _told(self, place: int, event: Event) -> None:
        self._notifications += 1
        self._show.notification(place, event)

    def _heard(self, event: Event) -> None:
        self._echoes.add((event["turn"], event["from"], event["demo echo"]))


def _chunks(total: int, count: int) -> Iterator[range]:
    cuts = [total * number // count for number in range(count + 1)]
    return (range(start, end) for start, end in pairwise(cuts))
