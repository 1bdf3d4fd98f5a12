"""Subscriptions that live at the broker without a connection, in memory: their events wait until they are fetched."""

import asyncio
import secrets
from collections import Counter, OrderedDict
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from typing import TYPE_CHECKING, Annotated, Final

import msgspec

from tamis.server.guest import Guest
from tamis.server.rights import Rights
from tamis.server.traffic import Traffic
from tamis.server.web.mailbox import Ending, Mailbox
from tamis.wire import MAX_NAME, Code, ProtocolError, Slow

if TYPE_CHECKING:
    from tamis.server.server import Server

#: So many are kept at a time, for all guests together.
MAX_KEPT: Final = 10_000
#: So many events may wait for one, at most and unless asked otherwise, and so many bytes.
MAX_QUEUE: Final = 10_000
DEFAULT_QUEUE: Final = 1_000
MAX_BYTES: Final = 1 << 24
#: A subscription of which nobody has fetched anything for so many seconds ends: unless asked otherwise, at most, and
#: at least.
EXPIRES: Final = 300.0
MAX_EXPIRES: Final = 86_400.0
MIN_EXPIRES: Final = 10.0
#: Of so many that have ended it is known why.
REMEMBERED: Final = 1_000


class Wanted(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """What is asked for: a condition, and what happens to events that nobody fetches."""

    condition: str
    #: What people call it.
    name: Annotated[str, msgspec.Meta(max_length=MAX_NAME)] = ""
    queue: Annotated[int, msgspec.Meta(ge=1, le=MAX_QUEUE)] = DEFAULT_QUEUE
    slow: Slow = "drop-oldest"
    #: It ends when nobody has fetched for so many seconds.
    expires: Annotated[float, msgspec.Meta(ge=MIN_EXPIRES, le=MAX_EXPIRES)] = EXPIRES


class Shown(msgspec.Struct, frozen=True):
    """A subscription as it is shown."""

    id: str
    condition: str
    name: str
    queue: int
    slow: Slow
    expires: float
    #: So many events wait that nobody has fetched, and so many were dropped.
    waiting: int
    dropped: int


class Kept:
    """One subscription."""

    def __init__(self, id: str, wanted: Wanted, guest: Guest, traffic: Traffic) -> None:
        self.id = id
        self.wanted = wanted
        self.mailbox = Mailbox(wanted.queue, wanted.slow, traffic, "http", MAX_BYTES)
        self.guest = guest
        self.number = guest.subscribe(wanted.condition, self.mailbox.taker(wanted.condition))
        self.fetching = 0
        self.timer: asyncio.TimerHandle | None = None

    @property
    def owner(self) -> str:
        """The token of whoever made it, as a hash; empty where nobody is asked for one."""
        return self.guest.rights.key

    def shown(self) -> Shown:
        """Return it as it is shown."""
        wanted, mailbox = self.wanted, self.mailbox
        fixed = wanted.condition, wanted.name, wanted.queue, wanted.slow, wanted.expires
        return Shown(self.id, *fixed, len(mailbox), mailbox.dropped)


class KeptSubscriptions:
    """All of them. Who asks sees those of its own token only, and of those of others not even that they are there."""

    def __init__(self, server: "Server") -> None:
        self._server = server
        self._kept: dict[str, Kept] = {}
        #: By token: all subscriptions of one are of one guest.
        self._guests: dict[str, Guest] = {}
        self._counts: Counter[str] = Counter()
        self._ended: OrderedDict[str, tuple[str, Ending]] = OrderedDict()

    def __len__(self) -> int:
        return len(self._kept)

    def __iter__(self) -> Iterator[Kept]:
        return iter(list(self._kept.values()))

    def add(self, rights: Rights, wanted: Wanted) -> Kept:
        """Keep a subscription; a condition that is none is an `ExpressionError`."""
        if len(self._kept) >= MAX_KEPT:
            raise ProtocolError("too-many", f"{MAX_KEPT:,} subscriptions are kept, and no more")
        guest = self._guests.get(rights.key)
        if guest is None:
            guest = Guest(self._server, "http", rights, lambda code, text: self._dismissed(rights.key, code, text))
            self._guests[rights.key] = guest
        try:
            kept = Kept(secrets.token_urlsafe(12), wanted, guest, self._server.traffic)
            self._kept[kept.id] = kept
            self._counts[rights.key] += 1
            self._wait(kept)
        finally:
            self._leave_if_last(guest)
        return kept

    def owned(self, rights: Rights) -> list[Kept]:
        """Return those of one token, the oldest first."""
        return [each for each in self._kept.values() if each.owner == rights.key]

    def get(self, rights: Rights, id: str) -> Kept:
        """Return one; where there is none, or it has ended, is a `ProtocolError` that says why."""
        kept = self._kept.get(id)
        if kept is not None and kept.owner == rights.key:
            if kept.mailbox.ending is None:
                return kept
            self.end(kept, kept.mailbox.ending)
        ended = self._ended.get(id)
        if ended is not None and ended[0] == rights.key:
            raise ProtocolError(ended[1].code, ended[1].message)
        raise ProtocolError("unknown-subscription", f"there is no subscription {id!r}"[:MAX_NAME])

    def end(self, kept: Kept, ending: Ending | None = None) -> None:
        """Let one end, and remember why unless its owner wanted it so."""
        del self._kept[kept.id]
        self._counts[kept.owner] -= 1
        if kept.timer is not None:
            kept.timer.cancel()
        with suppress(KeyError):
            # A guest that was dismissed has none any more.
            kept.guest.unsubscribe(kept.number)
        if ending is not None:
            self._ended[kept.id] = kept.owner, ending
            if len(self._ended) > REMEMBERED:
                self._ended.popitem(last=False)
        kept.mailbox.end("unknown-subscription", "the subscription was taken back")
        kept.mailbox.close()
        self._leave_if_last(kept.guest)

    def _leave_if_last(self, guest: Guest) -> None:
        if not self._counts[guest.rights.key]:
            del self._counts[guest.rights.key]
            guest.leave()
            if self._guests.get(guest.rights.key) is guest:
                del self._guests[guest.rights.key]

    def _dismissed(self, key: str, code: Code, message: str) -> None:
        del self._guests[key]
        for kept in self:
            if kept.owner == key:
                kept.mailbox.end(code, message)
                self.end(kept, Ending(code, message))

    @contextmanager
    def fetching(self, kept: Kept) -> Iterator[None]:
        """Somebody fetches: the subscription does not end meanwhile, and its time begins anew afterwards."""
        kept.fetching += 1
        try:
            yield
        finally:
            kept.fetching -= 1
            self._wait(kept)

    def _wait(self, kept: Kept) -> None:
        if kept.timer is not None:
            kept.timer.cancel()
        if kept.id in self._kept:
            kept.timer = asyncio.get_running_loop().call_later(kept.wanted.expires, self._expire, kept)

    def _expire(self, kept: Kept) -> None:
        if not kept.fetching and self._kept.get(kept.id) is kept:
            text = f"nobody has fetched its events for {kept.wanted.expires:g} seconds"
            self.end(kept, kept.mailbox.ending or Ending("idle", text))

    def stop(self) -> None:
        """Let all end: the broker stops."""
        for kept in self:
            self.end(kept)
