"""The answer for a batch of values: which row was told to whom."""

from collections.abc import Callable
from functools import cached_property

import numpy as np
import numpy.typing as npt
import pyarrow as pa

from tamis.notification.wanted import Id


class Notified:
    """Who is told of the rows of a batch, without a Python object for each.

    Row `r` is told to `offsets[r + 1] - offsets[r]` subscribers, whose ids are `ids[offsets[r]:offsets[r + 1]]`.
    `positions` are the same as small integers: `ids` is a dictionary array of which they are the indices. `refused` has
    the rows that could not be taken, each with its reason; they changed nothing.
    """

    def __init__(
        self,
        offsets: npt.NDArray[np.int64],
        positions: npt.NDArray[np.int32],
        names: Callable[[], pa.Array],
        refused: dict[int, str],
    ) -> None:
        self.offsets = offsets
        self.positions = positions
        self.refused = refused
        self._get_names = names

    @cached_property
    def _names(self) -> pa.Array:
        """The ids by position: put together only if somebody asks for them."""
        return self._get_names()

    @property
    def ids(self) -> pa.DictionaryArray:
        """The id of everybody told, in the order of the rows."""
        return pa.DictionaryArray.from_arrays(pa.array(self.positions), self._names)

    def __len__(self) -> int:
        return len(self.positions)

    def row(self, row: int) -> list[Id]:
        """Return the ids that one row is told to."""
        found = self.positions[self.offsets[row] : self.offsets[row + 1]]
        ids: list[Id] = self._names.take(pa.array(found)).to_pylist()
        return ids

    def to_table(self) -> pa.Table:
        """Return one line for each notification: the row's number and the id."""
        rows = np.repeat(np.arange(len(self.offsets) - 1), np.diff(self.offsets))
        return pa.table({"row": rows, "id": self._names.take(pa.array(self.positions))})

    def __repr__(self) -> str:
        return f"<Notified: {len(self.offsets) - 1} rows, {len(self)} notifications, {len(self.refused)} refused>"
