"""One subscription with a `notify` clause as the judge sees it: what its client may have been told last."""

from collections.abc import Mapping
from typing import Any, Final

from tamis.language import Kind, Notify
from tamis.language.values import read
from tamis.notification.gate import KEYS_KEPT
from tamis.notification.law import checked_value, high, low
from tamis.routing.packets import Name

#: Told nothing yet.
NOTHING: Final = None


class Wish:
    """A condition and a clause of one client, and for each key all values that the client may have been told last.

    A value is told by being delivered, and every delivery is seen, so there is one such value. Only while events are on
    their way that were published before the subscription was made, it is not certain which of them its broker compared
    with it; then there are several.
    """

    __slots__ = ("client", "condition", "is_held", "notify", "since", "told")

    def __init__(self, client: Name, condition: str, notify: Notify, since: int) -> None:
        self.client = client
        self.condition = condition
        self.notify = notify
        self.is_held = True
        #: How many events had been published when it was made, or when its broker started anew.
        self.since = since
        self.told: dict[Any, dict[float | None, None]] = {}

    def restart(self, since: int) -> None:
        """Take note that the broker has forgotten everything."""
        self.since = since
        self.told.clear()

    def must_tell(self, content: Mapping[str, Any]) -> bool:
        """Say whether an event that meets the condition is far from every value that may have been told last."""
        key, value = self._measured(content)
        return value is not None and all(self._is_far(last, value) for last in self._last(key))

    def tell(self, content: Mapping[str, Any], number: int) -> bool:
        """Take the delivery of the event with a number; say whether this wish may be the reason."""
        key, value = self._measured(content)
        if value is None:
            return False
        last = self._last(key)
        after = {value if self._is_far(each, value) else each: None for each in last}
        may = any(self._is_far(each, value) for each in last)
        self.told[key] = after if number > self.since else after | last
        return may

    def _last(self, key: Any) -> dict[float | None, None]:
        last = self.told.get(key, {NOTHING: None})
        # Brokers may forget keys when there are so many.
        return last if len(self.told) <= KEYS_KEPT else last | {NOTHING: None}

    def _measured(self, content: Mapping[str, Any]) -> tuple[Any, float | None]:
        """Return key and value of an event, None if the value cannot be measured."""
        notify = self.notify
        kind, value = read(content, notify.attribute)
        key = (Kind.NULL, None) if notify.key is None else read(content, notify.key)
        if kind is not Kind.NUMBER or key[0] is Kind.OTHER:
            return None, None
        try:
            return key, checked_value(value, "absolute" if notify.radius is not None else "relative")
        except ValueError:
            return None, None

    def _is_far(self, last: float | None, value: float) -> bool:
        if last is NOTHING:
            return True
        notify = self.notify
        law = 0 if notify.radius is not None else 1 if notify.relative is not None else 2
        return value != last and bool(value >= high(law, last, notify.must) or value <= low(law, last, notify.must))
