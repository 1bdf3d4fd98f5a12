"""The k-index (specs/002 §8): inverted lists of values, apart for each size of subscription."""

from collections.abc import Callable
from typing import NamedTuple

import numpy as np

from tamis.compiled import kernel
from tamis.matching.engine import Capabilities, Rows, register
from tamis.matching.ranks.conjunctive import ConjunctiveEngine
from tamis.matching.ranks.encoding import Encoded
from tamis.matching.ranks.kernels import CANDIDATES, TESTS, Predicates, enter, leave, meets_all
from tamis.matching.ranks.layout import Layout, layout
from tamis.matching.ranks.lists import Bytes, Ints, Longs, View

#: When the clock of a thread, which counts events, starts anew.
_CLOCK_WRAPS = 1 << 30


class Partitions(NamedTuple):
    """The inverted lists: the one for the sizes' entry s and a leaf has the number `s * leaves + leaf`.

    A list is `postings[offsets[number] : offsets[number + 1]]`, and `sizes` is in ascending order.
    """

    sizes: Longs
    leaves: int
    offsets: Longs
    postings: Ints


@register(
    "kindex",
    Capabilities(
        arbitrary=False,
        exact=True,
        dynamic=False,
        batch=True,
        summary="k-index: counts in inverted lists, one partition for each size (specs/002 §8)",
    ),
)
class KIndex(ConjunctiveEngine):
    """A subscription of size k is listed under each leaf that each of its k predicates covers.

    An event with n attributes looks into the partitions with k <= n only. A subscription matches when it was found k
    times; the predicates that take null, which are not counted in k, are then tested. Ranges are
    expanded, as the source has it, so the lists grow with the product of subscriptions and cuts.
    The lists are built before the first event after additions.
    """

    def __init__(self) -> None:
        super().__init__()
        self._positions: list[int] = []
        self._partitions: Partitions | None = None

    def insert(self, position: int, predicates: list[int]) -> None:  # noqa: ARG002 - they are read from `held`
        self._positions.append(position)
        self._partitions = None

    def delete(self, position: int, predicates: list[int]) -> None:  # noqa: ARG002 - it refuses whatever is given
        raise TypeError(f"{type(self).__name__} is not dynamic")

    def match_by(self, search: Callable[..., int], events: Encoded) -> Rows:
        # Before the search, which several threads run.
        self._built()
        return super().match_by(search, events)

    def _built(self) -> Partitions:
        if self._partitions is None:
            space = self.space
            positions = np.array(self._positions, np.int32)
            counted = 1 - np.array(space.takes_null, np.int8)
            lengths = np.array([counted[self.held[position]].sum() for position in self._positions], np.int64)
            sizes, slots = np.unique(lengths, return_inverse=True)
            shared = positions, slots, counted, self.held.view(), space.bounds.view(), layout(space)
            ends = np.zeros(len(sizes) * space.leaves, np.int64)
            _list(*shared, ends, np.empty(0, np.int32))
            offsets = np.concatenate(([0], np.cumsum(ends)))
            postings = np.empty(offsets[-1], np.int32)
            _list(*shared, offsets[:-1].copy(), postings)
            self._partitions = Partitions(sizes, space.leaves, offsets, postings)
        return self._partitions

    def search(self, first: int, last: int, events: Encoded, ends: Longs, out: Ints, work: Longs) -> int:
        clock, counts = self.scratch("clock", 1), self.scratch("counts", self.top)
        if clock[0] > _CLOCK_WRAPS:
            clock[0] = counts[:] = 0
        return _search(
            first,
            last,
            events,
            self._built(),
            self.held.view(),
            self.predicates(),
            self.ranks(),
            counts,
            clock,
            self.top,
            ends,
            out,
            work,
        )

    def extra_bytes(self) -> int:
        sizes, _, offsets, postings = self._built()
        return sizes.nbytes + offsets.nbytes + postings.nbytes

    def check_invariants(self) -> None:
        super().check_invariants()
        sizes, leaves, offsets, postings = self._built()
        wanted: dict[int, list[int]] = {}
        for position in sorted(self._positions):
            counted = [each for each in self.held[position].tolist() if not self.space.takes_null[each]]
            slot = sizes.tolist().index(len(counted))
            for predicate in counted:
                for leaf in self.space.leaves_of(predicate).tolist():
                    wanted.setdefault(slot * leaves + leaf, []).append(position)
        for number in range(len(offsets) - 1):
            found = postings[offsets[number] : offsets[number + 1]]
            assert sorted(found.tolist()) == wanted.get(number, [])


@kernel
def _list(
    positions: Ints,
    slots: Longs,
    counted: Bytes,
    held: View,
    bounds: View,
    where: Layout,
    ends: Longs,
    postings: Ints,
) -> None:
    """Put positions into the lists that end at `ends`, and move the ends; only move them if there are no postings."""
    leaves = len(where.place)
    for number in range(len(positions)):
        position = positions[number]
        for place in range(held.start[position], held.start[position] + held.size[position]):
            predicate = held.data[place]
            if not counted[predicate]:
                continue
            start = bounds.start[predicate]
            for at in range(start, start + bounds.size[predicate], 2):
                for leaf in where.leaves[where.place[bounds.data[at]] : where.place[bounds.data[at + 1]]]:
                    key = slots[number] * leaves + leaf
                    if len(postings):
                        postings[ends[key]] = position
                    ends[key] += 1


@kernel
def _search(
    first: int,
    last: int,
    events: Encoded,
    partitions: Partitions,
    held: View,
    predicates: Predicates,
    ranks: Ints,
    counts: Ints,
    clock: Ints,
    top: int,
    ends: Longs,
    out: Ints,
    work: Longs,
) -> int:
    """A counter below `zero` is what an earlier event left."""
    sizes, leaves, offsets, postings = partitions
    step = sizes[-1] + 1 if len(sizes) else 1
    used = 0
    for row in range(first, last):
        if len(out) - used < top:
            return row
        clock[0] += step
        zero = clock[0]
        enter(row, events, predicates.rank, ranks)
        for slot in range(len(sizes)):
            size = sizes[slot]
            if size > events.offsets[row + 1] - events.offsets[row]:
                break
            for place in range(events.offsets[row], events.offsets[row + 1]):
                key = slot * leaves + events.leaves[place]
                for at in range(offsets[key], offsets[key + 1]):
                    position = postings[at]
                    work[TESTS] += 1
                    if counts[position] < zero:
                        counts[position] = zero
                        work[CANDIDATES] += 1
                    counts[position] += 1
                    if counts[position] == zero + size and (
                        size == held.size[position] or meets_all(position, -1, ranks, held, predicates, work)
                    ):
                        out[used] = position
                        used += 1
        leave(row, events, ranks)
        ends[row] = used
    return last
