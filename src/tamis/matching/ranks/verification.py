"""How a candidate is verified cheaply: what is likely to fail comes first, and all of it lies in one place.

[ours] First one 64-bit word for each subscription, with a bit for each attribute that it needs, against the word of the
attributes that the event has. It turns most candidates away with one look at memory. Then the tests of the
predicates that the candidate was not found by, the most selective first (`held` is kept in that order). They are
written one behind the other, for each predicate

    dimension, n, low, high, low, high, …       its n stretches, or
    dimension, -1 - predicate                   a reference, if it has more than a few

so that a candidate costs one or two cache misses instead of five for each predicate.
"""

from typing import NamedTuple

import numpy as np

from tamis.compiled import kernel
from tamis.matching.ranks.encoding import Encoded
from tamis.matching.ranks.kernels import TESTS, Predicates, meets
from tamis.matching.ranks.layout import Layout
from tamis.matching.ranks.lists import Ints, Lists, Longs, View, grown
from tamis.matching.ranks.selectivity import by_selectivity, sort_by_selectivity
from tamis.matching.ranks.space import Space

#: Attributes share these bits; the sign is left alone.
_BITS = 63
#: Up to so many stretches of a predicate are copied.
_FEW = 4
#: Subscriptions whose tests are written at a time.
_PORTION = 1 << 18


class Tests(NamedTuple):
    """What kernels need to verify candidates: by position the tests and the word of needed attributes."""

    written: View
    needed: Longs
    predicates: Predicates


class Verification:
    """Keeps the predicates of each subscription in the order in which they are tested, and what a test needs.

    The first predicate is never tested: it is what every candidate is found by.
    """

    def __init__(self, space: Space, held: Lists) -> None:
        self._space = space
        self._held = held
        self._needed: Longs = np.zeros(1, np.int64)
        self._written = Lists()

    def insert(self, position: int, predicates: list[int]) -> list[int]:
        """Bring the predicates of a subscription into order and return them."""
        ordered = by_selectivity(self._space, predicates)
        self._held.assign(position, ordered)
        self._needed = grown(self._needed, position + 1)
        self._needed[position] = self._word(ordered)
        self._written.assign(position, self._tests_of(ordered))
        return ordered

    def insert_many(self, positions: Ints, where: Layout) -> None:
        """Bring the predicates of many subscriptions into order."""
        space = self._space
        sort_by_selectivity(space, positions, self._held.view(), where)
        self._needed = grown(self._needed, int(positions.max()) + 1)
        held, predicates = self._held.view(), Predicates(space.rank, space.dimension, space.bounds.view())
        _note_needed(positions, held, predicates, self._needed)
        for first in range(0, len(positions), _PORTION):
            some = positions[first : first + _PORTION]
            owners = np.empty(_count_tests(some, held, predicates), np.int32)
            tests = np.empty(len(owners), np.int32)
            _write_tests(some, held, predicates, owners, tests)
            self._written.extend(owners, tests)

    def delete(self, position: int) -> None:
        """Forget a subscription."""
        self._needed[position] = 0
        self._written.clear(position)

    def stored(self) -> list[int]:
        """Return the positions of all subscriptions; each needs some attribute."""
        positions: list[int] = np.flatnonzero(self._needed).tolist()
        return positions

    def tests(self) -> Tests:
        """Return what kernels need."""
        space = self._space
        self._written.reserve(len(self._needed))
        predicates = Predicates(space.rank, space.dimension, space.bounds.view())
        return Tests(self._written.view(), self._needed, predicates)

    @property
    def bytes(self) -> int:
        """How much memory the words and tests take."""
        return self._needed.nbytes + self._written.bytes

    def check_invariants(self) -> None:
        """Raise `AssertionError` if words and tests are not those of the predicates."""
        self._written.check_invariants()
        for position in self.stored():
            predicates = self._held[position].tolist()
            takes_null = [self._space.takes_null[each] for each in predicates]
            assert takes_null == sorted(takes_null)
            assert self._needed[position] == self._word(predicates)
            assert self._written[position].tolist() == self._tests_of(predicates)

    def _word(self, predicates: list[int]) -> int:
        word = 0
        for each in predicates:
            if not self._space.takes_null[each]:
                word |= 1 << int(self._space.dimension[each]) % _BITS
        return word

    def _tests_of(self, predicates: list[int]) -> list[int]:
        written: list[int] = []
        for each in predicates[1:]:
            bounds = self._space.bounds[each].tolist()
            written.append(int(self._space.dimension[each]))
            written += [len(bounds) // 2, *bounds] if len(bounds) <= 2 * _FEW else [-1 - each]
        return written


@kernel
def _note_needed(positions: Ints, held: View, predicates: Predicates, needed: Longs) -> None:
    rank, dimension, bounds = predicates
    for position in positions:
        word = np.int64(0)
        for place in range(held.start[position], held.start[position] + held.size[position]):
            predicate = held.data[place]
            if rank[bounds.data[bounds.start[predicate]]] > 0:
                word |= np.int64(1) << (dimension[predicate] % _BITS)
        needed[position] = word


@kernel
def _count_tests(positions: Ints, held: View, predicates: Predicates) -> int:
    count = 0
    for position in positions:
        for place in range(held.start[position] + 1, held.start[position] + held.size[position]):
            size = predicates.bounds.size[held.data[place]]
            count += 2 + size if size <= 2 * _FEW else 2
    return count


@kernel
def _write_tests(positions: Ints, held: View, predicates: Predicates, owners: Ints, tests: Ints) -> None:
    bounds = predicates.bounds
    at = 0
    for position in positions:
        begin = at
        for place in range(held.start[position] + 1, held.start[position] + held.size[position]):
            predicate = held.data[place]
            first, size = bounds.start[predicate], bounds.size[predicate]
            tests[at] = predicates.dimension[predicate]
            if size <= 2 * _FEW:
                tests[at + 1] = size // 2
                tests[at + 2 : at + 2 + size] = bounds.data[first : first + size]
                at += 2 + size
            else:
                tests[at + 1] = -1 - predicate
                at += 2
        owners[begin:at] = position


@kernel
def word_of(row: int, events: Encoded) -> int:
    """Return the word of the attributes that an event has."""
    word = np.int64(0)
    for place in range(events.offsets[row], events.offsets[row + 1]):
        word |= np.int64(1) << (events.dimensions[place] % _BITS)
    return int(word)


@kernel
def verify(known: int, ranks: Ints, tests: Tests, out: Ints, used: int, found: int, work: Longs) -> int:
    """Keep among the candidates `out[used:found]` those that the event in `ranks` meets; return where they end.

    So many tests of each candidate are known to succeed. All candidates are verified in one call, and arrays are
    taken out of their tuples once: to hand tuples of arrays to a function for each candidate costs more than the test.
    """
    start, size, data = tests.written
    rank = tests.predicates.rank
    kept, tested = used, 0
    for number in range(used, found):
        position = out[number]
        at, end = start[position], start[position] + size[position]
        skipped = 0
        met = True
        while met and at < end:
            value, count = ranks[data[at]], data[at + 1]
            at += 2
            if skipped < known:
                skipped += 1
                at += max(0, 2 * count)
                continue
            tested += 1
            if count < 0:
                met = meets(-1 - count, value, tests.predicates)
                continue
            last = at + 2 * count
            while at < last and rank[data[at + 1]] <= value:
                at += 2
            met = at < last and rank[data[at]] <= value
            at = last
        if met:
            out[kept] = position
            kept += 1
    work[TESTS] += tested
    return kept
