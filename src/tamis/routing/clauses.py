"""Which subscriptions of local clients have a `notify` clause, and who of those that want an event is told of it."""

from collections import Counter
from collections.abc import Mapping
from typing import Any, Final

from tamis.language import Notify
from tamis.notification.gate import Gate
from tamis.routing.packets import Name
from tamis.routing.table import Table

#: Stands in the place of a clause's number for a subscription without one.
PLAIN: Final = -1


class Clauses:
    """The subscriptions of the clients at one broker that have a clause, with the values these clients were told last.

    Of a client that has clauses, its plain subscriptions are known too. It is told of an event once, if a plain
    subscription is met or the clause of one that is met says so. Every clause has a state of its own, for each key,
    which changes when that clause says so, whatever the others say. Other clients cost nothing here.
    """

    def __init__(self, engine: str = "auto") -> None:
        self._gate = Gate()
        self._next = 0
        self._met: Table[tuple[Name, int]] = Table(engine)
        #: Of each client that has clauses: by condition the clauses, None for a plain subscription, and their numbers.
        self.held: dict[Name, dict[str, dict[Notify | None, int]]] = {}
        self._count: Counter[Name] = Counter()

    def add(self, client: Name, condition: str, notify: Notify | None, clients: Table) -> None:
        """Let a client hold a subscription, with a clause or beside others with one.

        `clients` says what it has held so far, which was plain if this is its first clause.
        """
        if client not in self.held:
            self.held[client] = {}
            for each in clients.held_by(client):
                self._enter(client, each, None)
        if notify not in self.held[client].get(condition, ()):
            self._enter(client, condition, notify)

    def remove(self, client: Name, condition: str, notify: Notify | None) -> bool:
        """Let a client that has clauses take a subscription back; return whether it holds the condition no more."""
        held = self.held[client]
        if notify not in held.get(condition, ()):
            return False
        self._leave(client, condition, notify)
        gone = condition not in held
        if not self._count[client]:
            self.drop(client)
        return gone

    def abandon(self, client: Name, condition: str) -> None:
        """Let a client no longer hold a condition, with any clause or none."""
        for notify in list(self.held.get(client, {}).get(condition, ())):
            if client in self.held:
                self.remove(client, condition, notify)

    def drop(self, client: Name) -> None:
        """Forget a client."""
        for condition, clauses in list(self.held.get(client, {}).items()):
            for notify in list(clauses):
                self._leave(client, condition, notify)
        self.held.pop(client, None)
        self._count.pop(client, None)

    def told(self, content: Mapping[str, Any], clients: list[Name]) -> tuple[list[Name], int]:
        """Return who of those who want an event is told of it, and how many clauses found nothing to measure in it."""
        refused = self._gate.refused
        told: dict[Name, bool] = {client: client not in self.held for client in clients}
        for client, number in self._met.interested(content):
            if client in told and (number == PLAIN or self._gate.passes(number, content)):
                told[client] = True
        return [client for client, is_told in told.items() if is_told], self._gate.refused - refused

    def __contains__(self, client: object) -> bool:
        """Say whether a client has clauses."""
        return client in self.held

    def check_invariants(self, clients: Table) -> None:
        """Raise `AssertionError` if something does not fit together, or not to what clients hold."""
        self._met.check_invariants()
        self._gate.check_invariants()
        pairs = {
            ((client, number), condition)
            for client, held in self.held.items()
            for condition, clauses in held.items()
            for number in clauses.values()
        }
        assert pairs == set(self._met.pairs())
        assert all(number == PLAIN or number in self._gate for (_, number), _ in pairs)
        for client, held in self.held.items():
            assert held.keys() == set(clients.held_by(client))
            assert all(held.values())
            clauses = [number for each in held.values() for number in each.values() if number != PLAIN]
            assert len(clauses) == self._count[client] > 0
        assert len(self._gate) == self._count.total()

    def _enter(self, client: Name, condition: str, notify: Notify | None) -> None:
        number = PLAIN
        if notify is not None:
            number = self._next
            self._next += 1
            self._gate.add(number, notify)
            self._count[client] += 1
        self.held[client].setdefault(condition, {})[notify] = number
        self._met.add((client, number), condition)

    def _leave(self, client: Name, condition: str, notify: Notify | None) -> None:
        clauses = self.held[client][condition]
        number = clauses.pop(notify)
        if not clauses:
            del self.held[client][condition]
        self._met.remove((client, number), condition)
        if number != PLAIN:
            self._gate.remove(number)
            self._count[client] -= 1
