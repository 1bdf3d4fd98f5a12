"""Which durable subscriptions want an event? Conditions decide first, then `notify` clauses."""

from collections.abc import Iterable, Mapping
from typing import Any, Final

from tamis.language import Kind, Notify
from tamis.language.names import parts_of
from tamis.language.values import read
from tamis.notification.gate import Gate
from tamis.notification.keys import MISSING, key_bytes
from tamis.routing.conditions import asked
from tamis.routing.table import Table
from tamis.server.changes import Told
from tamis.wire import ENCODER, Decoder

_decode: Final = Decoder(dict[str, Any])


class Wishes:
    """The conditions of all durable subscriptions of a broker, by number.

    What those with clauses were told last goes to the store, so that they go on from there when the broker has crashed.
    """

    def __init__(self) -> None:
        self._table: Table[int] = Table()
        self._gate = Gate()
        self._clauses: dict[int, Notify] = {}

    def __len__(self) -> int:
        return len(self._table)

    def __contains__(self, number: object) -> bool:
        return bool(self._table.held_by(number))  # type: ignore[arg-type]

    def add(self, number: int, condition: str, told: Iterable[bytes] = ()) -> None:
        """Add a subscription, and what it was told (`Told.content`), the oldest first."""
        wish = asked(condition)
        self._table.add(number, wish.condition)
        if wish.notify is not None:
            self._clauses[number] = wish.notify
            self._gate.add(number, wish.notify)
            for content in told:
                self._gate.passes(number, _decode(content))

    def discard(self, number: int) -> None:
        """Forget a subscription, if it is there."""
        self._table.drop(number)
        if self._clauses.pop(number, None) is not None:
            self._gate.remove(number)

    def met_by(self, content: Mapping[str, Any], position: int) -> tuple[list[int], list[Told]]:
        """Return who is to get an event, and what is to be noted about those who were told now."""
        found, told = [], []
        for number in self._table.interested(content):
            notify = self._clauses.get(number)
            if notify is None:
                found.append(number)
            elif self._gate.passes(number, content):
                found.append(number)
                told.append(Told(number, _key(content, notify), _excerpt(content, notify), position))
        return found, told


def _key(content: Mapping[str, Any], notify: Notify) -> bytes:
    kind, value = MISSING if notify.key is None else read(content, notify.key)
    if kind is Kind.NUMBER and isinstance(value, float) and value.is_integer():
        value = int(value)
    return bytes([kind]) + key_bytes((kind, value))


def _excerpt(content: Mapping[str, Any], notify: Notify) -> bytes:
    """Return as much of an event as a clause looks at."""
    names = {parts_of(name)[0] for name in (notify.attribute, notify.key) if name is not None}
    return ENCODER.encode({name: content[name] for name in names if name in content})
