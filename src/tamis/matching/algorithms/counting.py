"""Counting (specs/000 §3): count the met predicates of each subscription; it matches when all of them were met."""

import numpy as np

from tamis.compiled import kernel
from tamis.matching.engine import Capabilities, register
from tamis.matching.ranks.conjunctive import LimitedEngine
from tamis.matching.ranks.encoding import Encoded
from tamis.matching.ranks.kernels import CANDIDATES, TESTS, Predicates, enter, leave, meets_all
from tamis.matching.ranks.line import Merge, Split
from tamis.matching.ranks.lists import Ints, Lists, Longs, View, grown

#: When the clock of a thread, which counts events, starts anew.
_CLOCK_WRAPS = 1 << 30


@register(
    "counting",
    Capabilities(
        arbitrary=False,
        exact=True,
        dynamic=True,
        batch=True,
        summary="counts met predicates per subscription (Shen; specs/000 §3)",
    ),
)
class Counting(LimitedEngine):
    """Every leaf lists the predicates that it meets, every predicate the subscriptions that have it.

    Counters are not reset between events: each remembers the event it counts for. A subscription is reported as soon
    as its last predicate was met, so `find` can stop at a limit without having seen the rest (the early exit that
    the source's Table 3.1 implies without describing it).
    """

    def __init__(self) -> None:
        super().__init__()
        #: By leaf: the predicates it meets. By predicate: the subscriptions that have it.
        self._met = Lists()
        self._owners = Lists()
        #: By position: how many predicates must be met by values, that is do not take null.
        self._needed: Ints = np.zeros(1, np.int32)

    def insert(self, position: int, predicates: list[int]) -> None:
        self._needed = grown(self._needed, position + 1)
        counted = [each for each in predicates if not self.space.takes_null[each]]
        self._needed[position] = len(counted)
        for predicate in counted:
            self._owners.append(predicate, position)
            if len(self._owners[predicate]) == 1:
                for leaf in self.space.leaves_of(predicate).tolist():
                    self._met.append(leaf, predicate)

    def insert_many(self, positions: Ints) -> None:
        owners, predicates = self.held.pairs(positions)
        counted = ~np.array(self.space.takes_null, np.bool_)[predicates]
        owners, predicates = owners[counted], predicates[counted]
        self._needed = grown(self._needed, self.top)
        self._needed[positions] = np.bincount(owners, minlength=self.top)[positions]
        self._owners.reserve(self.space.top)
        fresh = [each for each in np.unique(predicates).tolist() if self._owners.size[each] == 0]
        self._owners.extend(predicates, owners)
        if fresh:
            covered = [self.space.leaves_of(each) for each in fresh]
            self._met.extend(np.concatenate(covered), np.repeat(fresh, [len(each) for each in covered]))

    def delete(self, position: int, predicates: list[int]) -> None:
        for predicate in predicates:
            if not self.space.takes_null[predicate]:
                self._owners.discard(predicate, position)
                if not len(self._owners[predicate]):
                    for leaf in self.space.leaves_of(predicate).tolist():
                        self._met.discard(leaf, predicate)

    def split(self, split: Split) -> None:
        self._met.assign(split.new, self._met[split.old])

    def merge(self, merge: Merge) -> None:
        self._met.clear(merge.dropped)

    def search_up_to(
        self, limit: int, first: int, last: int, events: Encoded, ends: Longs, out: Ints, work: Longs
    ) -> int:
        self._met.reserve(self.space.leaves)
        self._owners.reserve(self.space.top)
        clock, stamps = self.scratch("clock", 1), self.scratch("stamps", self.top)
        if clock[0] > _CLOCK_WRAPS:
            clock[0] = stamps[:] = 0
        return _search(
            first,
            last,
            events,
            self._met.view(),
            self._owners.view(),
            self._needed,
            self.held.view(),
            self.predicates(),
            self.ranks(),
            self.scratch("counts", self.top),
            stamps,
            clock,
            self.top,
            limit,
            ends,
            out,
            work,
        )

    def extra_bytes(self) -> int:
        return self._met.bytes + self._owners.bytes + self._needed.nbytes

    def check_invariants(self) -> None:
        super().check_invariants()
        self._met.check_invariants()
        self._owners.check_invariants()


@kernel
def _search(
    first: int,
    last: int,
    events: Encoded,
    met: View,
    owners: View,
    needed: Ints,
    held: View,
    predicates: Predicates,
    ranks: Ints,
    counts: Ints,
    stamps: Ints,
    clock: Ints,
    top: int,
    limit: int,
    ends: Longs,
    out: Ints,
    work: Longs,
) -> int:
    used = 0
    for row in range(first, last):
        if len(out) - used < top:
            return row
        clock[0] += 1
        now = clock[0]
        found = 0
        enter(row, events, predicates.rank, ranks)
        for place in range(events.offsets[row], events.offsets[row + 1]):
            leaf = events.leaves[place]
            for at in range(met.start[leaf], met.start[leaf] + met.size[leaf]):
                predicate = met.data[at]
                for owner in range(owners.start[predicate], owners.start[predicate] + owners.size[predicate]):
                    position = owners.data[owner]
                    work[TESTS] += 1
                    if stamps[position] != now:
                        stamps[position] = now
                        counts[position] = 0
                        work[CANDIDATES] += 1
                    counts[position] += 1
                    if counts[position] == needed[position] and (
                        needed[position] == held.size[position]
                        or meets_all(position, -1, ranks, held, predicates, work)
                    ):
                        out[used] = position
                        used += 1
                        found += 1
                        if found == limit:
                            break
                if found == limit:
                    break
            if found == limit:
                break
        leave(row, events, ranks)
        ends[row] = used
    return last
