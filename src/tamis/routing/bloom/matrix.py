"""The bit matrix (specs/004 §5, thesis §5.6): every filter against the event, all bits at once."""

from typing import TypeAlias

import numpy as np
import numpy.typing as npt

from tamis.routing.bloom.forwarding import ForwardingTable, Places, register

Words: TypeAlias = npt.NDArray[np.uint64]


@register("matrix")
class Matrix(ForwardingTable):
    """A row of packed bits for each filter: it matches if none of them is missing in the event."""

    def __init__(self, bits: int) -> None:
        super().__init__(bits)
        self._rows: Words = np.zeros((1, (bits + 63) // 64), np.uint64)
        self._living = np.zeros(1, np.bool_)

    def _row(self, places: Places) -> Words:
        flags = np.zeros(64 * self._rows.shape[1], np.bool_)
        flags[list(places)] = True
        return np.packbits(flags).view(np.uint64)

    def insert(self, slot: int, places: Places) -> None:
        if slot >= len(self._rows):
            more = max(slot + 1, 2 * len(self._rows)) - len(self._rows)
            self._rows = np.pad(self._rows, ((0, more), (0, 0)))
            self._living = np.pad(self._living, (0, more))
        self._rows[slot] = self._row(places)
        self._living[slot] = True

    def delete(self, slot: int, places: Places) -> None:  # noqa: ARG002 - the row is left as it is
        self._living[slot] = False

    def found(self, places: Places) -> list[int]:
        missing = (self._rows & ~self._row(places)).any(axis=1)
        return [int(slot) for slot in np.flatnonzero(self._living & ~missing)]

    def layout(self) -> object:
        slots = self.slots()
        return {slots[int(slot)]: self._rows[slot].tobytes() for slot in np.flatnonzero(self._living)}
