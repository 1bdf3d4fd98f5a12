"""What clients must get, kept beside the brokers and independent of them: the judge of every delivery."""

from collections.abc import Mapping
from typing import Any

from tamis.language import Notify
from tamis.routing.conditions import Asked, parsed
from tamis.routing.packets import Event, Name
from tamis.routing.table import Table
from tamis.simulation.wish import Wish


class Fate:
    """One event: when and where it was published, who waits for it, who has got it, and which brokers saw it."""

    __slots__ = ("brokers", "due", "got", "number", "reasons", "source", "time", "waiting")

    def __init__(self, number: int, time: float, source: Name, waiting: dict[Name, bool]) -> None:
        self.number = number
        self.time = time
        self.source = source
        #: Who wanted it when it was published and has not got it; False if it no longer has to.
        self.waiting = waiting
        #: How many have to get it and have not.
        self.due = len(waiting)
        self.got: dict[Name, None] = {}
        #: The brokers that it reached over a link, and whether it was of use there.
        self.brokers: dict[Name, bool] = {}
        #: Of clients whose clauses it met when it was published: whether each of them makes it due, whatever else is on
        #: its way; under None, whether a plain subscription does.
        self.reasons: dict[Name, dict[Wish | None, bool]] = {}


class Reference:
    """What every client wants, and for each event who has to get it.

    A subscription counts from when it was made until it is taken back. Whoever wants an event when it is published,
    and goes on wanting it, has to get it, wherever it is: also if its broker is down or out of reach. Whoever wants it
    neither when it is published nor when it is delivered must not get it.

    A subscription with a `notify` clause wants what is far enough from the value that it was told last. That value is
    known, since it was delivered; so whatever is delivered is judged exactly, in whichever order events arrive. What is
    not delivered can be held back rightly if some value told since its publication, and before the overlay was quiet,
    was near: only if none was, it is missing. One event at a time is thus judged exactly, and there is no false alarm
    otherwise. A broker that starts anew has told nothing.
    """

    def __init__(self) -> None:
        #: Plain subscriptions, and those with a clause.
        self.wanted = Table()
        self.wishes: dict[Name, dict[Asked, Wish]] = {}
        self.fates: dict[Name, Fate] = {}
        #: How many deliveries there must be, and how many of them have not been made.
        self.expected = 0
        self.missed = 0
        #: How many there were that nobody wanted, and how many of what was delivered already.
        self.false_positives = 0
        self.duplicates = 0
        self._open: dict[Name, Mapping[str, Any]] = {}
        self._met: Table[Wish] = Table()
        #: Since the last quiet: events that met clauses, and wishes that were taken back, after so many events.
        self._unsettled: dict[Name, Mapping[str, Any]] = {}
        self._past: dict[Wish, int] = {}

    def missing(self) -> list[tuple[Name, Name]]:
        """Return who has not got which event."""
        return [(client, event) for event in self._open for client, due in self.fates[event].waiting.items() if due]

    def held_by(self, client: Name) -> list[str]:
        """Return all subscriptions of a client."""
        return [*self.wanted.held_by(client), *map(str, self.wishes.get(client, ()))]

    def subscribe(self, client: Name, condition: str, notify: Notify | None = None) -> None:
        """Let a client want something."""
        if notify is None:
            self.wanted.add(client, condition)
            return
        held = self.wishes.setdefault(client, {})
        if Asked(condition, notify) not in held:
            wish = held[Asked(condition, notify)] = Wish(client, condition, notify, len(self.fates))
            self._met.add(wish, condition)

    def unsubscribe(self, client: Name, condition: str, notify: Notify | None = None) -> bool:
        """Let a client no longer want something; return whether it had wanted it."""
        if notify is None:
            held = self.wanted.remove(client, condition)
        else:
            wish = self.wishes.get(client, {}).pop(Asked(condition, notify), None)
            held = wish is not None
            if wish is not None:
                self._forget(wish)
        self._excuse(client)
        return held

    def leave(self, client: Name) -> None:
        """Let a client no longer want anything."""
        self.wanted.drop(client)
        for wish in self.wishes.pop(client, {}).values():
            self._forget(wish)
        self._excuse(client)

    def restart(self, client: Name) -> None:
        """Take note that the broker of a client has forgotten everything."""
        for wish in self.wishes.get(client, {}).values():
            wish.restart(len(self.fates))

    def settle(self) -> None:
        """Take note that nothing is on its way any more."""
        self._unsettled.clear()
        self._past.clear()

    def publish(self, time: float, source: Name, event: Event) -> None:
        """Note who has to get an event."""
        waiting = dict.fromkeys(self.wanted.interested(event.content), True)
        fate = self.fates[event.id] = Fate(len(self.fates) + 1, time, source, waiting)
        for wish in self._met.interested(event.content):
            reasons = fate.reasons.setdefault(wish.client, {None: wish.client in waiting})
            reasons[wish] = wish.must_tell(event.content)
            self._unsettled[event.id] = event.content
        waiting.update((client, True) for client, reasons in fate.reasons.items() if any(reasons.values()))
        fate.due = len(waiting)
        if fate.due:
            self.expected += fate.due
            self.missed += fate.due
            self._open[event.id] = event.content

    def deliver(self, client: Name, event: Event) -> Fate | None:
        """Judge a delivery: return the event's fate, or None if the client should not have got it."""
        fate = self.fates[event.id]
        if client in fate.got:
            self.duplicates += 1
            return None
        is_waiting = fate.waiting.pop(client, None)
        if is_waiting:
            self._less_due(event.id, fate)
        may = client in self.wishes and self._tell(client, event.content, fate.number)
        if is_waiting is None and not self._wants(client, event.content):
            if not may and not self._was_held(client, event.content, fate.number):
                self.false_positives += 1
                return None
            self.expected += 1
        fate.got[client] = None
        return fate

    def _wants(self, client: Name, content: Mapping[str, Any]) -> bool:
        return any(parsed(condition).matches(content) for condition in self.wanted.held_by(client))

    def _less_due(self, event: Name, fate: Fate) -> None:
        self.missed -= 1
        fate.due -= 1
        if not fate.due:
            del self._open[event]

    def _forget(self, wish: Wish) -> None:
        wish.is_held = False
        self._past[wish] = len(self.fates)
        self._met.remove(wish, wish.condition)

    def _was_held(self, client: Name, content: Mapping[str, Any], number: int) -> bool:
        """Say whether an event was on its way while a client held a wish for it that it has taken back since."""
        return any(
            wish.client == client and number <= until and parsed(wish.condition).matches(content)
            for wish, until in self._past.items()
        )

    def _tell(self, client: Name, content: Mapping[str, Any], number: int) -> bool:
        """Let the wishes of a client be told of an event; return whether one of them may be the reason."""
        met = [wish for wish in self.wishes[client].values() if parsed(wish.condition).matches(content)]
        may = any([wish.tell(content, number) for wish in met])  # noqa: C419 - all of them are told
        for event, other in self._unsettled.items():
            fate = self.fates[event]
            for wish, is_due in fate.reasons.get(client, {}).items():
                if is_due and wish is not None and not wish.must_tell(other):
                    fate.reasons[client][wish] = False
            if fate.waiting.get(client) and not any(fate.reasons.get(client, {None: True}).values()):
                del fate.waiting[client]
                self.expected -= 1
                self._less_due(event, fate)
        return may

    def _excuse(self, client: Name) -> None:
        """Expect no event any more that a client has not got and no longer wants."""
        for event, content in list(self._open.items()):
            fate = self.fates[event]
            if fate.waiting.get(client):
                reasons = fate.reasons.setdefault(client, {None: True})
                for reason in reasons:
                    held = self._wants(client, content) if reason is None else reason.is_held
                    reasons[reason] = reasons[reason] and held
                if not any(reasons.values()):
                    fate.waiting[client] = False
                    self.expected -= 1
                    self._less_due(event, fate)

    def check_invariants(self) -> None:
        """Raise `AssertionError` if something does not fit together."""
        self.wanted.check_invariants()
        self._met.check_invariants()
        assert {wish for held in self.wishes.values() for wish in held.values()} == {
            wish for wish, _ in self._met.pairs()
        }
        assert self._open.keys() == {event for event, fate in self.fates.items() if fate.due}
        assert self.missed == len(self.missing()) <= self.expected
        for fate in self.fates.values():
            assert fate.due == sum(fate.waiting.values())
            assert not fate.waiting.keys() & fate.got.keys()
