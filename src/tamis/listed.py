"""Answers for the rows of a batch: which row has which ids. Beside the rooms, because several of them answer so."""

from collections.abc import Callable
from functools import cached_property
from typing import Any

import numpy as np
import numpy.typing as npt
import pyarrow as pa


class Listed:
    """Some ids for each row, without a Python object for each.

    Row `r` has `offsets[r + 1] - offsets[r]` of them: `ids[offsets[r]:offsets[r + 1]]`. `positions` are the same as
    small integers: `ids` is a dictionary array of which they are the indices.
    """

    def __init__(
        self, offsets: npt.NDArray[np.int64], positions: npt.NDArray[Any], names: Callable[[], pa.Array]
    ) -> None:
        self.offsets = offsets
        self.positions = positions
        self._get_names = names

    @cached_property
    def _names(self) -> pa.Array:
        """The ids by position: put together only if somebody asks for them."""
        return self._get_names()

    @property
    def ids(self) -> pa.DictionaryArray:
        """All ids, in the order of the rows."""
        return pa.DictionaryArray.from_arrays(pa.array(self.positions), self._names)

    def __len__(self) -> int:
        return len(self.positions)

    def row(self, row: int) -> list[str | int]:
        """Return the ids of one row."""
        found = self.positions[self.offsets[row] : self.offsets[row + 1]]
        ids: list[str | int] = self._names.take(pa.array(found)).to_pylist()
        return ids

    def to_table(self) -> pa.Table:
        """Return one line for each row and id: the row's number and the id."""
        rows = np.repeat(np.arange(len(self.offsets) - 1), np.diff(self.offsets))
        return pa.table({"row": rows, "id": self._names.take(pa.array(self.positions))})
