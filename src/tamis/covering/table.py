"""`tamis.CoverTable`: conditions in, what the next broker has to be told out."""

from collections.abc import Iterator
from typing import Any, TypeAlias

from tamis.covering.containment import shape
from tamis.covering.graphs import Change
from tamis.covering.keeper import make_keeper
from tamis.covering.sharing import Sharing
from tamis.language import Expression

Id: TypeAlias = str | int


class CoverTable:
    """Subscriptions, each an id with a condition, of which only some are forwarded to the next broker.

    Every event that matches a subscription matches a forwarded one: that is promised for conditions of any shape. How
    few are forwarded depends on the graph. A condition of which it is not certain that another covers it is forwarded,
    and counted in `stats`.

    Every method either does what it says or raises and changes nothing. A table is for one thread at a time.
    """

    def __init__(self, graph: str = "flat", k: int = 1, detector: str = "kdtree") -> None:
        """Make a table without subscriptions.

        `graph`: `flat` asks least; `dense`, `poset` and `forest` forward only those that no other covers; `ranges`
        also keeps back what several together cover, if they are conjunctions of ranges. `k`, for `flat` alone: how many
        coverers a subscription remembers. `detector`, for `flat` alone: how they are found.
        """
        if graph != "flat" and k != 1:
            raise ValueError(f"k is for graph='flat', not for {graph!r}")
        self._keeper = make_keeper(graph, k, detector)
        self._sharing: Sharing[Id] = Sharing()
        self._never: set[Id] = set()

    def add(self, id: Id, condition: str | Expression) -> Change:
        """Add a subscription; return the ids to forward and, after them, those to withdraw.

        An id that is there already is a `ValueError`, a text that is no condition an `ExpressionError`.
        """
        _check_id(id)
        if id in self:
            raise ValueError(f"subscription {id!r} is there already; remove it to change its condition")
        ready = shape(condition)
        if ready.form is False:
            self._never.add(id)
            return Change()
        handle, first = self._sharing.join(id, ready.key)
        if not first:
            return Change()
        change = self._keeper.add(handle, ready)
        speaker = self._sharing.speaker
        return Change(tuple(map(speaker, change.forward)), tuple(map(speaker, change.withdraw)))

    def remove(self, id: Id) -> Change:
        """Remove a subscription; return the ids to forward and, after them, those to withdraw.

        If an equal subscription remains, it is forwarded in place of this one.
        """
        _check_id(id)
        if id not in self:
            raise KeyError(f"there is no subscription {id!r}")
        if id in self._never:
            self._never.remove(id)
            return Change()
        spoke = self._sharing.speaker(self._sharing.handle(id)) == id
        handle, last = self._sharing.leave(id)
        if last:
            change = self._keeper.remove(handle)
            withdraw = [id if each == handle else self._sharing.speaker(each) for each in change.withdraw]
            return Change(tuple(map(self._sharing.speaker, change.forward)), tuple(withdraw))
        if spoke and handle in self._keeper.forwarded():
            return Change((self._sharing.speaker(handle),), (id,))
        return Change()

    def forwarded(self) -> list[Id]:
        """Return the ids that the next broker should have."""
        return [self._sharing.speaker(handle) for handle in self._keeper.forwarded()]

    def coverer_of(self, id: Id) -> Id | None:
        """Return a forwarded subscription that covers one.

        None if it is forwarded itself, can never match, or no single one is known: `ranges` combines several.
        """
        if id not in self:
            raise KeyError(f"there is no subscription {id!r}")
        if id in self._never:
            return None
        handle = self._sharing.handle(id)
        while (higher := next(iter(self._keeper.above(handle)), None)) is not None:
            handle = higher
        speaker = self._sharing.speaker(handle)
        return None if speaker == id else speaker

    def stats(self) -> dict[str, Any]:
        """Return figures: sizes, how many are forwarded for want of certainty (`undecided`), and the work done."""
        return {
            "subscriptions": len(self),
            "distinct": self._sharing.handles,
            "never": len(self._never),
            "forwarded": len(self._keeper.forwarded()),
            **self._keeper.stats(),
        }

    def __len__(self) -> int:
        return len(self._sharing) + len(self._never)

    def __contains__(self, id: object) -> bool:
        return not isinstance(id, bool) and (id in self._sharing or id in self._never)

    def __iter__(self) -> Iterator[Id]:
        yield from self._sharing
        yield from self._never

    def check_invariants(self) -> None:
        """Raise `AssertionError` if something does not fit together."""
        self._sharing.check_invariants()
        self._keeper.check_invariants()
        assert self._never.isdisjoint(self._sharing)


def _check_id(id: object) -> None:
    if not isinstance(id, str | int) or isinstance(id, bool):
        raise ValueError(f"an id is a string or an integer, not {type(id).__name__}")
