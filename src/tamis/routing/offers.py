"""What a broker asks of one neighbour: what all others want, less what it need not send."""

from collections import Counter
from collections.abc import Hashable, Iterable, Mapping, Sequence
from typing import Generic, Protocol, TypeAlias, TypeVar

from tamis.covering import Change, CoverTable, covers

#: A condition, or a subscription with its owner.
Item = TypeVar("Item", bound=Hashable)

#: What has to be sent and, after that, what may be withdrawn.
Changes: TypeAlias = tuple[Sequence[Item], Sequence[Item]]


class Pruning(Protocol[Item]):
    """Decides which of some items need to be sent."""

    def add(self, item: Item) -> Changes[Item]:
        """Take an item in that is not there."""

    def remove(self, item: Item) -> Changes[Item]:
        """Let an item go that is there."""

    def needed(self, items: Iterable[Item]) -> Iterable[Item]:
        """Return which of the items that are there need to be sent."""


class Everything(Generic[Item]):
    """Sends every item, but equal ones only once: identity-based routing (specs/004 §3)."""

    def add(self, item: Item) -> Changes[Item]:
        """Send it."""
        return (item,), ()

    def remove(self, item: Item) -> Changes[Item]:
        """Withdraw it."""
        return (), (item,)

    def needed(self, items: Iterable[Item]) -> Iterable[Item]:
        """All of them."""
        return items


class Uncovered:
    """Sends only conditions that no other covers (specs/004 §3, specs/000 §5)."""

    def __init__(self, graph: str, k: int, detector: str) -> None:
        self._table = CoverTable(graph, k, detector)

    def add(self, item: str) -> Changes[str]:
        """Send it if nothing covers it; then what it covers may be withdrawn."""
        return _texts(self._table.add(item, item))

    def remove(self, item: str) -> Changes[str]:
        """Withdraw it; what it alone covered has to be sent."""
        return _texts(self._table.remove(item))

    def needed(self, items: Iterable[str]) -> Iterable[str]:  # noqa: ARG002 - the table has them
        """Return those that nothing covers."""
        return map(str, self._table.forwarded())


def _texts(change: Change) -> Changes[str]:
    return list(map(str, change.forward)), list(map(str, change.withdraw))


def suffice(told: Iterable[str], needed: Iterable[str]) -> bool:
    """Say whether every condition that is needed, and can be met, is covered by one that is told."""
    listed = list(told)
    return all(covers("false", each) or any(covers(one, each) for one in listed) for each in needed)


class Offer(Generic[Item]):
    """What one neighbour is told: items come and go from several sides, and it hears of each once at most.

    Changes are gathered until they are taken, so that what belongs together is one packet (the atomic replacement of
    specs/004 §3: told one after the other, the thesis' order leaves a gap in which events are lost, and the reverse
    order loses the new filter for good).
    """

    def __init__(self, pruning: Pruning[Item]) -> None:
        self._pruning = pruning
        self._sides: Counter[Item] = Counter()
        #: What the neighbour has after the changes that are not taken yet; those are True if new, False if gone.
        self._told: dict[Item, None] = {}
        self._changes: dict[Item, bool] = {}

    def add(self, item: Item) -> None:
        """Note that one more side wants an item."""
        self._sides[item] += 1
        if self._sides[item] == 1:
            self._apply(self._pruning.add(item))

    def remove(self, item: Item) -> None:
        """Note that one side less wants an item."""
        self._sides[item] -= 1
        if not self._sides[item]:
            del self._sides[item]
            self._apply(self._pruning.remove(item))

    def _apply(self, changes: Changes[Item]) -> None:
        forward, withdraw = changes
        for item in forward:
            self._told[item] = None
            self._note(item, True)
        for item in withdraw:
            del self._told[item]
            self._note(item, False)

    def _note(self, item: Item, new: bool) -> None:
        if self._changes.get(item) is (not new):
            del self._changes[item]
        else:
            self._changes[item] = new

    def take(self) -> tuple[tuple[Item, ...], tuple[Item, ...]]:
        """Return what is gone and what has come since the last time."""
        gone = tuple(item for item, new in self._changes.items() if not new)
        come = tuple(item for item, new in self._changes.items() if new)
        self._changes.clear()
        return gone, come

    def __contains__(self, item: object) -> bool:
        return item in self._sides

    def fits(self, sides: Mapping[Item, int]) -> bool:
        """Say whether this is what comes of so many sides wanting each item."""
        return self._sides == sides and self._told.keys() == set(self._pruning.needed(sides))

    def tells(self, item: Item) -> bool:
        """Say whether the neighbour has an item, once it has got all packets."""
        return item in self._told

    @property
    def told(self) -> list[Item]:
        """What the neighbour has, once it has got all packets."""
        return list(self._told)
