"""What clients with `notify` clauses must be told, by a list of everything that they hold."""

from collections.abc import Mapping
from typing import Any

from tamis import parse

#: Conditions with the clauses that they are held with; some of them without.
CLAUSES = (
    "",
    " notify x moves 2",
    " notify x moves 2 per s",
    " notify x moves 50% per s",
    " notify x moves by factor 2",
    " notify x moves between 1 and 3",
)


class Subscriber:
    """One subscription: its condition, and how far its value has to move. Written again, without the language."""

    def __init__(self, text: str) -> None:
        condition, _, clause = text.partition(" notify x moves ")
        self.condition = parse(condition)
        self.clause = clause.removesuffix(" per s")
        self.by_key = clause.endswith(" per s")
        self.told: dict[Any, float] = {}

    def wants(self, event: Mapping[str, Any]) -> bool:
        """Say whether it is told of an event, and remember if so."""
        if not self.condition.matches(event):
            return False
        if not self.clause:
            return True
        value, key = event.get("x"), event.get("s") if self.by_key else None
        if not isinstance(value, int) or isinstance(value, bool):
            return False
        if value <= 0 and ("%" in self.clause or "factor" in self.clause):
            return False
        last = self.told.get(key)
        if last is not None and not self._is_far(last, value):
            return False
        self.told[key] = value
        return True

    def _is_far(self, last: float, value: float) -> bool:
        if self.clause == "50%":
            return 2 * abs(value - last) >= last
        if self.clause == "by factor 2":
            return value >= 2 * last or 2 * value <= last
        return abs(value - last) >= (3 if self.clause == "between 1 and 3" else 2)


class Subscribers:
    """All subscriptions of all clients, each told by itself."""

    def __init__(self) -> None:
        self.held: dict[tuple[str, str], Subscriber] = {}

    def subscribe(self, client: str, text: str) -> None:
        """Asked twice, it is as if asked once."""
        self.held.setdefault((client, text), Subscriber(text))

    def unsubscribe(self, client: str, text: str) -> None:
        """Take one subscription back, if it is held."""
        self.held.pop((client, text), None)

    def leave(self, client: str) -> None:
        """Take all back."""
        self.held = {pair: each for pair, each in self.held.items() if pair[0] != client}

    def told(self, event: Mapping[str, Any]) -> set[str]:
        """Return who is told of an event."""
        return {client for (client, _), each in self.held.items() if each.wants(event)}
