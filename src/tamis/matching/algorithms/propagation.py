"""Propagation (specs/002 §8): a bit for each predicate, and an access predicate that leads to each subscription."""

import numpy as np

from tamis.compiled import kernel
from tamis.matching.engine import Capabilities, register
from tamis.matching.ranks.conjunctive import ConjunctiveEngine
from tamis.matching.ranks.encoding import Encoded
from tamis.matching.ranks.kernels import CANDIDATES, TESTS, Predicates, enter, leave, meets
from tamis.matching.ranks.layout import layout
from tamis.matching.ranks.line import Shape
from tamis.matching.ranks.lists import Ints, Lists, Longs, View, grown
from tamis.matching.ranks.selectivity import most_selective, sort_by_selectivity

#: These list values, each of which has a leaf to itself.
_NAMING = (Shape.ONE_VALUE, Shape.VALUES)


@register(
    "propagation",
    Capabilities(
        arbitrary=False,
        exact=True,
        dynamic=True,
        batch=True,
        summary="a bit for each predicate; access predicates lead to candidates (specs/002 §8)",
    ),
)
class Propagation(ConjunctiveEngine):
    """An event sets the bits of the predicates it meets; then it looks at the subscriptions they give access to.

    A subscription is listed under its most selective predicate, and matches if the bits of all its
    predicates are set. All bits are reset for each event: that is the weakness which the source tells of.

    [ours] The source does not say how met predicates are found. Those that name values are listed by leaf, which
    no cut can split; the others are tested one by one, by attribute, and those that take null on every event.
    """

    def __init__(self) -> None:
        super().__init__()
        #: By leaf: the predicates that name its value.
        self._named = Lists()
        #: By dimension: predicate, low, high for each stretch of the predicates that are tested.
        self._tested = Lists()
        #: In list 0: the predicates that take null.
        self._nullable = Lists()
        #: By predicate: how many subscriptions have it, and those that it gives access to.
        self._uses: Ints = np.zeros(1, np.int32)
        self._owners = Lists()
        #: By position: the access predicate.
        self._access: Ints = np.zeros(1, np.int32)

    def insert(self, position: int, predicates: list[int]) -> None:
        self._store(position, predicates, *most_selective(self.space, predicates, 1))

    def insert_many(self, positions: Ints) -> None:
        sort_by_selectivity(self.space, positions, self.held.view(), layout(self.space))
        for position in positions.tolist():
            predicates = self.held[position].tolist()
            self._store(position, predicates, predicates[0])

    def _store(self, position: int, predicates: list[int], access: int) -> None:
        self._uses = grown(self._uses, self.space.top)
        self._access = grown(self._access, position + 1)
        for predicate in predicates:
            if not self._uses[predicate]:
                self._enlist(predicate)
            self._uses[predicate] += 1
        self._access[position] = access
        self._owners.append(access, position)

    def delete(self, position: int, predicates: list[int]) -> None:
        self._owners.discard(int(self._access[position]), position)
        for predicate in predicates:
            self._uses[predicate] -= 1
            if not self._uses[predicate]:
                self._delist(predicate)

    def _enlist(self, predicate: int) -> None:
        space = self.space
        bounds = space.bounds[predicate].tolist()
        if space.takes_null[predicate]:
            self._nullable.append(0, predicate)
        elif space.shape[predicate] in _NAMING:
            for leaf in bounds[::2]:
                self._named.append(leaf, predicate)
        else:
            dimension = int(space.dimension[predicate])
            for low, high in zip(bounds[::2], bounds[1::2], strict=True):
                for value in (predicate, low, high):
                    self._tested.append(dimension, value)

    def _delist(self, predicate: int) -> None:
        space = self.space
        if space.takes_null[predicate]:
            self._nullable.discard(0, predicate)
        elif space.shape[predicate] in _NAMING:
            for leaf in space.bounds[predicate][::2].tolist():
                self._named.discard(leaf, predicate)
        else:
            dimension = int(space.dimension[predicate])
            listed = self._tested[dimension].reshape(-1, 3)
            self._tested.assign(dimension, listed[listed[:, 0] != predicate].ravel())

    def search(self, first: int, last: int, events: Encoded, ends: Longs, out: Ints, work: Longs) -> int:
        space = self.space
        self._named.reserve(space.leaves)
        self._tested.reserve(space.dimensions)
        self._owners.reserve(space.top)
        return _search(
            first,
            last,
            events,
            self._named.view(),
            self._tested.view(),
            self._nullable[0],
            self._owners.view(),
            self.held.view(),
            self.predicates(),
            self.ranks(),
            self.scratch("bits", space.top // 32 + 1),
            self.scratch("met", space.top),
            self.top,
            ends,
            out,
            work,
        )

    def extra_bytes(self) -> int:
        lists = (self._named, self._tested, self._nullable, self._owners)
        return sum(each.bytes for each in lists) + self._uses.nbytes + self._access.nbytes

    def check_invariants(self) -> None:
        super().check_invariants()
        for lists in (self._named, self._tested, self._nullable, self._owners):
            lists.check_invariants()
        space = self.space
        named, tested, nullable = set(), set(), set()
        for predicate in np.flatnonzero(self._uses).tolist():
            bounds = space.bounds[predicate].tolist()
            if space.takes_null[predicate]:
                nullable.add(predicate)
            elif space.shape[predicate] in _NAMING:
                assert space.leaves_of(predicate).tolist() == bounds[::2]
                named |= {(leaf, predicate) for leaf in bounds[::2]}
            else:
                dimension = int(space.dimension[predicate])
                tested |= {(dimension, predicate, *each) for each in zip(bounds[::2], bounds[1::2], strict=True)}
            for position in self._owners[predicate].tolist():
                assert self._access[position] == predicate
                assert predicate in self.held[position]
        assert sorted(named) == sorted(
            (leaf, each) for leaf in range(space.leaves) for each in self._named[leaf].tolist()
        )
        assert sorted(tested) == sorted(
            (dimension, *each)
            for dimension in range(space.dimensions)
            for each in self._tested[dimension].reshape(-1, 3).tolist()
        )
        assert sorted(nullable) == sorted(self._nullable[0].tolist())


@kernel
def _search(
    first: int,
    last: int,
    events: Encoded,
    named: View,
    tested: View,
    nullable: Ints,
    owners: View,
    held: View,
    predicates: Predicates,
    ranks: Ints,
    bits: Ints,
    met: Ints,
    top: int,
    ends: Longs,
    out: Ints,
    work: Longs,
) -> int:
    """Predicates that had to be compared with the event and bits that were read are counted as tests."""
    used = 0
    for row in range(first, last):
        if len(out) - used < top:
            return row
        bits[:] = 0
        count = 0
        enter(row, events, predicates.rank, ranks)
        for place in range(events.offsets[row], events.offsets[row + 1]):
            leaf, dimension = events.leaves[place], events.dimensions[place]
            for predicate in named.data[named.start[leaf] : named.start[leaf] + named.size[leaf]]:
                met[count] = predicate
                count += 1
            rank = predicates.rank[leaf]
            for at in range(tested.start[dimension], tested.start[dimension] + tested.size[dimension], 3):
                work[TESTS] += 1
                if predicates.rank[tested.data[at + 1]] <= rank < predicates.rank[tested.data[at + 2]]:
                    met[count] = tested.data[at]
                    count += 1
        for predicate in nullable:
            work[TESTS] += 1
            if meets(predicate, ranks[predicates.dimension[predicate]], predicates):
                met[count] = predicate
                count += 1
        leave(row, events, ranks)
        for predicate in met[:count]:
            bits[predicate >> 5] |= np.int32(1) << (predicate & 31)
        for predicate in met[:count]:
            for at in range(owners.start[predicate], owners.start[predicate] + owners.size[predicate]):
                position = owners.data[at]
                work[CANDIDATES] += 1
                if _all_set(position, held, bits, work):
                    out[used] = position
                    used += 1
        ends[row] = used
    return last


@kernel
def _all_set(position: int, held: View, bits: Ints, work: Longs) -> bool:
    """Return whether the bits of all predicates of a subscription are set."""
    for place in range(held.start[position], held.start[position] + held.size[position]):
        predicate = held.data[place]
        work[TESTS] += 1
        if not bits[predicate >> 5] >> (predicate & 31) & 1:
            return False
    return True
