"""The skiptree (specs/004 §5, thesis §5.6): filters are ruled out by the bits that an event does not have."""

from bisect import bisect_left, insort
from collections.abc import Iterator
from typing import Final

import numpy as np

from tamis.routing.bloom.forwarding import ForwardingTable, Places, register

#: How many bits the shortest fingers span, and how many times more those of the next level do.
SHORTEST: Final = 128
STEP: Final = 4


def spans(bits: int) -> tuple[int, ...]:
    """Return what fingers span, the longest first: 8192, 2048, 512 and 128 for 2**14 bits."""
    found = [SHORTEST]
    while found[-1] * STEP < bits:
        found.append(found[-1] * STEP)
    return tuple(reversed(found))


def pieces(start: int, stop: int, lengths: tuple[int, ...]) -> Iterator[tuple[int, int]]:
    """Cut a gap into the longest fingers that lie within it and, where there is none, into rows of single bits.

    A finger of length n starts at a multiple of n. Yields the first bit of each piece and the one behind its last.
    """
    while start < stop:
        length = next((each for each in lengths if start % each == 0 and start + each <= stop), 0)
        behind = start + length if length else min(stop, (start // lengths[-1] + 1) * lengths[-1])
        yield start, behind
        start = behind


@register("skiptree")
class SkipTree(ForwardingTable):
    """Starts from all filters and takes away those with a bit in a gap between bits of the event.

    [FIX] Gaps are also before the first bit, bit 0 included, and behind the last: left out, as printed, they leave
    filters in that do not match. A set of filters is one long integer with a bit for each slot.
    """

    def __init__(self, bits: int) -> None:
        super().__init__(bits)
        self._spans = spans(bits)
        self._all = 0
        #: Who has a bit, for those that anybody has; who has any bit of a finger, by its first and the one behind.
        self._singles: dict[int, int] = {}
        self._fingers: dict[tuple[int, int], int] = {}
        self._used: list[int] = []

    def insert(self, slot: int, places: Places) -> None:
        self._all |= 1 << slot
        for place in places:
            if place not in self._singles:
                insort(self._used, place)
            self._singles[place] = self._singles.get(place, 0) | 1 << slot
            for finger in self._fingers_over(place):
                self._fingers[finger] = self._fingers.get(finger, 0) | 1 << slot

    def delete(self, slot: int, places: Places) -> None:
        self._all &= ~(1 << slot)
        for place in places:
            self._singles[place] &= ~(1 << slot)
            if not self._singles[place]:
                del self._singles[place]
                del self._used[bisect_left(self._used, place)]
        for finger in {finger for place in places for finger in self._fingers_over(place)}:
            self._fingers[finger] &= ~(1 << slot)
            if not self._fingers[finger]:
                del self._fingers[finger]

    def _fingers_over(self, place: int) -> Iterator[tuple[int, int]]:
        for span in self._spans:
            first = place - place % span
            if first + span <= self.bits:
                yield first, first + span

    def found(self, places: Places) -> list[int]:
        gone = 0
        before = -1
        for place in (*places, self.bits):
            for start, stop in pieces(before + 1, place, self._spans):
                gone |= self.touching(start, stop)
            before = place
        return _numbers(self._all & ~gone)

    def touching(self, start: int, stop: int) -> int:
        """Return the filters with a bit in a piece of a gap."""
        if stop - start >= SHORTEST:
            return self._fingers.get((start, stop), 0)
        some = 0
        for at in range(bisect_left(self._used, start), bisect_left(self._used, stop)):
            some |= self._singles[self._used[at]]
        return some

    def layout(self) -> object:
        slots = self.slots()
        singles = {place: {slots[slot] for slot in _numbers(some)} for place, some in self._singles.items()}
        fingers = {finger: {slots[slot] for slot in _numbers(some)} for finger, some in self._fingers.items()}
        return singles, fingers, {slots[slot] for slot in _numbers(self._all)}, self._used


def _numbers(some: int) -> list[int]:
    """Return the slots of a set."""
    octets = np.frombuffer(some.to_bytes((some.bit_length() + 7) // 8, "little"), np.uint8)
    return [int(slot) for slot in np.flatnonzero(np.unpackbits(octets, bitorder="little"))]
