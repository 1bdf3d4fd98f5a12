"""The answer for a batch of values: which row was told to whom."""

from collections.abc import Callable

import numpy as np
import numpy.typing as npt
import pyarrow as pa

from tamis.listed import Listed


class Notified(Listed):
    """Who is told of the rows of a batch: the ids of a row are those of the subscribers that it is told to.

    `refused` has the rows that could not be taken, each with its reason; they changed nothing.
    """

    def __init__(
        self,
        offsets: npt.NDArray[np.int64],
        positions: npt.NDArray[np.int32],
        names: Callable[[], pa.Array],
        refused: dict[int, str],
    ) -> None:
        super().__init__(offsets, positions, names)
        self.refused = refused

    def __repr__(self) -> str:
        return f"<Notified: {len(self.offsets) - 1} rows, {len(self)} notifications, {len(self.refused)} refused>"
