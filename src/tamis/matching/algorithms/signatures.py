"""Counting signatures by leaf: may a predicate of this subscription be met here? (specs/002 §5)

A signature is a Bloom filter of `m` counters of 8 bits, so that ids can be taken out again ([fix]: the source's plain
filter cannot forget). A counter that has reached its limit is never decremented: it may stand for more ids than it
says, and a filter that forgets too much would lose matches. So for any m and k a signature has no false negatives.
"""

from typing import Literal, NamedTuple, TypeAlias

import numpy as np
import numpy.typing as npt

from tamis.compiled import kernel
from tamis.matching.ranks.layout import Layout
from tamis.matching.ranks.lists import Ints, Lists, View
from tamis.matching.ranks.verification import Tests

Counters: TypeAlias = npt.NDArray[np.uint8]
Kind: TypeAlias = Literal["bloom", "exact"]

#: What a counter can count to.
FULL = 255

#: Primes below 2**31, so that no product with a position exceeds 64 bits; the bits in the middle are well mixed.
_FIRST_FACTOR, _STEP_FACTOR, _MIDDLE = 1_640_531_527, 2_027_808_489, 12


class Signature(NamedTuple):
    """What kernels see: leaf x has the counters from `m * x`; or, if `exact`, the list of its members."""

    counters: Counters
    m: int
    k: int
    exact: bool
    members: View


class Signatures:
    """The signatures of all leaves: sets of positions that may err on the side of holding too much.

    `kind="exact"` keeps the sets themselves, for tests.
    """

    def __init__(self, m: int, k: int, kind: Kind = "bloom") -> None:
        if m < 1 or k < 1:
            raise ValueError(f"a signature has at least one counter and one hash, not m={m} and k={k}")
        self.m = m
        self.k = k
        self._exact = kind == "exact"
        self._counters: Counters = np.zeros(0, np.uint8)
        self._members = Lists()

    def add(self, leaves: Ints, position: int) -> None:
        """Put a position into the signatures of leaves."""
        if self._exact:
            for leaf in leaves.tolist():
                self._members.append(leaf, position)
        else:
            self._reserve(int(leaves.max(initial=-1)) + 1)
            _add(leaves, position, self.view())

    def add_many(self, positions: Ints, held: View, bounds: View, where: Layout) -> None:
        """Put positions into the signatures of all leaves that their predicates but the first cover."""
        if self._exact:
            for position in positions.tolist():
                first, size = held.start[position], held.size[position]
                for predicate in held.data[first + 1 : first + size].tolist():
                    start = bounds.start[predicate]
                    ends = where.place[bounds.data[start : start + bounds.size[predicate]]]
                    for low, high in zip(ends[::2], ends[1::2], strict=True):
                        self.add(where.leaves[low:high], position)
        else:
            self._reserve(len(where.place))
            _add_many(positions, held, bounds, where, self.view())

    def remove(self, leaves: Ints, position: int) -> None:
        """Take a position out of the signatures of leaves."""
        if self._exact:
            for leaf in leaves.tolist():
                self._members.discard(leaf, position)
        else:
            _remove(leaves, position, self.view())

    def copy(self, old: int, new: int) -> None:
        """Make the signature of one leaf that of another, too."""
        if self._exact:
            self._members.assign(new, self._members[old].copy())
        elif self._slice(old).any():
            self._reserve(new + 1)
            self._slice(new)[:] = self._slice(old)
        else:
            self._slice(new)[:] = 0

    def clear(self, leaf: int) -> None:
        """Empty the signature of a leaf."""
        self._members.clear(leaf)
        self._slice(leaf)[:] = 0

    def _slice(self, leaf: int) -> Counters:
        return self._counters[leaf * self.m : (leaf + 1) * self.m]

    def _reserve(self, leaves: int) -> None:
        if leaves * self.m > len(self._counters):
            larger = np.zeros((leaves + leaves // 8) * self.m, np.uint8)
            larger[: len(self._counters)] = self._counters
            self._counters = larger

    def view(self) -> Signature:
        """Return the arrays as they are now."""
        return Signature(self._counters, self.m, self.k, self._exact, self._members.view())

    @property
    def bytes(self) -> int:
        """How much memory the signatures take."""
        return self._counters.nbytes + (self._members.bytes if self._exact else 0)

    def check(self, leaf: int, positions: list[int]) -> None:
        """Raise `AssertionError` unless the signature of a leaf is that of these positions, but for full counters."""
        if self._exact:
            assert sorted(self._members[leaf].tolist()) == sorted(positions)
            return
        expected = np.zeros(self.m, np.int64)
        for position in positions:
            for number in range(self.k):
                expected[counter_of(position, number, self.m)] += 1
        counted = self._slice(leaf) if len(self._slice(leaf)) else np.zeros(self.m, np.uint8)
        assert ((counted == expected) | (counted == FULL)).all()


@kernel
def counter_of(position: int, number: int, m: int) -> int:
    """Return which counter a hash function chooses."""
    first = (np.int64(position) * _FIRST_FACTOR) >> _MIDDLE
    step = (np.int64(position) * _STEP_FACTOR) >> _MIDDLE
    return int((first + number * (step | 1)) % m)


@kernel
def sift(here: Ints, ranks: Ints, signature: Signature, tests: Tests, out: Ints, used: int, found: int) -> int:
    """Keep among the candidates `out[used:found]` those in the signatures of the event's leaves `here`, by dimension.

    All tests of a candidate are looked at for which the event has a value. Returns where the candidates end.
    """
    start, size, data = tests.written
    counters, m, k, exact, members = signature
    kept = used
    for number in range(used, found):
        position = out[number]
        held = True
        for function in range(k if size[position] else 0):
            counter = counter_of(position, function, m)
            at, end = start[position], start[position] + size[position]
            while held and at < end:
                dimension, count = data[at], data[at + 1]
                at += 2 + max(0, 2 * count)
                if ranks[dimension] == 0:
                    continue
                if exact:
                    held = _is_member(position, here[dimension], members)
                else:
                    place = np.int64(here[dimension]) * m + counter
                    held = bool(place < len(counters) and counters[place] > 0)
        if held:
            out[kept] = position
            kept += 1
    return kept


@kernel
def _is_member(position: int, leaf: int, members: View) -> bool:
    if leaf < len(members.size):
        for place in range(members.start[leaf], members.start[leaf] + members.size[leaf]):
            if members.data[place] == position:
                return True
    return False


@kernel
def _add(leaves: Ints, position: int, signature: Signature) -> None:
    for number in range(signature.k):
        counter = counter_of(position, number, signature.m)
        for leaf in leaves:
            at = np.int64(leaf) * signature.m + counter
            if signature.counters[at] < FULL:
                signature.counters[at] += 1


@kernel
def _remove(leaves: Ints, position: int, signature: Signature) -> None:
    for number in range(signature.k):
        counter = counter_of(position, number, signature.m)
        for leaf in leaves:
            at = np.int64(leaf) * signature.m + counter
            if signature.counters[at] < FULL:
                signature.counters[at] -= 1


@kernel
def _add_many(positions: Ints, held: View, bounds: View, where: Layout, signature: Signature) -> None:
    for position in positions:
        first = held.start[position]
        for place in range(first + 1, first + held.size[position]):
            predicate = held.data[place]
            start = bounds.start[predicate]
            for at in range(start, start + bounds.size[predicate], 2):
                low, high = where.place[bounds.data[at]], where.place[bounds.data[at + 1]]
                _add(where.leaves[low:high], position, signature)
