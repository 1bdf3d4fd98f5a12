"""The answer for a batch of events: which row met which subscriptions."""

from collections.abc import Callable
from typing import Any

import numpy as np
import numpy.typing as npt
import pyarrow as pa

from tamis.listed import Listed


class Matches(Listed):
    """The matches of a batch: the ids of a row are those of the subscriptions that it met."""

    def __init__(
        self, offsets: npt.NDArray[np.int64], positions: npt.NDArray[Any], names: Callable[[], pa.Array]
    ) -> None:
        small = not len(positions) or int(positions.max()) < 2**31
        super().__init__(offsets, positions.astype(np.int32 if small else np.int64, copy=False), names)

    def __repr__(self) -> str:
        return f"<Matches: {len(self.offsets) - 1} rows, {len(self)} matches>"
