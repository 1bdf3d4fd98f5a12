"""PSTHash (specs/002 §6, thesis ch. 8): two access predicates, and a hash from pairs of leaves to subscriptions."""

import numpy as np

from tamis.compiled import kernel
from tamis.matching.algorithms.access import Access, AccessLists, find_listed
from tamis.matching.algorithms.hashtable import EMPTY, Table, pair, slot_of
from tamis.matching.algorithms.pairs import NONE, Chains, Pairs
from tamis.matching.algorithms.pstbloom import BULK, K, M
from tamis.matching.algorithms.signatures import Kind
from tamis.matching.engine import Capabilities, register
from tamis.matching.ranks.conjunctive import ConjunctiveEngine
from tamis.matching.ranks.encoding import Encoded
from tamis.matching.ranks.kernels import CANDIDATES, Predicates, enter, leave
from tamis.matching.ranks.layout import Layout, layout, width
from tamis.matching.ranks.line import Merge, Split
from tamis.matching.ranks.lists import Ints, Longs, View
from tamis.matching.ranks.verification import Tests, Verification, verify, word_of

#: Under so many pairs of leaves a subscription is stored at most; specs/002 §6 proposes 100,000.
#: Measured on BE-Gen with 100 attributes: with one equality in each subscription 128 leave 0.4 % of them to the lists;
#: without any equality a half, but a limit of 1,024 would need 7 kB for each subscription and save little time.
MOST_PAIRS = 128
_FIRST_SLOTS = 1024


@register(
    "psthash",
    Capabilities(
        arbitrary=False,
        exact=True,
        dynamic=True,
        batch=True,
        summary="a hash from pairs of leaves of the two most selective predicates (PSTHash; specs/002 §6)",
    ),
)
class PSTHash(ConjunctiveEngine):
    """A subscription is stored under all pairs of leaves of its two most selective predicates.

    Subscriptions with only one predicate to find them by are in lists, as in PSTBloom; so are [ours] those that would
    need more than `most_pairs` pairs, also when they come to need them later because leaves were split.
    [fix] A subscription is taken away from all its pairs before its predicates are given back and leaves are
    merged; the source's order leaves keys behind that name dead leaves.
    """

    def __init__(
        self,
        most_pairs: int = MOST_PAIRS,
        slots: int = _FIRST_SLOTS,
        m: int = M,
        k: int = K,
        signature: Kind = "bloom",
    ) -> None:
        super().__init__()
        self._most_pairs = most_pairs
        self._verification = Verification(self.space, self.held)
        self._pairs = Pairs(slots)
        self._others = AccessLists(self.space, self.held, m, k, signature)
        #: Subscriptions that splits have put under too many pairs.
        self._heavy: list[int] = []

    def insert(self, position: int, predicates: list[int]) -> None:
        self._relieve()
        ordered = self._verification.insert(position, predicates)
        if len(ordered) > 1 and not self.space.takes_null[ordered[1]]:
            left, right = (self.space.leaves_of(each) for each in ordered[:2])
            if len(left) * len(right) <= self._most_pairs:
                self._pairs.add(position, left, right)
                return
        self._others.insert(position, ordered)

    def insert_many(self, positions: Ints) -> None:
        if len(positions) < BULK:
            super().insert_many(positions)
            return
        self._relieve()
        where = layout(self.space)
        self._verification.insert_many(positions, where)
        products = np.empty(len(positions), np.int64)
        _multiply(positions, self.held.view(), self.predicates(), where, products)
        paired = (products > 0) & (products <= self._most_pairs)
        self._pairs.add_many(positions[paired], products[paired], self.held.view(), self.space.bounds.view(), where)
        self._others.insert_many(positions[~paired], where)

    def delete(self, position: int, predicates: list[int]) -> None:
        self._take(position, predicates)
        self._verification.delete(position)

    def _take(self, position: int, predicates: list[int]) -> None:
        if self.is_paired(position):
            left, right = (self.space.leaves_of(each) for each in predicates[:2])
            self._pairs.remove(position, left, right)
        else:
            self._others.delete(position, predicates)

    def split(self, split: Split) -> None:
        self._heavy += self._pairs.split(split, self._most_pairs)
        self._others.split(split)

    def merge(self, merge: Merge) -> None:
        self._pairs.merge(merge)
        self._others.merge(merge)

    def is_paired(self, position: int) -> bool:
        """Return whether a subscription is stored under pairs of leaves."""
        counts = self._pairs.counts
        return bool(position < len(counts) and counts[position])

    def _relieve(self) -> None:
        """Move subscriptions that are under too many pairs to the lists."""
        for position in self._heavy:
            if self._pairs.counts[position] > self._most_pairs:
                predicates = self.held[position].tolist()
                self._take(position, predicates)
                self._others.insert(position, predicates)
        self._heavy.clear()

    def search(self, first: int, last: int, events: Encoded, ends: Longs, out: Ints, work: Longs) -> int:
        return _search(
            first,
            last,
            events,
            *self._pairs.view(),
            self._pairs.partners(self.space.leaves),
            self._others.view(),
            self._verification.tests(),
            self.scratch("near", self.space.dimensions),
            self.scratch("here", self.space.dimensions),
            self.ranks(),
            self.top,
            ends,
            out,
            work,
        )

    def extra_bytes(self) -> int:
        return self._verification.bytes + self._pairs.bytes + self._others.bytes

    def check_invariants(self) -> None:
        super().check_invariants()
        self._verification.check_invariants()
        expected: dict[tuple[int, int], list[int]] = {}
        others = []
        for position in self._verification.stored():
            if not self.is_paired(position):
                others.append(position)
                continue
            assert self._pairs.counts[position] <= self._most_pairs or position in self._heavy
            access = self.held[position].tolist()[:2]
            assert not any(self.space.takes_null[each] for each in access)
            left, right = (self.space.leaves_of(each).tolist() for each in access)
            for key in {(min(one, other), max(one, other)) for one in left for other in right}:
                expected.setdefault(key, []).append(position)
        assert self._pairs.content() == expected
        self._pairs.check_invariants()
        self._others.check(others)


@kernel
def _multiply(positions: Ints, held: View, predicates: Predicates, where: Layout, products: Longs) -> None:
    """Write how many pairs each subscription needs; zero if it has only one predicate to find it by."""
    start, size, data = held
    bounds = predicates.bounds
    for number in range(len(positions)):
        first = start[positions[number]]
        products[number] = 0
        if size[positions[number]] > 1:
            second = data[first + 1]
            if predicates.rank[bounds.data[bounds.start[second]]] > 0:
                products[number] = np.int64(width(data[first], bounds, where)) * width(second, bounds, where)


@kernel
def _search(
    first: int,
    last: int,
    events: Encoded,
    table: Table,
    chains: Chains,
    partners: Ints,
    others: Access,
    tests: Tests,
    near: Ints,
    here: Ints,
    ranks: Ints,
    top: int,
    ends: Longs,
    out: Ints,
    work: Longs,
) -> int:
    used = 0
    for row in range(first, last):
        if len(out) - used < top:
            return row
        enter(row, events, tests.predicates.rank, ranks)
        word = word_of(row, events)
        count = 0
        for place in range(events.offsets[row], events.offsets[row + 1]):
            leaf = events.leaves[place]
            here[events.dimensions[place]] = leaf
            if partners[leaf] > 0:
                near[count] = leaf
                count += 1
        found = _find_paired(near, count, word, table, chains, tests, out, used, work)
        used = verify(1, ranks, tests, out, used, found, work)
        used = find_listed(row, events, word, here, ranks, others, tests, out, used, work)
        leave(row, events, ranks)
        ends[row] = used
    return last


@kernel
def _find_paired(
    near: Ints,
    count: int,
    word: int,
    table: Table,
    chains: Chains,
    tests: Tests,
    out: Ints,
    used: int,
    work: Longs,
) -> int:
    """Write the subscriptions under pairs of the first leaves in `near` whose attributes the event has."""
    keys, values, _ = table
    positions, following, _ = chains
    needed = tests.needed
    found, seen = used, 0
    for one in range(count):
        for other in range(one + 1, count):
            slot = slot_of(pair(near[one], near[other]), keys)
            if keys[slot] != EMPTY:
                link = values[slot]
                while link != NONE:
                    position = positions[link]
                    seen += 1
                    if needed[position] & ~word == 0:
                        out[found] = position
                        found += 1
                    link = following[link]
    work[CANDIDATES] += seen
    return found
