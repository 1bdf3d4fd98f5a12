"""The durable side of a broker: events on disk before they are acknowledged, and kept until they are.

Everything that is asked for while the disk is busy is written together next (group commit), by a thread of its own,
and answered after that, in order.
"""

import asyncio
from collections import Counter
from concurrent.futures import ThreadPoolExecutor
from contextlib import suppress
from time import time
from typing import TYPE_CHECKING, Any, Final

from tamis.recent import REMEMBERED, Recent
from tamis.routing.conditions import asked
from tamis.routing.messages import Publish
from tamis.routing.packets import Event
from tamis.server.changes import Changes, Entry, GivenUp, Kept
from tamis.server.consumer import Consumer, Done, KeptTaker
from tamis.server.guest import PUBLISHERS
from tamis.server.handover import TICK, Handover
from tamis.server.requests import Ending, HandedOver, Publishing, Request, Subscribing, Subscription
from tamis.server.store import Store, StoreError
from tamis.server.wishes import Wishes
from tamis.wire import ENCODER, Code, Decoder, ProtocolError

if TYPE_CHECKING:
    from tamis.server.server import Server

#: A broker has at most so many durable subscriptions.
MAX_KEPT: Final = 1 << 17
#: Acknowledgements of consumers are written with whatever else is, or so many seconds later.
LAZY: Final = 0.1

_decode: Final = Decoder(dict[str, Any])


class Durable:
    """What a broker with a store does beyond routing. Whoever is told of anything here is told in the broker's thread.

    An event that is published durably is on disk when `done` is called, and then goes to ordinary subscribers by
    routing, to durable ones of this broker, and to the stores of all other brokers (`Handover`).
    """

    def __init__(self, server: "Server", store: Store) -> None:
        self._server = server
        self.store = store
        self._loop = asyncio.get_running_loop()
        self._thread = ThreadPoolExecutor(1, "tamis store")
        origins = store.origins()
        #: Of each origin, how many of its events have been stored here.
        self.have: dict[str, int] = {origin: each.have for origin, each in origins.items()}
        self.have.setdefault(store.id, 0)
        self._position = store.position()
        self._last_number = store.last_number()
        #: The last ids that were published here.
        self._ids: Recent[str] = Recent(store.last_ids(store.id, REMEMBERED))
        self._subscriptions: dict[int, Subscription] = {}
        self._named: dict[tuple[str, str], Subscription] = {}
        #: How many of them each subject has.
        self._owned: Counter[str] = Counter()
        self._wishes = Wishes()
        for kept in store.subscriptions():
            self._restore(kept)
        #: What is to be written next: in order, and at leisure.
        self._requests: list[Request] = []
        self._lazy = Changes()
        self._writing = self._scheduled = self._failing = self._is_untidy = False
        self._future: asyncio.Future[tuple[StoreError | None, GivenUp | None]] | None = None
        self._timer: asyncio.TimerHandle | None = None
        self.handover = Handover(server, self, origins)
        self._task = self._loop.create_task(self._tick())

    def _restore(self, kept: Kept) -> None:
        self._subscriptions[kept.number] = subscription = Subscription(kept)
        self._named[kept.owner, kept.name] = subscription
        self._owned[kept.owner] += 1
        self._wishes.add(kept.number, kept.condition, self.store.told(kept.number))

    async def stop(self) -> None:
        """Write what is left, and close the store."""
        self._task.cancel()
        with suppress(asyncio.CancelledError):
            await self._task
        self._begin()
        while self._future is not None and self._writing:
            await asyncio.wait([self._future])
            await asyncio.sleep(0)  # what is done then may have more to write
        if self._timer is not None:
            self._timer.cancel()
        self._thread.shutdown()
        self.store.close()

    @property
    def is_failing(self) -> bool:
        """Whether the store could not be written the last time."""
        return self._failing

    def __len__(self) -> int:
        """Return how many durable subscriptions there are."""
        return len(self._subscriptions)

    # --- for guests --------------------------------------------------------------------------------------

    def publish(self, id: str, content: dict[str, Any], trace: str | None, done: Done) -> None:
        """Store an event and pass it on. An id that was stored here lately is not stored again."""
        self._ask(Publishing(id, content, ENCODER.encode(content), trace, done))

    def check_room(self, owner: str, name: str, most: int) -> None:
        """Raise `ProtocolError` if a subject that may have so many durable subscriptions may not have this one."""
        if self._owned[owner] >= most and (owner, name) not in self._named:
            raise ProtocolError("too-many", f"a client has at most {most:,} subscriptions, durable ones among them")

    def subscribe(self, owner: str, name: str, condition: str, taker: KeptTaker, window: int, done: Done) -> Consumer:
        """Let somebody take the events of a durable subscription, which is made unless it is there.

        A condition that is none is an `ExpressionError`. If the subscription has another condition, this one takes its
        place; of the events kept so far, those come that meet both. Whoever has taken the events so far is told that
        it does not any more.
        """
        asked(condition)
        if len(self._subscriptions) >= MAX_KEPT and (owner, name) not in self._named:
            raise ProtocolError("too-many", f"this broker has {MAX_KEPT:,} durable subscriptions, and takes no more")
        consumer = Consumer(self, taker, window)
        self._ask(Subscribing(owner, name, condition, consumer, done))
        return consumer

    def unsubscribe(self, consumer: Consumer, done: Done) -> None:
        """End a subscription for good: its events are kept no longer."""
        if consumer.subscription is None and not consumer.is_over:
            consumer.ending = done
        else:
            self._ask(Ending(consumer, done))

    def leave(self, consumer: Consumer) -> None:
        """Let somebody take no more events; the subscription stays."""
        consumer.is_over = True
        subscription = consumer.subscription
        if subscription is not None and subscription.consumer is consumer:
            subscription.consumer = None

    def acknowledged(self, subscription: Subscription, position: int) -> None:
        """A consumer has dealt with all events up to a position."""
        subscription.acknowledged = position
        self._lazy.acknowledged[subscription.number] = position
        self.soon()

    # --- for the hand-over -------------------------------------------------------------------------------

    def handed(self, entry: Entry, unseen: int) -> None:
        """Store an event of another broker; its position is given when it is written."""
        self._ask(HandedOver(entry, unseen))

    @property
    def lazy(self) -> Changes:
        """What is written with whatever is written next; call `soon` after a change."""
        return self._lazy

    def soon(self) -> None:
        """Write at leisure."""
        if self._timer is None and not self._scheduled:
            self._timer = self._loop.call_later(LAZY, self._begin)

    def now(self) -> None:
        """Write at the end of this tick, or when the disk is idle again."""
        if not self._writing and not self._scheduled:
            self._scheduled = True
            self._loop.call_soon(self._begin)

    # --- writing -----------------------------------------------------------------------------------------

    def _ask(self, request: Request) -> None:
        self._requests.append(request)
        self.now()

    def _begin(self) -> None:
        """Hand all that is to be written to the thread, unless that is at work."""
        self._scheduled = False
        if self._timer is not None:
            self._timer.cancel()
            self._timer = None
        if self._writing:
            return
        requests, self._requests = self._requests, []
        changes, self._lazy = self._lazy, Changes()
        prepared = [self._prepare(request, changes) for request in requests]
        if not changes and not self._is_untidy:
            self._done(requests, prepared)
            return

        def done(future: "asyncio.Future[tuple[StoreError | None, GivenUp | None]]") -> None:
            self._writing = False
            error, given_up = future.result()
            if error is None:
                self._written(requests, prepared, changes)
            else:
                self._failed(requests, prepared, changes, error)
            if given_up is not None:
                self._count_given_up(given_up)
            if self._requests:
                self._begin()
            elif self._lazy:
                self.soon()

        settings = self._server.settings
        kept = (time() - settings.store_age, settings.store_size) if self._is_untidy else None
        self._is_untidy, self._writing = False, True
        self._future = self._loop.run_in_executor(self._thread, _write, self.store, changes, kept)
        self._future.add_done_callback(done)

    def _prepare(self, request: Request, changes: Changes) -> Entry | Subscription | None:
        """Note what a request changes; return what it is about."""
        if isinstance(request, Publishing):
            if not self._ids.add(request.id):
                return None
            own = self.store.id
            entry = Entry(0, own, changes.have.get(own, self.have[own]) + 1, request.id, request.data, request.trace)
            return self._append(changes, entry, request.content)
        if isinstance(request, HandedOver):
            changes.unseen += request.unseen
            return self._append(changes, request.entry, None)
        if isinstance(request, Subscribing):
            return self._prepare_subscription(request, changes)
        subscription = request.consumer.subscription
        if subscription is None or subscription.consumer is not request.consumer:
            return None
        changes.ended.append(subscription.number)
        self._forget(subscription)
        return subscription

    def _append(self, changes: Changes, entry: Entry, content: dict[str, Any] | None) -> Entry:
        entry = entry._replace(position=self._position + len(changes.entries) + 1)
        changes.entries.append(entry)
        changes.have[entry.origin] = entry.sequence
        if self._wishes:
            try:
                found, told = self._wishes.met_by(content or _decode(entry.content), entry.position)
            except ProtocolError:  # a neighbour has made this up
                self._server.counts["refused events"] += 1
                return entry
            changes.wanted += [(number, entry.position) for number in found]
            changes.told.update({(each.subscription, each.key): each for each in told})
        return entry

    def _prepare_subscription(self, request: Subscribing, changes: Changes) -> Subscription:
        subscription = self._named.get((request.owner, request.name))
        if subscription is None:
            self._last_number += 1
            kept = Kept(self._last_number, request.owner, request.name, request.condition)
            changes.subscriptions.append(kept)
            self._restore(kept)
            return self._subscriptions[kept.number]
        if subscription.condition != request.condition:
            subscription.condition = request.condition
            changes.subscriptions.append(Kept(subscription.number, request.owner, request.name, request.condition))
            changes.told = {key: told for key, told in changes.told.items() if key[0] != subscription.number}
            self._wishes.discard(subscription.number)
            self._wishes.add(subscription.number, request.condition)
        return subscription

    def _forget(self, subscription: Subscription) -> None:
        self._wishes.discard(subscription.number)
        self._subscriptions.pop(subscription.number, None)
        if self._named.pop((subscription.owner, subscription.name), None) is not None:
            self._owned[subscription.owner] -= 1

    def _written(self, requests: list[Request], prepared: list[Entry | Subscription | None], changes: Changes) -> None:
        if self._failing and changes:
            self._failing = False
            self._server.log.info("store.written")
        if changes.entries:
            self._position = changes.entries[-1].position
        self.have.update(changes.have)
        self._count_unseen(changes.unseen)
        self._done(requests, prepared)
        first = self._position - len(changes.entries) + 1
        for number, position in changes.wanted:
            subscription = self._subscriptions.get(number)
            if subscription is not None and subscription.consumer is not None:
                subscription.consumer.offer(changes.entries[position - first])
        self.handover.stored(changes.entries)

    def _done(self, requests: list[Request], prepared: list[Entry | Subscription | None]) -> None:
        """Let everybody know who has asked."""
        for request, about in zip(requests, prepared, strict=True):
            if isinstance(request, Publishing):
                if about is not None:
                    event = Event(request.id, request.content, request.trace)
                    self._server.runner.tell(Publish(PUBLISHERS, event))
                request.done(None)
            elif isinstance(request, Subscribing):
                assert isinstance(about, Subscription)
                request.done(None)
                self._attach(request.consumer, about)
            elif isinstance(request, Ending):
                request.consumer.is_over = True
                if isinstance(about, Subscription):
                    about.consumer = None
                request.done(None)

    def _attach(self, consumer: Consumer, subscription: Subscription) -> None:
        if consumer.is_over:
            return
        old = subscription.consumer
        if old is not None:
            old.is_over = True
            old.taker.end("taken", f"another client takes the events of {subscription.name!r} now")
        subscription.consumer = consumer
        consumer.begin(subscription)
        if consumer.ending is not None:
            self._ask(Ending(consumer, consumer.ending))

    def _failed(
        self, requests: list[Request], prepared: list[Entry | Subscription | None], changes: Changes, error: StoreError
    ) -> None:
        """Nothing was written: let memory agree with the disk, and everybody know who has asked."""
        code: Code = "store-full" if error.full else "store-failed"
        if not self._failing:
            self._failing = True
            self._server.log.error("store.failed", reason=str(error))
        self._server.counts["store failures"] += 1
        touched = {kept.number for kept in changes.subscriptions} | {number for number, _ in changes.told}
        there = {kept.number: kept for kept in self.store.subscriptions()} if touched or changes.ended else {}
        for number in touched | set(changes.ended):
            self._undo(number, there.get(number))
        for number, position in changes.acknowledged.items():
            self._lazy.acknowledged.setdefault(number, position)
        for origin, stable in changes.stable.items():
            self._lazy.stable.setdefault(origin, stable)
        self._lazy.forgotten += changes.forgotten
        # What other brokers have sent since goes too: they will send it again, in order.
        self._requests = [request for request in self._requests if not isinstance(request, HandedOver)]
        self.handover.failed()
        for request, about in zip(requests, prepared, strict=True):
            if isinstance(request, Publishing):
                self._ids.discard(request.id)
            if isinstance(request, Subscribing) and isinstance(about, Subscription) and self._stands(request, about):
                # This needed no disk, and whoever takes events makes room.
                request.done(None)
                self._attach(request.consumer, about)
            elif not isinstance(request, HandedOver):
                request.done(ProtocolError(code, str(error)))

    def _stands(self, request: Subscribing, subscription: Subscription) -> bool:
        held = self._named.get((request.owner, request.name))
        return held is subscription and held.condition == request.condition

    def _undo(self, number: int, kept: Kept | None) -> None:
        old = self._subscriptions.get(number)
        self._wishes.discard(number)
        if kept is None:
            if old is not None:
                self._forget(old)
        elif old is None:
            self._restore(kept)
        else:
            old.condition = kept.condition
            self._wishes.add(number, kept.condition, self.store.told(number))

    # --- what goes on by itself --------------------------------------------------------------------------

    async def _tick(self) -> None:
        while True:
            await asyncio.sleep(TICK)
            try:
                self._tidy()
            except Exception as error:  # noqa: BLE001 - without this nothing would ever go from the disk again
                self._server.log.error("store.stumbled", reason=repr(error))

    def _tidy(self) -> None:
        self.handover.tick(time())
        if self._failing and not self._writing:
            # Somebody has to find out when the disk can be written again.
            self._lazy.have.setdefault(self.store.id, self.have[self.store.id])
        self._is_untidy = True
        self._begin()

    def _count_given_up(self, found: GivenUp) -> None:
        for number, events in found.events.items():
            subscription = self._subscriptions.get(number)
            if subscription is not None:
                subscription.given_up += events
                subscription.tell_given_up()
        self.handover.given_up(found.origins)
        lost = sum(found.events.values())
        if lost:
            self._server.counts["given up"] += lost
            self._server.log.warning("store.given_up", events=lost)

    def _count_unseen(self, events: int) -> None:
        if events:
            self._server.counts["given up unseen"] += events
            self._server.log.warning("store.given_up_elsewhere", events=events)
            for subscription in self._subscriptions.values():
                subscription.unseen += events
                subscription.tell_given_up()

    def check_invariants(self) -> None:
        """Raise `AssertionError` if something does not fit together; while nothing is written."""
        self.store.check_invariants()
        on_disk = {kept.number: kept for kept in self.store.subscriptions()}
        assert on_disk.keys() == self._subscriptions.keys()
        assert {(each.owner, each.name): each for each in self._subscriptions.values()} == self._named
        assert +self._owned == Counter(owner for owner, _ in self._named)
        assert len(self._wishes) == len(self._subscriptions)
        for number, subscription in self._subscriptions.items():
            assert subscription.condition == on_disk[number].condition
            assert (subscription.given_up, subscription.unseen) == on_disk[number][4:]


def _write(store: Store, changes: Changes, kept: tuple[float, int] | None) -> tuple[StoreError | None, GivenUp | None]:
    """Write changes; if that fails, at least what makes room. Then give up what came too early, or is too much."""
    failed: StoreError | None = None
    try:
        if changes:
            store.write(changes)
    except Exception as error:  # noqa: BLE001 - whatever it is, those who wait must be told
        failed = error if isinstance(error, StoreError) else StoreError(f"the store cannot be written: {error!r}")
        with suppress(StoreError):
            store.write(changes.releasing())
    if kept is not None:
        with suppress(StoreError):
            store.forget_keys()
            return failed, store.give_up(*kept)
    return failed, None
