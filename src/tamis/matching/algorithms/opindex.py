"""OpIndex (specs/002 §8; Zhang, Chan, Tan: An efficient publish/subscribe index for e-commerce databases, PVLDB 2014).

Subscriptions are grouped by their *pivot*, the attribute of theirs that the fewest subscriptions use. The predicates
of a group are sorted into one list for each attribute and operator. An event looks only at the groups whose pivot it
has; in each list of such a group, binary search finds the predicates that are met, and these are counted.
"""

from collections.abc import Callable
from typing import Literal, TypeAlias, get_args

import numpy as np

from tamis.compiled import kernel
from tamis.matching.algorithms.oplists import (
    ABOVE,
    ATTRIBUTE,
    BELOW,
    BETWEEN,
    CHECKED,
    EQUAL,
    FENCE,
    FIELDS,
    FIRST,
    LAST,
    OPERATOR,
    SKIP,
    sorted_groups,
)
from tamis.matching.engine import Capabilities, Rows, register
from tamis.matching.ranks.conjunctive import ConjunctiveEngine
from tamis.matching.ranks.encoding import Encoded
from tamis.matching.ranks.kernels import CANDIDATES, TESTS, Predicates, enter, leave, meets, meets_all
from tamis.matching.ranks.lists import Ints, Lists, Longs, View, grown

#: When the lists are sorted: after each subscription, or once before the next event.
Mode: TypeAlias = Literal["sorted-after-each", "sorted-at-end"]

#: When the counters of a thread start anew.
_COUNTERS_WRAP = 1 << 30


@register(
    "opindex",
    Capabilities(
        arbitrary=False,
        exact=True,
        dynamic=True,
        batch=True,
        summary="groups by the rarest attribute, counts in sorted lists per operator (OpIndex; specs/002 §8)",
    ),
)
class OpIndex(ConjunctiveEngine):
    """The lists of a group are made anew when one of its subscriptions came or went.

    They hold leaves, whose order on a line never changes, so nothing need be done when leaves are split or merged.
    A subscription chooses its pivot by what is stored when its lists are first made, and keeps it.
    """

    def __init__(self, mode: Mode = "sorted-at-end") -> None:
        super().__init__()
        if mode not in get_args(Mode):
            raise ValueError(f"the mode is {' or '.join(get_args(Mode))}, not {mode!r}")
        self._after_each = mode == "sorted-after-each"
        #: Subscriptions without a pivot yet, and pivots of groups whose lists are not right any more.
        self._waiting: dict[int, None] = {}
        self._stale: set[int] = set()
        #: By dimension: how many subscriptions use it. By position: its pivot.
        self._frequency: Ints = np.zeros(1, np.int32)
        self._pivot: Ints = np.zeros(1, np.int32)
        #: By pivot: the subscriptions of the group, and what `oplists.Group` says of it.
        self._members = Lists()
        self._needed = Lists()
        self._lists = Lists()
        self._keys = Lists()
        self._slots = Lists()
        self._others = Lists()
        #: Above all numbers of predicates.
        self._stride = 1

    def insert(self, position: int, predicates: list[int]) -> None:  # noqa: ARG002 - they are in `held`
        self._waiting[position] = None
        if self._after_each:
            self._sort()

    def delete(self, position: int, predicates: list[int]) -> None:
        if position in self._waiting:
            del self._waiting[position]
            return
        for predicate in predicates:
            if not self.space.takes_null[predicate]:
                self._frequency[self.space.dimension[predicate]] -= 1
        pivot = int(self._pivot[position])
        self._members.discard(pivot, position)
        self._stale.add(pivot)
        if self._after_each:
            self._sort()

    def _sort(self) -> None:
        """Put the waiting subscriptions into groups, and make the lists of all groups that changed."""
        if self._waiting:
            positions = np.fromiter(self._waiting, np.int32, len(self._waiting))
            self._waiting.clear()
            self._frequency = grown(self._frequency, self.space.dimensions)
            self._pivot = grown(self._pivot, self.top)
            _choose(positions, self.held.view(), self.predicates(), self._frequency, self._pivot)
            pivots = self._pivot[positions].tolist()
            for position, pivot in zip(positions.tolist(), pivots, strict=True):
                self._members.append(pivot, position)
            self._stale.update(pivots)
        for pivot in self._stale:
            if not len(self._members[pivot]):
                for each in self._groups():
                    each.clear(pivot)
        changed = sorted(pivot for pivot in self._stale if len(self._members[pivot]))
        self._stale.clear()
        if changed:
            members = [self._members[pivot] for pivot in changed]
            made = sorted_groups(members, self.held.view(), self.predicates(), self.space)
            for pivot, group in zip(changed, made, strict=True):
                self._needed.assign(pivot, group.needed)
                self._lists.assign(pivot, group.lists)
                self._keys.assign(pivot, group.keys)
                self._slots.assign(pivot, group.slots)
                self._others.assign(pivot, group.others)
                self._stride = max(self._stride, int(group.needed.max()) + 1)

    def match_by(self, search: Callable[..., int], events: Encoded) -> Rows:
        self._sort()
        for each in self._groups():
            each.reserve(self.space.dimensions)
        return super().match_by(search, events)

    def search(self, first: int, last: int, events: Encoded, ends: Longs, out: Ints, work: Longs) -> int:
        members, needed, lists, keys, slots, others = (each.view() for each in self._groups())
        return _search(
            first,
            last,
            events,
            members,
            needed,
            lists,
            keys,
            slots,
            others,
            self.held.view(),
            self.predicates(),
            self.ranks(),
            self.scratch("counters", int(members.size.max())),
            self.scratch("base", 1),
            self._stride,
            self.top,
            ends,
            out,
            work,
        )

    def _groups(self) -> tuple[Lists, ...]:
        return self._members, self._needed, self._lists, self._keys, self._slots, self._others

    def extra_bytes(self) -> int:
        return sum(each.bytes for each in self._groups()) + self._frequency.nbytes + self._pivot.nbytes

    def check_invariants(self) -> None:
        super().check_invariants()
        self._sort()
        for each in self._groups():
            each.check_invariants()
        rank = self.space.rank
        frequency = np.zeros_like(self._frequency)
        for pivot in np.flatnonzero(self._members.size).tolist():
            keys = rank[self._keys[pivot]]
            covered: list[int] = []
            for attribute, _, _, first, last, _ in self._lists[pivot].reshape(-1, FIELDS).tolist():
                assert (np.diff(keys[first:last]) >= 0).all()
                covered += range(first, last)
                assert self.space.lines[attribute] is not None
            assert covered == list(range(len(keys)))
            assert set(self._slots[pivot].tolist()) == set(range(len(self._members[pivot])))
            for slot, position in enumerate(self._members[pivot].tolist()):
                counted = [each for each in self.held[position].tolist() if not self.space.takes_null[each]]
                dimensions = self.space.dimension[counted]
                frequency[dimensions] += 1
                assert self._pivot[position] == pivot
                assert pivot in dimensions
                assert self._needed[pivot][slot] == len(counted)
        assert (frequency == self._frequency).all()


@kernel
def _choose(positions: Ints, held: View, predicates: Predicates, frequency: Ints, pivot: Ints) -> None:
    """Count the attributes of some subscriptions, then give each the least frequent of its own; the first of equals."""
    start, _, data = predicates.bounds
    for counting in (True, False):
        for position in positions:
            best = -1
            for place in range(held.start[position], held.start[position] + held.size[position]):
                predicate = held.data[place]
                dimension = predicates.dimension[predicate]
                if predicates.rank[data[start[predicate]]] == 0:
                    continue
                if counting:
                    frequency[dimension] += 1
                elif best < 0 or frequency[dimension] < frequency[best]:
                    best = dimension
            pivot[position] = best


@kernel
def _from(rank: Ints, keys: Ints, first: int, last: int, at: int) -> int:
    """Return where the leaves of this rank or a higher one begin in a sorted list."""
    while first < last:
        middle = (first + last) >> 1
        if rank[keys[middle]] < at:
            first = middle + 1
        else:
            last = middle
    return first


@kernel
def _search(
    first: int,
    last: int,
    events: Encoded,
    members: View,
    needed: View,
    lists: View,
    keys: View,
    slots: View,
    others: View,
    held: View,
    predicates: Predicates,
    ranks: Ints,
    counters: Ints,
    base: Ints,
    stride: int,
    top: int,
    ends: Longs,
    out: Ints,
    work: Longs,
) -> int:
    """Count down from what a slot needs; a counter below the base has not been used for this event and group."""
    rank = predicates.rank
    used = 0
    for row in range(first, last):
        if len(out) - used < top:
            return row
        enter(row, events, rank, ranks)
        for place in range(events.offsets[row], events.offsets[row + 1]):
            pivot = events.dimensions[place]
            if members.size[pivot] == 0:
                continue
            base[0] += stride
            if base[0] > _COUNTERS_WRAP:
                base[0] = stride
                counters[:] = 0
            zero = base[0]
            member, need, entry = members.start[pivot], needed.start[pivot], keys.start[pivot]
            slots_ahead, others_ahead = slots.start[pivot] - entry, others.start[pivot] - entry
            which = lists.start[pivot]
            end = which + lists.size[pivot]
            while which < end:
                at = ranks[lists.data[which + ATTRIBUTE]]
                if at == 0:
                    which += lists.data[which + SKIP]
                    continue
                operator = lists.data[which + OPERATOR]
                fence = rank[lists.data[which + FENCE]]
                low = entry + lists.data[which + FIRST]
                high = entry + lists.data[which + LAST]
                which += FIELDS
                if operator == EQUAL:
                    low = _from(rank, keys.data, low, high, at)
                    until, high = high, low
                    while high < until and rank[keys.data[high]] == at:
                        high += 1
                elif operator == BELOW:
                    low = high if at < fence else _from(rank, keys.data, low, high, at + 1)
                elif operator == ABOVE:
                    high = low if at >= fence else _from(rank, keys.data, low, high, at + 1)
                else:
                    high = _from(rank, keys.data, low, high, at + 1)
                work[TESTS] += high - low
                for each in range(low, high):
                    if operator == BETWEEN:
                        if rank[others.data[each + others_ahead]] <= at:
                            continue
                    elif operator == CHECKED and not meets(others.data[each + others_ahead], at, predicates):
                        continue
                    slot = slots.data[each + slots_ahead]
                    if counters[slot] < zero:
                        counters[slot] = zero + needed.data[need + slot]
                        work[CANDIDATES] += 1
                    counters[slot] -= 1
                    if counters[slot] == zero:
                        position = members.data[member + slot]
                        if needed.data[need + slot] == held.size[position] or meets_all(
                            position, -1, ranks, held, predicates, work
                        ):
                            out[used] = position
                            used += 1
        leave(row, events, ranks)
        ends[row] = used
    return last
