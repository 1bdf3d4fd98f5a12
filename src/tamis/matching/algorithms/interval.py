"""Interval ID (specs/002 §8): leaves are labelled with intervals, and an expression is true if these make a chain."""

import numpy as np

from tamis.compiled import kernel
from tamis.matching.algorithms.occurrences import Asked, Gathering, LabelEngine, Tree, ask, gather, in_order
from tamis.matching.engine import Capabilities, register
from tamis.matching.ranks.encoding import Encoded
from tamis.matching.ranks.forms import ALL
from tamis.matching.ranks.kernels import CANDIDATES, TESTS
from tamis.matching.ranks.lists import Ints, Longs, grown


@register(
    "interval",
    Capabilities(
        arbitrary=True,
        exact=True,
        dynamic=False,
        batch=True,
        summary="leaves labelled with intervals that must make a chain (Interval ID; specs/002 §8)",
    ),
)
class Interval(LabelEngine):
    """An expression is the interval from 0 to its end, and every part of it an interval between two cuts.

    [ours] A conjunction of k parts cuts its interval k - 1 times, the parts of a disjunction have the interval of the
    whole. No two conjunctions of an expression share a cut. In `(a or b or c) and d and (e or f)` the intervals are
    (0, 1) three times, (1, 2), and (2, 3) twice, where the source has <1, 4>, <5, 5> and <6, 10>.
    """

    def __init__(self) -> None:
        super().__init__()
        #: By leaf: where its interval begins and ends. By position: the end of its expression.
        self.intervals: Ints = np.zeros((0, 2), np.int32)
        self.ends: Ints = np.zeros(1, np.int32)

    def label(self, offsets: Longs, codes: Longs, tree: Tree, leaves: Longs) -> None:
        intervals = np.zeros((len(codes), 2), np.int32)
        _cut(offsets, codes, tree, intervals)
        self.intervals = np.concatenate((self.intervals, intervals[leaves]))
        self.ends = grown(self.ends, self.top)
        self.ends[self.owner[len(self.owner) - len(leaves) :]] = np.repeat(
            intervals[offsets[1:] - 1, 1], np.diff(offsets)
        )[leaves]

    def search(self, first: int, last: int, events: Encoded, ends: Longs, out: Ints, work: Longs) -> int:
        return _search(
            first,
            last,
            events,
            self.asked(),
            self.gathering(),
            self.intervals,
            self.ends,
            self.scratch("reached", self.widest + 1),
            self.top,
            ends,
            out,
            work,
        )

    def extra_bytes(self) -> int:
        return super().extra_bytes() + self.intervals.nbytes + self.ends.nbytes

    def check_invariants(self) -> None:
        super().check_invariants()
        assert not self.scratch("reached", self.widest + 1).any()


@kernel
def _cut(offsets: Longs, codes: Longs, tree: Tree, intervals: Ints) -> None:
    """Write the intervals of all parts: a cut behind each part of a conjunction but the last, numbered in order."""
    parent, number, _, begin = tree
    for form in range(len(offsets) - 1):
        cuts = 0
        for place in range(offsets[form], offsets[form + 1]):
            around = codes[parent[place]]
            if parent[place] >= 0 and around & 3 == ALL and number[place] < around >> 2:
                cuts += 1
                intervals[place, 1] = cuts
        intervals[offsets[form + 1] - 1, 1] = cuts + 1
        for place in range(offsets[form + 1] - 2, offsets[form] - 1, -1):
            low, high = intervals[parent[place]]
            behind = codes[parent[place]] & 3 == ALL and number[place] > 1
            intervals[place, 0] = intervals[begin[place] - 1, 1] if behind else low
            if intervals[place, 1] == 0:
                intervals[place, 1] = high


@kernel
def _search(
    first: int,
    last: int,
    events: Encoded,
    asked: Asked,
    gathering: Gathering,
    intervals: Ints,
    expression_ends: Ints,
    reached: Ints,
    top: int,
    ends: Longs,
    out: Ints,
    work: Longs,
) -> int:
    used = 0
    for row in range(first, last):
        if len(out) - used < top:
            return row
        count = gather(asked.met, ask(row, events, asked), gathering)
        work[CANDIDATES] += count
        used = _evaluate(count, gathering, intervals, expression_ends, reached, out, used, work)
        ends[row] = used
    return last


@kernel
def _evaluate(
    count: int, gathering: Gathering, intervals: Ints, ends: Ints, reached: Ints, out: Ints, used: int, work: Longs
) -> int:
    """Write the candidates whose gathered leaves make a chain from 0 to the end.

    In the order of the leaves, all intervals that end at a cut come before those that begin there.
    """
    _, _, _, _, heads, following, candidates, leaves = gathering
    for each in range(count):
        position = candidates[each]
        gathered = in_order(heads[position], following, leaves)
        work[TESTS] += gathered
        for place in range(gathered):
            low, high = intervals[leaves[place]]
            if low == 0 or reached[low]:
                reached[high] = True
        if reached[ends[position]]:
            out[used] = position
            used += 1
        for place in range(gathered):
            reached[intervals[leaves[place], 1]] = False
    return used
