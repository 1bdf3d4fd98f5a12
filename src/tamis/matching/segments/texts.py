"""A column of texts that is kept in a file and read one by one."""

from collections.abc import Sequence
from typing import Any

import numpy as np
import numpy.typing as npt
import pyarrow as pa

from tamis.matching.ranks.lists import Longs
from tamis.matching.segments.cuts import Octets


class Texts:
    """Texts in rows. It never changes."""

    def __init__(self, offsets: Longs, data: Octets) -> None:
        self._offsets = offsets
        self._data = data

    @classmethod
    def of(cls, texts: Sequence[str] | pa.Array) -> "Texts":
        """Return a column of these texts."""
        array = texts if isinstance(texts, pa.Array) else pa.array(texts, pa.large_string())
        _, offsets, data = array.buffers()
        if not len(array):
            return cls(np.zeros(1, np.int64), np.zeros(0, np.uint8))
        places = np.frombuffer(offsets, np.int64)[array.offset : array.offset + len(array) + 1]
        octets = np.frombuffer(data, np.uint8) if data else np.zeros(0, np.uint8)
        return cls(places - places[0], octets[places[0] : places[-1]])

    @classmethod
    def empty(cls, size: int) -> "Texts":
        """Return so many empty texts."""
        return cls(np.zeros(size + 1, np.int64), np.zeros(0, np.uint8))

    def __len__(self) -> int:
        return len(self._offsets) - 1

    def __getitem__(self, row: int) -> str:
        return self._data[self._offsets[row] : self._offsets[row + 1]].tobytes().decode()

    def arrow(self) -> pa.Array:
        """Return the texts as Arrow sees them, without copying."""
        return pa.Array.from_buffers(
            pa.large_string(), len(self), [None, pa.py_buffer(self._offsets), pa.py_buffer(self._data)]
        )

    def select(self, rows: npt.NDArray[Any]) -> "Texts":
        """Return the texts of some rows, in their order."""
        if not len(self._data):
            return self.empty(len(rows))
        return self.of(self.arrow().take(pa.array(rows)))

    @staticmethod
    def concatenated(parts: Sequence["Texts"]) -> "Texts":
        """Return the texts of all parts, one behind the other."""
        if not any(len(part._data) for part in parts):
            return Texts.empty(sum(map(len, parts)))
        return Texts.of(pa.concat_arrays([part.arrow() for part in parts]))

    def arrays(self) -> dict[str, npt.NDArray[Any]]:
        """Return the arrays to keep in a file."""
        return {"offsets": self._offsets, "data": self._data}

    @classmethod
    def from_arrays(cls, arrays: dict[str, npt.NDArray[Any]]) -> "Texts":
        """Return the texts whose arrays these are. Nonsense is a `ValueError`."""
        offsets, data = arrays["offsets"], arrays["data"]
        if offsets.dtype != np.int64 or data.dtype != np.uint8 or not len(offsets):
            raise ValueError("the texts are of a wrong type")
        if offsets[0] != 0 or offsets[-1] != len(data) or (offsets[1:] < offsets[:-1]).any():
            raise ValueError("the offsets of the texts do not fit their data")
        return cls(offsets, data)

    @property
    def bytes(self) -> int:
        """How much memory the texts take."""
        return self._offsets.nbytes + self._data.nbytes
