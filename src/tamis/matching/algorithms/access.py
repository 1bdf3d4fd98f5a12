"""Lists of subscriptions by the leaves of their access predicate, with signatures for the others (specs/002 §5).

This is what PSTBloom consists of; PSTHash keeps its remaining subscriptions in it.
"""

from typing import NamedTuple

import numpy as np

from tamis.compiled import kernel
from tamis.matching.algorithms.signatures import Kind, Signature, Signatures, sift
from tamis.matching.ranks.encoding import Encoded
from tamis.matching.ranks.kernels import CANDIDATES
from tamis.matching.ranks.layout import Layout, expand, width
from tamis.matching.ranks.line import Merge, Split
from tamis.matching.ranks.lists import Ints, Lists, Longs, View
from tamis.matching.ranks.space import Space
from tamis.matching.ranks.verification import Tests, verify


class Access(NamedTuple):
    """What kernels see: the subscriptions by leaf, and the signatures."""

    listed: View
    signature: Signature


class AccessLists:
    """Subscriptions whose predicates are in `held`, the access predicate first.

    The leaves of the access predicate list the subscription; it is in the signatures of all leaves that its other
    predicates cover. The leaf of null has a signature like any other leaf, though no event is ever there.
    """

    def __init__(self, space: Space, held: Lists, m: int, k: int, signature: Kind) -> None:
        self._space = space
        self._held = held
        self._listed = Lists()
        self._signatures = Signatures(m, k, signature)

    def insert(self, position: int, predicates: list[int]) -> None:
        """Store a subscription."""
        for leaf in self._space.leaves_of(predicates[0]).tolist():
            self._listed.append(leaf, position)
        for predicate in predicates[1:]:
            self._signatures.add(self._space.leaves_of(predicate), position)

    def insert_many(self, positions: Ints, where: Layout) -> None:
        """Store many subscriptions."""
        if not len(positions):
            return
        held, bounds = self._held.view(), self._space.bounds.view()
        leaves = np.empty(_count(positions, held, bounds, where), np.int32)
        listed = np.empty(len(leaves), np.int32)
        _pairs(positions, held, bounds, where, leaves, listed)
        self._listed.extend(leaves, listed)
        self._signatures.add_many(positions, held, bounds, where)

    def delete(self, position: int, predicates: list[int]) -> None:
        """Forget a subscription."""
        for leaf in self._space.leaves_of(predicates[0]).tolist():
            self._listed.discard(leaf, position)
        for predicate in predicates[1:]:
            self._signatures.remove(self._space.leaves_of(predicate), position)

    def split(self, split: Split) -> None:
        """Copy list and signature of a leaf that was split."""
        if len(self._listed[split.old]):
            self._listed.assign(split.new, self._listed[split.old].copy())
        self._signatures.copy(*split)

    def merge(self, merge: Merge) -> None:
        """Drop list and signature of a leaf that went away: its neighbour has the same."""
        self._listed.clear(merge.dropped)
        self._signatures.clear(merge.dropped)

    def view(self) -> Access:
        """Return what kernels need."""
        self._listed.reserve(self._space.leaves)
        return Access(self._listed.view(), self._signatures.view())

    @property
    def bytes(self) -> int:
        """How much memory lists and signatures take."""
        return self._listed.bytes + self._signatures.bytes

    def check(self, positions: list[int]) -> None:
        """Raise `AssertionError` unless exactly these subscriptions are stored, each where it belongs."""
        listed: dict[int, list[int]] = {}
        signed: dict[int, list[int]] = {}
        for position in positions:
            access, *others = self._held[position].tolist()
            assert not self._space.takes_null[access]
            for leaf in self._space.leaves_of(access).tolist():
                listed.setdefault(leaf, []).append(position)
            for predicate in others:
                for leaf in self._space.leaves_of(predicate).tolist():
                    signed.setdefault(leaf, []).append(position)
        for leaf in range(self._space.leaves):
            assert sorted(self._listed[leaf].tolist()) == sorted(listed.get(leaf, []))
            self._signatures.check(leaf, signed.get(leaf, []))
        self._listed.check_invariants()


@kernel
def _count(positions: Ints, held: View, bounds: View, where: Layout) -> int:
    count = 0
    for position in positions:
        count += width(held.data[held.start[position]], bounds, where)
    return count


@kernel
def _pairs(positions: Ints, held: View, bounds: View, where: Layout, leaves: Ints, listed: Ints) -> None:
    written = 0
    for position in positions:
        count = expand(held.data[held.start[position]], bounds, where, leaves[written:])
        listed[written : written + count] = position
        written += count


@kernel
def find_listed(
    row: int,
    events: Encoded,
    word: int,
    here: Ints,
    ranks: Ints,
    access: Access,
    tests: Tests,
    out: Ints,
    used: int,
    work: Longs,
) -> int:
    """Write the listed subscriptions that an event meets behind the `used` answers; return how many there are then.

    The event is in `ranks`; `here` holds its leaves by dimension, and anything where it has no value.
    """
    start, size, data = access.listed
    needed, leaves = tests.needed, events.leaves
    found, seen = used, 0
    for place in range(events.offsets[row], events.offsets[row + 1]):
        leaf = leaves[place]
        seen += size[leaf]
        for at in range(start[leaf], start[leaf] + size[leaf]):
            position = data[at]
            if needed[position] & ~word == 0:
                out[found] = position
                found += 1
    work[CANDIDATES] += seen
    found = sift(here, ranks, access.signature, tests, out, used, found)
    return verify(0, ranks, tests, out, used, found, work)
