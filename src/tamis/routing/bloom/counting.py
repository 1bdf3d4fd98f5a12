"""The counting sbstree (specs/004 §5, thesis §5.5): for each bit the filters that have it."""

from typing import TypeAlias

import numpy as np
import numpy.typing as npt

from tamis.compiled import kernel
from tamis.matching.ranks.lists import Ints, Lists, Longs, grown
from tamis.routing.bloom.forwarding import ForwardingTable, Places, register

Counts: TypeAlias = npt.NDArray[np.int64]


@register("counting")
class Counting(ForwardingTable):
    """Every bit of an event is counted for the filters that have it. Filters that share no bit with it cost nothing.

    A filter is found when as many were counted as it has *distinct* bits, which may be fewer than its predicates' bits
    together ([FIX] of k·|f|). Counts of an earlier event are known by its number, so nothing is ever set back.
    """

    def __init__(self, bits: int) -> None:
        super().__init__(bits)
        #: Who has a bit, by the number that it got when somebody first had it: most bits nobody has.
        self._having = Lists()
        self._numbers: dict[int, int] = {}
        #: By slot: how many bits it has, how many were counted, and for which event that was.
        self._need: Counts = np.zeros(1, np.int64)
        self._seen: Counts = np.zeros(1, np.int64)
        self._event: Counts = np.zeros(1, np.int64)
        #: Slots without bits.
        self._always: dict[int, None] = {}
        self._events = 0

    def insert(self, slot: int, places: Places) -> None:
        self._need = grown(self._need, slot + 1)
        self._seen = grown(self._seen, slot + 1)
        self._event = grown(self._event, slot + 1)
        self._need[slot] = len(places)
        if not places:
            self._always[slot] = None
        for place in places:
            self._having.append(self._numbers.setdefault(place, len(self._numbers)), slot)

    def delete(self, slot: int, places: Places) -> None:
        self._always.pop(slot, None)
        for place in places:
            self._having.discard(self._numbers[place], slot)

    def found(self, places: Places) -> list[int]:
        bits = np.array([self._numbers[place] for place in places if place in self._numbers], np.int64)
        self._events += 1
        out: Counts = np.empty(len(self._need), np.int64)
        start, size, data = self._having.view()
        used = _count(bits, start, size, data, self._need, self._seen, self._event, self._events, out)
        return [*self._always, *out[:used].tolist()]

    def layout(self) -> object:
        slots = self.slots()
        having = {
            place: {slots[slot] for slot in self._having[number].tolist()}
            for place, number in self._numbers.items()
            if len(self._having[number])
        }
        return having, {slots[slot]: int(self._need[slot]) for slot in slots}, {slots[slot] for slot in self._always}

    def check_invariants(self) -> None:
        super().check_invariants()
        self._having.check_invariants()


@kernel
def _count(
    bits: Counts,
    start: Longs,
    size: Ints,
    data: Ints,
    need: Counts,
    seen: Counts,
    event: Counts,
    now: int,
    out: Counts,
) -> int:
    used = 0
    for bit in bits:
        for at in range(start[bit], start[bit] + size[bit]):
            slot = data[at]
            if event[slot] != now:
                event[slot] = now
                seen[slot] = 0
            seen[slot] += 1
            if seen[slot] == need[slot]:
                out[used] = slot
                used += 1
    return used
