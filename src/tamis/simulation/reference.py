"""What clients must get, kept beside the brokers and independent of them: the judge of every delivery."""

from collections.abc import Mapping
from typing import Any

from tamis.routing.conditions import parsed
from tamis.routing.packets import Event, Name
from tamis.routing.table import Table


class Fate:
    """One event: when and where it was published, who waits for it, who has got it, and which brokers saw it."""

    __slots__ = ("brokers", "due", "got", "source", "time", "waiting")

    def __init__(self, time: float, source: Name, waiting: dict[Name, bool]) -> None:
        self.time = time
        self.source = source
        #: Who wanted it when it was published and has not got it; False if it no longer has to.
        self.waiting = waiting
        #: How many have to get it and have not.
        self.due = len(waiting)
        self.got: dict[Name, None] = {}
        #: The brokers that it reached over a link, and whether it was of use there.
        self.brokers: dict[Name, bool] = {}


class Reference:
    """What every client wants, and for each event who has to get it.

    A subscription counts from when it was made until it is taken back. Whoever wants an event when it is published,
    and goes on wanting it, has to get it, wherever it is: also if its broker is down or out of reach. Whoever wants it
    neither when it is published nor when it is delivered must not get it.
    """

    def __init__(self) -> None:
        self.wanted = Table()
        self.fates: dict[Name, Fate] = {}
        #: How many deliveries there must be, and how many of them have not been made.
        self.expected = 0
        self.missed = 0
        #: How many there were that nobody wanted, and how many of what was delivered already.
        self.false_positives = 0
        self.duplicates = 0
        self._open: dict[Name, Mapping[str, Any]] = {}

    def missing(self) -> list[tuple[Name, Name]]:
        """Return who has not got which event."""
        return [(client, event) for event in self._open for client, due in self.fates[event].waiting.items() if due]

    def unsubscribe(self, client: Name, condition: str) -> bool:
        """Let a client no longer want something; return whether it had wanted it."""
        held = self.wanted.remove(client, condition)
        self._excuse(client)
        return held

    def leave(self, client: Name) -> None:
        """Let a client no longer want anything."""
        self.wanted.drop(client)
        self._excuse(client)

    def publish(self, time: float, source: Name, event: Event) -> None:
        """Note who has to get an event."""
        fate = Fate(time, source, dict.fromkeys(self.wanted.interested(event.content), True))
        self.fates[event.id] = fate
        if fate.due:
            self.expected += fate.due
            self.missed += fate.due
            self._open[event.id] = event.content

    def deliver(self, client: Name, event: Event) -> Fate | None:
        """Judge a delivery: return the event's fate, or None if the client should not have got it."""
        fate = self.fates[event.id]
        if client in fate.waiting:
            if fate.waiting.pop(client):
                self._less_due(event.id, fate)
        elif client in fate.got:
            self.duplicates += 1
            return None
        elif not self._wants(client, event.content):
            self.false_positives += 1
            return None
        fate.got[client] = None
        return fate

    def _wants(self, client: Name, content: Mapping[str, Any]) -> bool:
        return any(parsed(condition).matches(content) for condition in self.wanted.held_by(client))

    def _less_due(self, event: Name, fate: Fate) -> None:
        self.missed -= 1
        fate.due -= 1
        if not fate.due:
            del self._open[event]

    def _excuse(self, client: Name) -> None:
        """Expect no event any more that a client has not got and no longer wants."""
        for event, content in list(self._open.items()):
            fate = self.fates[event]
            if fate.waiting.get(client) and not self._wants(client, content):
                fate.waiting[client] = False
                self.expected -= 1
                self._less_due(event, fate)

    def check_invariants(self) -> None:
        """Raise `AssertionError` if something does not fit together."""
        self.wanted.check_invariants()
        assert self._open.keys() == {event for event, fate in self.fates.items() if fate.due}
        assert self.missed == len(self.missing()) <= self.expected
        for fate in self.fates.values():
            assert fate.due == sum(fate.waiting.values())
            assert not fate.waiting.keys() & fate.got.keys()
