"""Which conditions have to be told to whom: those that may meet what somebody announced."""

from collections.abc import Callable, Iterable
from typing import TypeAlias

from tamis.routing.conditions import may_meet
from tamis.routing.packets import Name

#: Where a condition comes from: a cluster, or None for own clients.
Side: TypeAlias = Name | None
#: Who has to be told: a cluster and a broker in it.
Target: TypeAlias = tuple[Name, Name]
#: A target, and brokers on the side in question that need not be told of: they hear the announcement otherwise.
Group: TypeAlias = tuple[Target, tuple[Name, ...]]


class Demand:
    """For every target, the conditions to tell it, each with the number of reasons for it.

    A reason is a condition held on some side and an advertisement (by its text) that goes to that side from the target
    by way of this broker, if both may be met by one event. So each condition follows each advertisement back to
    where it comes from, and nothing keeps itself alive in a circle (specs/002 §3.4, rule (b)).
    """

    def __init__(self, held: Callable[[Side], Iterable[tuple[Name, str]]]) -> None:
        """`held` says who holds which conditions on a side."""
        self._held = held
        self._groups: dict[Side, dict[str, dict[Group, int]]] = {}
        self._reasons: dict[Target, dict[str, int]] = {}
        self._touched: dict[Target, dict[str, bool]] = {}

    def want(self, side: Side, holder: Name, condition: str, change: int) -> None:
        """Note that somebody on a side wants something (change 1) or no longer wants it (-1)."""
        for advert, groups in self._groups.get(side, {}).items():
            if may_meet(advert, condition):
                for target, others in groups:
                    if holder not in others:
                        self._count(target, condition, change)

    def announce(self, side: Side, advert: str, group: Group) -> None:
        """Note that an advertisement goes from a target to a side."""
        groups = self._groups.setdefault(side, {}).setdefault(advert, {})
        groups[group] = groups.get(group, 0) + 1
        if groups[group] == 1:
            self._recount(side, advert, group, 1)

    def withdraw(self, side: Side, advert: str, group: Group) -> None:
        """Note that an advertisement no longer goes from a target to a side."""
        groups = self._groups[side][advert]
        groups[group] -= 1
        if not groups[group]:
            del groups[group]
            if not groups:
                del self._groups[side][advert]
            self._recount(side, advert, group, -1)

    def _recount(self, side: Side, advert: str, group: Group, change: int) -> None:
        target, others = group
        for holder, condition in self._held(side):
            if holder not in others and may_meet(advert, condition):
                self._count(target, condition, change)

    def _count(self, target: Target, condition: str, change: int) -> None:
        reasons = self._reasons.setdefault(target, {})
        count = reasons.get(condition, 0)
        self._touched.setdefault(target, {}).setdefault(condition, count > 0)
        if count + change:
            reasons[condition] = count + change
        else:
            del reasons[condition]
            if not reasons:
                del self._reasons[target]

    def told(self, target: Target) -> tuple[str, ...]:
        """Return all that a target has to be told."""
        return tuple(self._reasons.get(target, ()))

    def targets(self, condition: str) -> list[Target]:
        """Return who has to be told of a condition."""
        return [target for target, reasons in self._reasons.items() if condition in reasons]

    def take_changes(self) -> list[tuple[Target, tuple[str, ...], tuple[str, ...]]]:
        """Return for every target which conditions are gone and which are new since this was asked last."""
        changes = []
        for target, touched in self._touched.items():
            reasons = self._reasons.get(target, {})
            gone = tuple(condition for condition, before in touched.items() if before and condition not in reasons)
            new = tuple(condition for condition, before in touched.items() if not before and condition in reasons)
            if gone or new:
                changes.append((target, gone, new))
        self._touched.clear()
        return changes

    def check_invariants(self) -> None:
        """Raise `AssertionError` if something does not fit together."""
        assert self.fits()

    def fits(self) -> bool:
        """Say whether the counts are what they are when counted anew."""
        counts: dict[Target, dict[str, int]] = {}
        for side, adverts in self._groups.items():
            for advert, groups in adverts.items():
                for target, others in groups:
                    for holder, condition in self._held(side):
                        if holder not in others and may_meet(advert, condition):
                            reasons = counts.setdefault(target, {})
                            reasons[condition] = reasons.get(condition, 0) + 1
        return counts == self._reasons
