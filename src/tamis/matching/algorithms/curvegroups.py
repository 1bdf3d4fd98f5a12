"""Subscriptions grouped by the attributes that tell them apart, and their boxes as runs on one curve for each group.

The attributes of a group are the few of theirs in which two subscriptions drawn at random overlap least (specs/001
F11). A set of attributes that is rare is no group: such subscriptions get together by their most selective predicate.
"""

from typing import Final, NamedTuple

import numpy as np
import numpy.typing as npt

from tamis.geometry.bulk import convert
from tamis.geometry.curve import Curve, curve
from tamis.matching.ranks.lists import Bytes, Ints, Lists, Longs, View
from tamis.matching.ranks.space import Space

#: Attributes on a curve. Each group has so many bits for a position, which its attributes share.
MOST_DIMENSIONS: Final = 3
KEY_BITS: Final = 24
#: By number of attributes: bits of each.
BITS: Final = (0, 24, 12, 8)
CURVES: Final[tuple[Curve, ...]] = tuple(curve("hilbert", count, BITS[count]) for count in range(1, 4))
#: Runs of a box, and cuts to find them: candidates are verified, so a rough box is enough.
MAX_RUNS: Final = 16
NODE_CAP: Final = 48
#: A set of attributes that fewer subscriptions have is no group.
LEAST_MEMBERS: Final = 16
#: Pairs of subscriptions that are drawn for each attribute.
_PAIRS: Final = 64
#: Three attributes are one number.
_PACKED: Final = 21


class Groups(NamedTuple):
    """What kernels see: by dimension the groups to stab; by group its axes and how far the ranks there are shifted."""

    by_dimension: View
    #: How many axes it has, and the dimension and the shift of each.
    axes: Ints
    dimensions: Ints
    shift: Ints


class Sides(NamedTuple):
    """The predicates of subscriptions, without those that take null: where their hulls begin and end."""

    owner: Longs
    predicate: Longs
    dimension: Longs
    low: Longs
    #: The last rank inside.
    high: Longs


def sides_of(space: Space, held: View, positions: Ints) -> Sides:
    """Return the sides of some subscriptions; owners are numbered as the positions come."""
    sizes = held.size[positions]
    owner = np.repeat(np.arange(len(positions)), sizes)
    first = np.cumsum(sizes) - sizes
    predicate = held.data[np.repeat(held.start[positions] - first, sizes) + np.arange(len(owner))]
    counted = ~np.array(space.takes_null, np.bool_)[predicate]
    owner, predicate = owner[counted], predicate[counted]
    bounds, start = space.bounds.view(), space.bounds.start[predicate]
    low = space.rank[bounds.data[start]]
    high = space.rank[bounds.data[start + bounds.size[predicate] - 1]] - 1
    return Sides(owner, *(each.astype(np.int64) for each in (predicate, space.dimension[predicate], low, high)))


def overlaps(sides: Sides, dimensions: int) -> npt.NDArray[np.float64]:
    """Return for each dimension how likely two subscriptions that constrain it overlap there; 1 if there are none."""
    order = np.argsort(sides.dimension, kind="stable")
    count = np.bincount(sides.dimension, minlength=dimensions)
    used = np.flatnonzero(count)
    first = (np.cumsum(count) - count)[used]
    drawn = np.random.default_rng(0).random((2, len(used), _PAIRS))
    left, right = order[first[None, :, None] + (drawn * count[used][None, :, None]).astype(np.int64)]
    found = np.ones(dimensions)
    found[used] = ((sides.low[left] <= sides.high[right]) & (sides.low[right] <= sides.high[left])).mean(axis=1)
    return found


class Grouping:
    """Groups, as they were when all subscriptions were last put on curves."""

    def __init__(self, space: Space, held: View, positions: Ints) -> None:
        """Group subscriptions, whose predicates in `held` are in order, the most selective first."""
        sides = sides_of(space, held, positions)
        #: By dimension: the lower, the better it tells subscriptions apart.
        self.order: Longs = np.empty(space.dimensions, np.int64)
        self.order[np.argsort(overlaps(sides, space.dimensions), kind="stable")] = np.arange(space.dimensions)
        #: By dimension: its line then, and how many leaves it had.
        self.lines = list(space.lines)
        lengths = np.array([1 if line is None else len(line.leaves()) for line in space.lines], np.int64)

        leading = np.searchsorted(sides.owner, np.arange(len(positions)))
        taken = np.lexsort((self.order[sides.dimension], sides.owner))
        place = np.arange(len(taken)) - leading[sides.owner]
        taken, place = taken[place < MOST_DIMENSIONS], place[place < MOST_DIMENSIONS]
        packed = np.zeros(len(positions), np.int64)
        np.add.at(packed, sides.owner[taken], (sides.dimension[taken] + 1) << (_PACKED * place))
        _, which, members = np.unique(packed, return_inverse=True, return_counts=True)
        rare = np.flatnonzero(members[which] < LEAST_MEMBERS)
        packed[rare] = sides.dimension[leading[rare]] + 1
        keys, self.group = np.unique(packed, return_inverse=True)
        common = members[which][sides.owner[taken]] >= LEAST_MEMBERS
        taken = np.concatenate((taken[common], leading[rare]))
        place = np.concatenate((place[common], np.zeros(len(rare), np.int64)))
        by_owner = np.lexsort((place, sides.owner[taken]))
        #: The sides that are on curves, those of one subscription one behind the other.
        sides, place = Sides(*(each[taken[by_owner]] for each in sides)), place[by_owner]
        self.sides = sides
        #: By subscription: its box on the curve, and whether that is all it asks for.
        self.boxes: Ints = np.zeros((len(positions), MOST_DIMENSIONS, 2), np.int32)
        self.boxes[sides.owner, place] = np.stack((sides.low, sides.high), axis=1)
        single = space.bounds.size[sides.predicate] == 2
        whole = np.bincount(sides.owner[single], minlength=len(positions)) == held.size[positions]
        self.whole: Bytes = whole.astype(np.int8)

        dimensions = np.stack([(keys >> (_PACKED * axis) & ((1 << _PACKED) - 1)) - 1 for axis in range(3)], axis=1)
        self.axes = (dimensions >= 0).sum(axis=1)
        bits = np.array(BITS)[self.axes][:, None]
        width = np.ceil(np.log2(lengths[dimensions])).astype(np.int64)
        self.dimensions, self.shift = dimensions, np.maximum(width - bits, 0)
        #: The number of the group of each tuple of dimensions, the best first.
        self.known = {
            tuple(row[:count]): group
            for group, (row, count) in enumerate(zip(dimensions.tolist(), self.axes.tolist(), strict=True))
        }
        popularity = np.bincount(sides.dimension, minlength=space.dimensions)
        self._by_dimension = Lists()
        for group, row in enumerate(dimensions.tolist()):
            self._by_dimension.append(min((each for each in row if each >= 0), key=popularity.__getitem__), group)

    def view(self, dimensions: int) -> Groups:
        """Return what kernels see, for events in so many dimensions."""
        self._by_dimension.reserve(dimensions)
        sides = (each.astype(np.int32) for each in (self.axes, self.dimensions, self.shift))
        return Groups(self._by_dimension.view(), *sides)

    def runs(self) -> tuple[Longs, Longs, Longs]:
        """Return the runs of all subscriptions: owners, starts and ends."""
        parts: list[tuple[Longs, Longs, Longs]] = []
        count = self.axes[self.group]
        first = np.searchsorted(self.sides.owner, np.arange(len(self.group)))
        for size in range(1, MOST_DIMENSIONS + 1):
            owners = np.flatnonzero(count == size)
            if len(owners):
                places = first[owners][:, None] + np.arange(size)
                parts.append(self._convert(owners, self.group[owners], self.sides.low[places], self.sides.high[places]))
        owners, starts, ends = (np.concatenate(each) for each in zip(*parts, strict=True)) if parts else (_NONE,) * 3
        return owners, starts, ends

    def place(self, owner: int, group: int, low: list[int], high: list[int]) -> tuple[Longs, Longs, Longs]:
        """Return the runs of a subscription that came later: its owner, starts and ends."""
        return self._convert(np.array([owner]), np.array([group]), np.array([low]), np.array([high]))

    def _convert(self, owners: Longs, groups: Longs, low: Longs, high: Longs) -> tuple[Longs, Longs, Longs]:
        size = low.shape[1]
        shift = self.shift[groups, :size]
        offsets, starts, ends, _ = convert(CURVES[size - 1], low >> shift, high >> shift, MAX_RUNS, NODE_CAP)
        before = np.repeat(groups << KEY_BITS, np.diff(offsets))
        return np.repeat(owners, np.diff(offsets)), starts + before, ends + before

    @property
    def bytes(self) -> int:
        """How much memory the groups take."""
        arrays = self.order, self.group, self.axes, self.dimensions, self.shift, *self.sides
        return self._by_dimension.bytes + sum(each.nbytes for each in arrays)


_NONE: Final[Longs] = np.empty(0, np.int64)
