"""Which of the listed predicates does an event meet? The predicate phase of the engines for arbitrary expressions.

The PS-Tree (specs/002 §4) lists a predicate in every leaf that it covers. That is best where it covers few. [ours] The
others are kept once for each dimension, because `x > 5` among a million cuts would be listed in half a million leaves:

    half-lines to the right   sorted by where they begin: an event meets them from the first one up to its own leaf
    half-lines to the left    sorted by where they end: an event meets them from the last one down to its own leaf
    wide ones                 (`<> 5`, `not in (…)`, long intervals) are tested; most of them are met
    those that absence meets  are tested on every event, since nothing in it leads to them

Leaves keep their order when others come and go between them, so what is sorted stays sorted.
"""

from collections.abc import Iterable
from typing import NamedTuple

import numpy as np
import numpy.typing as npt

from tamis.compiled import kernel
from tamis.matching.ranks.encoding import Encoded
from tamis.matching.ranks.kernels import Predicates, meets
from tamis.matching.ranks.layout import Layout, expand, layout
from tamis.matching.ranks.line import Merge, Split
from tamis.matching.ranks.lists import Bytes, Ints, Lists, View, grown
from tamis.matching.ranks.space import Space

#: A predicate that covers more leaves is not listed in them.
MOST_LEAVES = 256
#: From so many predicates at once it is worth to look at all leaves.
_BULK = 256

#: Where a predicate is listed.
_NOWHERE, _BY_LEAF, _RIGHT, _LEFT, _WIDE, _ABSENT = range(6)
#: Where all predicates that absence meets are listed: there is no dimension in it.
_ALL = 0


class Listed(NamedTuple):
    """What kernels see."""

    by_leaf: View
    right: View
    left: View
    wide: View
    absent: Ints


class Listing:
    """Predicates of a `Space`, each listed once, so that those that an event meets are found quickly."""

    def __init__(self, space: Space) -> None:
        self._space = space
        self._by_leaf = Lists()
        self._right, self._left, self._wide, self._absent = (Lists() for _ in range(4))
        self._place: Bytes = np.zeros(1, np.int8)
        #: By predicate that is listed by leaf: in how many leaves.
        self._covered: Ints = np.zeros(1, np.int32)

    def __contains__(self, predicate: int) -> bool:
        return bool(predicate < len(self._place) and self._place[predicate])

    def holds(self, predicates: Ints) -> npt.NDArray[np.bool_]:
        """Return which of these predicates are listed."""
        self._place = grown(self._place, self._space.top)
        held: npt.NDArray[np.bool_] = self._place[predicates] != _NOWHERE
        return held

    def insert(self, predicates: Ints) -> None:
        """List predicates that are not listed yet."""
        space = self._space
        self._place = grown(self._place, space.top)
        self._covered = grown(self._covered, space.top)
        _choose(predicates, space.rank, space.fixed, space.bounds.view(), self._place, self._covered)
        places = self._place[predicates]
        self._insert_by_leaf(predicates[places == _BY_LEAF])
        for place in (_RIGHT, _LEFT, _WIDE, _ABSENT):
            some = predicates[places == place]
            if len(some):
                self._insert_apart(place, some)

    def _insert_by_leaf(self, predicates: Ints) -> None:
        space = self._space
        if len(predicates) < _BULK:
            for predicate in predicates.tolist():
                for leaf in space.leaves_of(predicate).tolist():
                    self._by_leaf.append(leaf, predicate)
            return
        leaves = np.empty(int(self._covered[predicates].sum()), np.int32)
        _expand_all(predicates, space.bounds.view(), layout(space), leaves)
        self._by_leaf.extend(leaves, np.repeat(predicates, self._covered[predicates]))

    def remove(self, predicates: Iterable[int]) -> None:
        """Take predicates out, which still exist."""
        for predicate in predicates:
            place = self._place[predicate]
            if place == _BY_LEAF:
                for leaf in self._space.leaves_of(predicate).tolist():
                    self._by_leaf.discard(leaf, predicate)
            else:
                lists, key = self._lists(place), self._key(place, predicate)
                kept = lists[key][lists[key] != predicate]
                lists.assign(key, kept) if len(kept) else lists.clear(key)
            self._place[predicate] = _NOWHERE

    def split(self, splits: Iterable[Split]) -> None:
        """List in new leaves what the old ones list. All leaves that were split must be told at once."""
        heavy: set[int] = set()
        for old, new in splits:
            held = self._by_leaf[old].copy()
            if len(held):
                self._by_leaf.assign(new, held)
                self._covered[held] += 1
                heavy.update(held[self._covered[held] > MOST_LEAVES].tolist())
        for predicate in heavy:
            self._move_apart(predicate)

    def merge(self, merge: Merge) -> None:
        """Take out what a leaf lists that went away."""
        self._covered[self._by_leaf[merge.dropped]] -= 1
        self._by_leaf.clear(merge.dropped)

    def view(self) -> Listed:
        """Return what kernels need."""
        self._by_leaf.reserve(self._space.leaves)
        for lists in (self._right, self._left, self._wide):
            lists.reserve(self._space.dimensions)
        return Listed(
            self._by_leaf.view(), self._right.view(), self._left.view(), self._wide.view(), self._absent[_ALL]
        )

    @property
    def bytes(self) -> int:
        """How much memory it takes."""
        lists = (self._by_leaf, self._right, self._left, self._wide, self._absent)
        return sum(each.bytes for each in lists) + self._place.nbytes + self._covered.nbytes

    def check_invariants(self) -> None:
        """Raise `AssertionError` if a predicate is not listed where it should be."""
        space = self._space
        listed: dict[int, list[int]] = {}
        for leaf in range(space.leaves):
            for predicate in self._by_leaf[leaf].tolist():
                listed.setdefault(predicate, []).append(leaf)
        for predicate, leaves in listed.items():
            assert sorted(leaves) == sorted(space.leaves_of(predicate).tolist())
            assert self._covered[predicate] == len(leaves) <= MOST_LEAVES
        found = [(_BY_LEAF, predicate) for predicate in listed]
        for place in (_RIGHT, _LEFT, _WIDE, _ABSENT):
            lists = self._lists(place)
            for key in range(max(space.dimensions, 1)):
                held = lists[key].tolist()
                assert all(self._key(place, predicate) == key for predicate in held)
                if place in (_RIGHT, _LEFT):
                    assert (np.diff(self._sorted_by(place, lists[key])) >= 0).all()
                found += [(place, predicate) for predicate in held]
        assert sorted(found) == sorted((int(self._place[each]), int(each)) for each in np.flatnonzero(self._place))
        for lists in (self._by_leaf, self._right, self._left, self._wide, self._absent):
            lists.check_invariants()

    # --- inside -------------------------------------------------------------------------------------

    def _lists(self, place: int) -> Lists:
        return {_RIGHT: self._right, _LEFT: self._left, _WIDE: self._wide, _ABSENT: self._absent}[place]

    def _key(self, place: int, predicate: int) -> int:
        return _ALL if place == _ABSENT else int(self._space.dimension[predicate])

    def _sorted_by(self, place: int, predicates: Ints) -> npt.NDArray[np.int32]:
        """Return what half-lines are sorted by: where they begin; those to the left where they end, negated."""
        bounds, rank = self._space.bounds, self._space.rank
        ends = bounds.data[bounds.start[predicates] + (place == _LEFT)]
        return -rank[ends] if place == _LEFT else rank[ends]

    def _insert_apart(self, place: int, predicates: Ints) -> None:
        lists = self._lists(place)
        keys = np.zeros(len(predicates), np.int32) if place == _ABSENT else self._space.dimension[predicates]
        if place in (_WIDE, _ABSENT):
            lists.extend(keys, predicates)
            return
        for key in np.unique(keys).tolist():
            held = np.concatenate((lists[key], predicates[keys == key]))
            lists.assign(key, held[np.argsort(self._sorted_by(place, held), kind="stable")])

    def _move_apart(self, predicate: int) -> None:
        """Take a predicate out of the leaves, of which it covers too many."""
        for leaf in self._space.leaves_of(predicate).tolist():
            self._by_leaf.discard(leaf, predicate)
        self._place[predicate] = _WIDE
        self._wide.append(int(self._space.dimension[predicate]), predicate)


@kernel
def _choose(predicates: Ints, rank: Ints, fixed: Bytes, bounds: View, place: Bytes, covered: Ints) -> None:
    """Write down where predicates are to be listed, and how many leaves they cover."""
    for predicate in predicates:
        first, size = bounds.start[predicate], bounds.size[predicate]
        low, high = bounds.data[first], bounds.data[first + size - 1]
        width = 0
        for at in range(first, first + size, 2):
            width += rank[bounds.data[at + 1]] - rank[bounds.data[at]]
        covered[predicate] = width
        if rank[low] == 0:
            place[predicate] = _ABSENT
        elif size == 2 and fixed[high]:
            place[predicate] = _RIGHT
        elif size == 2 and fixed[low]:
            place[predicate] = _LEFT
        elif fixed[low] and fixed[high]:
            place[predicate] = _WIDE
        else:
            place[predicate] = _BY_LEAF if width <= MOST_LEAVES else _WIDE


@kernel
def _expand_all(predicates: Ints, bounds: View, where: Layout, leaves: Ints) -> None:
    written = 0
    for predicate in predicates:
        written += expand(predicate, bounds, where, leaves[written:])


@kernel
def find_met(row: int, events: Encoded, ranks: Ints, listed: Listed, predicates: Predicates, out: Ints) -> int:
    """Write the listed predicates that the event in `ranks` meets into `out` and return how many they are."""
    rank, dimension, bounds = predicates
    found = 0
    for place in range(events.offsets[row], events.offsets[row + 1]):
        leaf, axis = events.leaves[place], events.dimensions[place]
        at = rank[leaf]
        first = listed.by_leaf.start[leaf]
        for each in range(first, first + listed.by_leaf.size[leaf]):
            out[found] = listed.by_leaf.data[each]
            found += 1
        first = listed.right.start[axis]
        for each in range(first, first + listed.right.size[axis]):
            predicate = listed.right.data[each]
            begin = bounds.start[predicate]
            if rank[bounds.data[begin]] > at:
                break
            if at < rank[bounds.data[begin + 1]]:
                out[found] = predicate
                found += 1
        first = listed.left.start[axis]
        for each in range(first, first + listed.left.size[axis]):
            predicate = listed.left.data[each]
            begin = bounds.start[predicate]
            if rank[bounds.data[begin + 1]] <= at:
                break
            if rank[bounds.data[begin]] <= at:
                out[found] = predicate
                found += 1
        first = listed.wide.start[axis]
        for each in range(first, first + listed.wide.size[axis]):
            predicate = listed.wide.data[each]
            if meets(predicate, at, predicates):
                out[found] = predicate
                found += 1
    for predicate in listed.absent:
        if meets(predicate, ranks[dimension[predicate]], predicates):
            out[found] = predicate
            found += 1
    return found
