"""Lets every durable event get to the stores of all brokers, whatever breaks in between.

Each broker numbers the events that are published at it; it is their origin. All brokers store all events, of each
origin without gaps, and tell their neighbours up to which number they have them. A neighbour that has less is sent the
rest, in order, when the link comes up and whenever there is more. What came already is passed over. So whatever is lost
on a link, or with a broker before it was on disk, is sent again by somebody who still has it: nobody lets go of an
event before all stores of the overlay have it, and all brokers tell each other which these are.
"""

from collections import deque
from time import time
from typing import TYPE_CHECKING, Final

import msgspec

from tamis.server.changes import Entry, Member, Origin
from tamis.server.link import BEHIND, Handed, HandedEvent, Have, Link, Stores
from tamis.wire import frame

if TYPE_CHECKING:
    from tamis.server.durable import Durable
    from tamis.server.server import Server

#: So many bytes of each origin may be on their way to a neighbour, not confirmed; and so many events in one frame.
WINDOW: Final = 1 << 21
AT_ONCE: Final = 256
#: Seconds between two looks at what all stores have, and at what has become too old; at the longest between two words
#: about stores, even if nothing is new; and until events are asked for again that could not be written.
TICK: Final = 0.5
NEWS: Final = 30.0
RETRY: Final = 1.0


class Peer:
    """A neighbour with a store: what it has, and what is on its way to it."""

    def __init__(self, link: Link) -> None:
        self.link = link
        #: The id of its store, once it has said so.
        self.store = ""
        #: None until it has said what it has.
        self.vector: dict[str, int] | None = None
        self.told: dict[str, int] = {}
        self.flying: dict[str, deque[tuple[int, int]]] = {}
        self.bytes: dict[str, int] = {}
        #: The origins of which it has nothing, and was sent nothing.
        self.fresh: set[str] = set()
        #: Up to here it may have missed events because it was away for too long.
        self.missed: dict[str, int] = {}

    def confirm(self, origin: str, sequence: int) -> None:
        """It has the events of an origin up to here."""
        assert self.vector is not None
        self.vector[origin] = max(sequence, self.vector.get(origin, 0))
        self.told[origin] = max(sequence, self.told.get(origin, 0))
        flying = self.flying.get(origin)
        while flying and flying[0][0] <= sequence:
            self.bytes[origin] -= flying.popleft()[1]

    def begin(self, vector: dict[str, int]) -> None:
        """It says what it has, and wants to be sent the rest."""
        self.vector, self.told, self.flying, self.bytes, self.fresh = dict(vector), dict(vector), {}, {}, set()


class Handover:
    """What a broker does so that all stores get all durable events."""

    def __init__(self, server: "Server", durable: "Durable", origins: dict[str, Origin]) -> None:
        self._server = server
        self._durable = durable
        self._store = durable.store
        self._peers: dict[Link, Peer] = {}
        #: Of each origin, the last event that was taken, on disk or on its way there.
        self._received = dict(durable.have)
        self._stable = {origin: each.stable for origin, each in origins.items()}
        self._given_up = {origin: each.given_up for origin, each in origins.items()}
        #: All other stores of the overlay. Those that have been away for too long were last seen at 0.
        self._members = {member.id: member for member in durable.store.members()}
        for member in list(self._members.values()):
            if member.seen:
                # While this broker was away it could see nobody: all have their full time from now on.
                self._members[member.id] = msgspec.structs.replace(member, seen=time())
        self._changed: set[str] = set()
        self._is_news = True
        self._last_news = self._failed_at = 0.0

    # --- links -------------------------------------------------------------------------------------------

    def up(self, link: Link) -> None:
        """There is a link: say which stores there are, and what is here."""
        self._peers[link] = Peer(link)
        link.connection.say(self._stores())
        link.connection.say(Have(self._durable.have, anew=True))

    def down(self, link: Link) -> None:
        """A link is gone."""
        self._peers.pop(link, None)

    def take(self, link: Link, message: Have | Handed | Stores) -> None:
        """Take what a neighbour says."""
        peer = self._peers.get(link)
        if peer is None:
            return
        if isinstance(message, Handed):
            self._take_events(peer, message)
        elif isinstance(message, Have):
            self._take_vector(peer, message)
        else:
            self._take_stores(peer, message.members)

    def _take_vector(self, peer: Peer, message: Have) -> None:
        own = self._store.id
        member = self._members.get(peer.store)
        if message.vector.get(own, 0) > self._durable.have[own]:
            self._refuse(peer, self._server.name)
            return
        # What somebody once had, it has, unless its file was replaced.
        known = member.vector if message.anew and member is not None else {}
        if any(message.vector.get(origin, 0) < sequence for origin, sequence in known.items()):
            self._refuse(peer, peer.link.name)
            return
        if message.anew:
            peer.begin(message.vector)
        elif peer.vector is None:
            return
        else:
            for origin, sequence in message.vector.items():
                peer.confirm(origin, sequence)
        if member is not None and peer.vector is not None:
            self._merge(msgspec.structs.replace(member, seen=max(member.seen, time()), vector=peer.vector))
        for origin in self._durable.have if message.anew else message.vector:
            self._pump(peer, origin)

    def _refuse(self, peer: Peer, name: str) -> None:
        text = f"the store of {name} is older than what others know of it: begin with a new one"
        self._server.log.warning("store.conflict", reason=text)
        peer.link.connection.close("mismatch", text)

    def _take_events(self, peer: Peer, message: Handed) -> None:
        if not message.events:
            return
        if peer.vector is not None:
            peer.confirm(message.origin, message.events[-1].sequence)
        last = self._received.get(message.origin)
        unseen = 0
        if last is None and not message.first:
            self._server.counts["handed too early"] += 1
            return
        if last is None:
            # Whatever was before belongs to a time in which this broker was not part of the overlay.
            last = message.events[0].sequence - 1
            unseen = min(message.given_up, last)
        for event in message.events:
            if event.sequence <= last:
                continue
            if event.sequence > last + 1:
                if event.sequence - 1 > message.given_up:
                    # Somebody else has them still, or the disk could not be written: they will come.
                    self._server.counts["handed too early"] += 1
                    break
                unseen += event.sequence - 1 - last
            last = event.sequence
            entry = Entry(0, message.origin, last, event.id, bytes(event.content), event.trace)
            self._durable.handed(entry, unseen)
            unseen = 0
        self._received[message.origin] = last

    # --- events ------------------------------------------------------------------------------------------

    def stored(self, entries: list[Entry]) -> None:
        """Events are on disk now: pass them on, and say that they are here."""
        by_origin: dict[str, list[Entry]] = {}
        for entry in entries:
            by_origin.setdefault(entry.origin, []).append(entry)
        self._is_news |= bool(entries)
        own = self._store.id
        if own in by_origin:
            self._received[own] = self._durable.have[own]
        vector = {origin: self._durable.have[origin] for origin in by_origin if origin != own}
        for peer in self._peers.values():
            if vector:
                peer.link.connection.say(Have(vector))
            for origin, some in by_origin.items():
                if peer.vector is None:
                    continue
                fits = len(some) <= AT_ONCE and self._has_room(peer, origin)
                if fits and peer.told.get(origin) == some[0].sequence - 1:
                    self._send(peer, origin, some)
                else:
                    self._pump(peer, origin)

    def failed(self) -> None:
        """Events could not be written: have them sent again, but not at once."""
        self._received = dict(self._durable.have)
        self._changed |= self._members.keys()
        self._failed_at = time()

    def given_up(self, origins: dict[str, int]) -> None:
        """Events were given up that not all stores had."""
        for origin, sequence in origins.items():
            self._given_up[origin] = max(sequence, self._given_up.get(origin, 0))

    def _pump(self, peer: Peer, origin: str) -> None:
        """Send a neighbour what it does not have, as much as may be on its way."""
        if peer.vector is None or origin not in self._durable.have:
            return
        if origin not in peer.told:
            # It is new here: what everybody else has already does not concern it.
            peer.told[origin] = self._stable.get(origin, 0)
            peer.fresh.add(origin)
        while peer.told[origin] < self._durable.have[origin] and self._has_room(peer, origin):
            entries = self._store.of_origin(origin, peer.told[origin], AT_ONCE, WINDOW - peer.bytes.get(origin, 0))
            if not entries:
                break
            self._send(peer, origin, entries)

    def _has_room(self, peer: Peer, origin: str) -> bool:
        return peer.bytes.get(origin, 0) < WINDOW and peer.link.connection.waiting < BEHIND

    def _send(self, peer: Peer, origin: str, entries: list[Entry]) -> None:
        given_up = max(self._given_up.get(origin, 0), peer.missed.get(origin, 0))
        events = [HandedEvent(each.sequence, each.id, msgspec.Raw(each.content), each.trace) for each in entries]
        peer.link.connection.put(frame(Handed(origin, given_up, events, origin in peer.fresh)))
        peer.fresh.discard(origin)
        flying = peer.flying.setdefault(origin, deque())
        for entry in entries:
            flying.append((entry.sequence, len(entry.content)))
        peer.bytes[origin] = peer.bytes.get(origin, 0) + sum(len(each.content) for each in entries)
        peer.told[origin] = entries[-1].sequence

    # --- stores ------------------------------------------------------------------------------------------

    def _stores(self) -> Stores:
        now = time()
        own = Member(self._store.id, self._server.name, self._store.made, 0.0, self._durable.have)
        others = (member for member in self._members.values() if member.seen)
        # Clocks differ: what is told is how long ago somebody was seen.
        return Stores([own, *(msgspec.structs.replace(each, seen=now - each.seen) for each in others)])

    def _take_stores(self, peer: Peer, members: list[Member]) -> None:
        peer.store = members[0].id
        old = self._members.get(peer.store)
        if old is not None and not old.seen:
            peer.missed = dict(self._stable)
        known = set(self._members)
        now = time()
        for member in members:
            self._merge(msgspec.structs.replace(member, seen=now - member.seen))
        if self._members.keys() != known:
            self._tell_stores()
            self._durable.lazy.members += [each for id, each in self._members.items() if id not in known]
            self._durable.now()

    def _merge(self, member: Member) -> None:
        """Learn of a store, or more about it."""
        # Another store of this broker's name is one that it had before.
        if member.name == self._server.name or member.seen < time() - self._server.settings.store_age:
            return
        for other in list(self._members.values()):
            if other.name == member.name and other.id != member.id:
                if other.made > member.made:
                    return
                # That broker has lost its store and begun anew.
                self._forget(other.id)
        old = self._members.get(member.id)
        vector = dict(member.vector)
        if old is not None:
            for origin, sequence in old.vector.items():
                vector[origin] = max(sequence, vector.get(origin, 0))
            self._is_news |= vector != old.vector
            member = msgspec.structs.replace(member, seen=max(old.seen, member.seen))
        self._members[member.id] = msgspec.structs.replace(member, vector=vector)
        self._changed.add(member.id)

    def _forget(self, id: str) -> None:
        del self._members[id]
        self._changed.discard(id)
        self._durable.lazy.forgotten.append(id)
        self._durable.soon()

    def _tell_stores(self) -> None:
        message = frame(self._stores())
        for peer in self._peers.values():
            peer.link.connection.put(message)
        self._is_news = False
        self._last_news = time()

    def tick(self, now: float) -> None:
        """See what has become stable, and tell the neighbours what all stores have."""
        lazy = self._durable.lazy
        age = self._server.settings.store_age
        for peer in self._peers.values():
            if peer.store in self._members:
                self._members[peer.store] = msgspec.structs.replace(self._members[peer.store], seen=now)
        for member in list(self._members.values()):
            if member.seen and member.seen < now - age:
                self._server.log.warning("store.away", broker=member.name)
                self._members[member.id] = msgspec.structs.replace(member, seen=0.0)
                self._changed.add(member.id)
        for origin, have in self._durable.have.items():
            vectors = [member.vector.get(origin, 0) for member in self._members.values() if member.seen]
            stable = min([have, *vectors])
            if stable > self._stable.get(origin, 0):
                self._stable[origin] = lazy.stable[origin] = stable
                self._is_news = True
        if self._is_news or now - self._last_news > min(NEWS, age / 4):
            self._tell_stores()
        if self._changed:
            lazy.members += [self._members[id] for id in self._changed]
            self._changed.clear()
        if lazy:
            self._durable.soon()
        again = self._failed_at and now - self._failed_at > RETRY
        for peer in self._peers.values():
            if again:
                peer.link.connection.say(Have(self._durable.have, anew=True))
            for origin in self._durable.have:
                self._pump(peer, origin)
        if again:
            self._failed_at = 0.0
