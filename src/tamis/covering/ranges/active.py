"""Subsumption of whole subscriptions (specs/001 F9, F11): active ones are forwarded, passive ones wait.

This is the mode for brokers that forward subscriptions and not runs. Everything is exact: a subscription is
passive only if the active ones together ask for all that it asks for, as boxes, not as cells.
"""

from collections.abc import Callable, Collection, Hashable, Iterator
from math import log
from typing import Final, TypeAlias

import numpy as np

from tamis.covering.graphs.graph import Change
from tamis.covering.ranges.boxindex import BoxIndex, moved
from tamis.covering.ranges.subtraction import WORK_CAP, remainder, subsumed
from tamis.geometry.leaves import GREATEST, LEAST, Longs, Runs

#: The logarithm of how many integers there are.
_ALL: Final = 64 * log(2)
#: The attributes that a subscription constrains, in order.
Attributes: TypeAlias = tuple[Hashable, ...]
#: What an index is asked about a box.
Question: TypeAlias = Callable[[Longs, Longs], Longs]


class _Group:
    """The subscriptions that constrain the same attributes."""

    def __init__(self, attributes: Attributes) -> None:
        self.attributes = attributes
        size = len(attributes)
        #: The hulls of active subscriptions, and what they surely ask for.
        self.hulls, self.inners = BoxIndex(size), BoxIndex(size)
        self.passive = BoxIndex(size)


class ActiveTable:
    """Boxes under handles; the union of the active ones is always the union of all.

    A subscription has a box over the attributes it constrains; those it does not constrain may have any value or none.
    If it asks for less than its box, `exact` is false, and `inner` is a box that it surely asks for, if there is
    one: it is needless if others ask for its box, and makes others needless by its inner box. Attributes are
    sorted, so that equal sets are equal tuples.
    """

    def __init__(self, work_cap: int = WORK_CAP) -> None:
        self._work_cap = work_cap
        self._groups: dict[Attributes, _Group] = {}
        #: By attribute: the groups that have it, and those of which it is the first.
        self._having: dict[Hashable, dict[Attributes, _Group]] = {}
        self._leading: dict[Hashable, dict[Attributes, _Group]] = {}
        self._home: dict[int, _Group] = {}
        #: What subscriptions surely ask for, where that is not their box.
        self._inner: dict[int, Runs | None] = {}
        #: Whoever becomes active gets a stamp that nobody had before: handles come again.
        self._stamp_of: dict[int, int] = {}
        self._stamped: dict[int, int] = {}
        self._next_stamp = 0
        #: By passive subscription: the stamp of one that covered it alone, if there was one.
        self._coverer: dict[int, int] = {}

    def __len__(self) -> int:
        return len(self._home)

    def __contains__(self, handle: object) -> bool:
        return handle in self._home

    def add(
        self,
        handle: int,
        attributes: Attributes,
        low: Longs,
        high: Longs,
        exact: bool = True,
        inner: Runs | None = None,
    ) -> Change:
        """Take in a subscription: it is forwarded unless it is subsumed, and then those it covers are withdrawn."""
        if handle in self._home:
            raise ValueError(f"handle {handle} is in the table already")
        group = self._groups.get(attributes) or self._open(attributes)
        self._home[handle] = group
        if not exact:
            self._inner[handle] = inner
        if self._is_needless(attributes, low, high, handle):
            group.passive.add(handle, low, high)
            return Change()
        self._activate(handle, low, high)
        return Change((handle,), self._withdrawn(handle, attributes, (low, high) if exact else inner))

    def remove(self, handle: int) -> Change:
        """Let a subscription go: passive ones that needed it are forwarded, before it is withdrawn."""
        if handle not in self._home:
            raise KeyError(f"handle {handle} is not in the table")
        group = self._home[handle]
        promoted: list[int] = []
        if active := handle in self._stamp_of:
            inner = group.inners.box(handle) if handle in group.inners else None
            self._deactivate(handle)
            if inner is not None:
                promoted = self._promoted(group.attributes, *inner)
        else:
            group.passive.remove(handle)
            self._coverer.pop(handle, None)
        del self._home[handle]
        self._inner.pop(handle, None)
        self._close(group)
        return Change(tuple(promoted), (handle,) if active else ())

    def move(self, attribute: Hashable, old: Longs, new: Longs) -> None:
        """Put all boxes elsewhere on an attribute, in the same order, so that all relations stay: see `moved`."""
        for group in self._having.get(attribute, {}).values():
            for index in (group.hulls, group.inners, group.passive):
                index.move(group.attributes.index(attribute), old, new)
        for handle, inner in self._inner.items():
            attributes = self._home[handle].attributes
            if inner is not None and attribute in attributes:
                self._inner[handle] = moved(*inner, attributes.index(attribute), old, new)

    def forwarded(self) -> Collection[int]:
        """Return the active subscriptions."""
        return self._stamp_of.keys()

    def coverer_of(self, handle: int) -> int | None:
        """Return an active subscription that covers a passive one alone; None if it takes several, or none is known."""
        return self._stamped.get(self._coverer.get(handle, -1))

    # --- active and passive -------------------------------------------------------------------------

    def _activate(self, handle: int, low: Longs, high: Longs) -> None:
        group, inner = self._home[handle], self._inner.get(handle, (low, high))
        self._stamp_of[handle], self._stamped[self._next_stamp] = self._next_stamp, handle
        self._next_stamp += 1
        group.hulls.add(handle, low, high)
        if inner is not None:
            group.inners.add(handle, *inner)

    def _deactivate(self, handle: int) -> None:
        group = self._home[handle]
        del self._stamped[self._stamp_of.pop(handle)]
        group.hulls.remove(handle)
        if handle in group.inners:
            group.inners.remove(handle)

    def _is_needless(self, attributes: Attributes, low: Longs, high: Longs, handle: int | None = None) -> bool:
        """Return whether active subscriptions ask for a box. If one alone does, it is noted as a handle's coverer."""
        for group in self._below(attributes):
            axes = [attributes.index(each) for each in group.attributes]
            coverers = group.inners.coverers(low[axes], high[axes], limit=1)
            if len(coverers):
                if handle is not None:
                    self._coverer[handle] = self._stamp_of[int(coverers[0])]
                return True
        return subsumed(low, high, *self._asked(attributes, low, high), self._work_cap)

    def _asked(self, attributes: Attributes, low: Longs, high: Longs) -> Runs:
        """Return what active subscriptions ask for of a box. Only what constrains no further attribute helps."""
        lows, highs = [np.empty((0, len(attributes)), np.int64)], [np.empty((0, len(attributes)), np.int64)]
        for group in self._below(attributes):
            axes = [attributes.index(each) for each in group.attributes]
            found = group.inners.overlapping_boxes(low[axes], high[axes])
            wide = [np.full((len(found[0]), len(attributes)), end) for end in (LEAST, GREATEST)]
            wide[0][:, axes], wide[1][:, axes] = found
            lows.append(wide[0])
            highs.append(wide[1])
        return np.concatenate(lows), np.concatenate(highs)

    def _withdrawn(self, handle: int, attributes: Attributes, inner: Runs | None) -> tuple[int, ...]:
        """Make the active subscriptions passive that a new one covers, and return them."""
        withdrawn: list[int] = []
        if inner is None:
            return ()
        for group in self._above(attributes):
            for each in self._lying(group.hulls.inside, attributes, inner, group):
                if each != handle:
                    group.passive.add(each, *group.hulls.box(each))
                    self._deactivate(each)
                    self._coverer[each] = self._stamp_of[handle]
                    withdrawn.append(each)
        return tuple(withdrawn)

    def _promoted(self, attributes: Attributes, low: Longs, high: Longs) -> list[int]:
        """Make passive subscriptions active that need a box which is not asked for any more. The widest come first.

        Only those matter that meet what the others do not ask for of it.
        """
        rests = remainder(low, high, *self._asked(attributes, low, high), self._work_cap)
        lows, highs = (low[None], high[None]) if rests is None else rests
        waiting: dict[int, float] = {}
        for group in self._above(attributes):
            found: set[int] = set()
            for rest in zip(lows, highs, strict=True):
                found.update(self._lying(group.passive.overlapping, attributes, rest, group))
            handles = [each for each in found if self.coverer_of(each) is None]
            firsts, lasts = group.passive.boxes(handles)
            widths = np.log1p(lasts.astype(np.float64) - firsts).sum(axis=1)
            # What is not constrained is as wide as all integers.
            waiting |= zip(handles, (_ALL * len(group.attributes) - widths).tolist(), strict=True)
        promoted: list[int] = []
        for handle in sorted(waiting, key=lambda each: (waiting[each], each)):
            group = self._home[handle]
            box = group.passive.box(handle)
            self._coverer.pop(handle, None)
            if not self._is_needless(group.attributes, *box, handle):
                self._activate(handle, *box)
                group.passive.remove(handle)
                promoted.append(handle)
        return promoted

    def _lying(self, question: Question, attributes: Attributes, box: Runs, group: _Group) -> list[int]:
        """Ask an index of a group about a box over fewer attributes: the others have all their values."""
        axes = [group.attributes.index(each) for each in attributes]
        low, high = np.full(len(group.attributes), LEAST), np.full(len(group.attributes), GREATEST)
        low[axes], high[axes] = box
        found: list[int] = question(low, high).tolist()
        return found

    # --- groups -------------------------------------------------------------------------------------

    def _open(self, attributes: Attributes) -> _Group:
        group = self._groups[attributes] = _Group(attributes)
        for each in attributes:
            self._having.setdefault(each, {})[attributes] = group
        for each in attributes[:1]:
            self._leading.setdefault(each, {})[attributes] = group
        return group

    def _close(self, group: _Group) -> None:
        if len(group.hulls) or len(group.passive):
            return
        del self._groups[group.attributes]
        for each in group.attributes:
            del self._having[each][group.attributes]
        for each in group.attributes[:1]:
            del self._leading[each][group.attributes]

    def _below(self, attributes: Attributes) -> Iterator[_Group]:
        """Yield the groups that have no other attributes."""
        wanted = set(attributes)
        if () in self._groups:
            yield self._groups[()]
        for each in attributes:
            for group in self._leading.get(each, {}).values():
                if wanted.issuperset(group.attributes):
                    yield group

    def _above(self, attributes: Attributes) -> list[_Group]:
        """Return the groups that have all of the attributes."""
        if not attributes:
            return list(self._groups.values())
        fewest = min((self._having.get(each, {}) for each in attributes), key=len)
        return [group for group in fewest.values() if set(attributes).issubset(group.attributes)]

    def check_invariants(self) -> None:
        """Raise `AssertionError` if a passive subscription is not needless, or one is lost."""
        assert sum(len(group.hulls) + len(group.passive) for group in self._groups.values()) == len(self._home)
        assert self._stamped == {stamp: handle for handle, stamp in self._stamp_of.items()}
        assert self._stamp_of.keys() == {handle for group in self._groups.values() for handle in group.hulls}
        for handle in self._coverer:
            assert handle in self._home[handle].passive
            coverer = self.coverer_of(handle)
            assert coverer is None or set(self._home[coverer].attributes) <= set(self._home[handle].attributes)
        for group in self._groups.values():
            for index in (group.hulls, group.inners, group.passive):
                index.check_invariants()
            assert all(self._home[handle] is group for handle in [*group.hulls, *group.passive])
            assert set(group.inners) == {each for each in group.hulls if self._inner.get(each, True) is not None}
            for handle in group.passive:
                assert self._is_needless(group.attributes, *group.passive.box(handle))
