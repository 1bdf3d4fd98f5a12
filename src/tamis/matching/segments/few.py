"""A few subscriptions on columns: tested one after the other, for which nothing has to be built or compiled."""

from collections.abc import Sequence
from typing import Any, Final

import numpy as np
import numpy.typing as npt
import pyarrow as pa

from tamis.language.columns import Columns
from tamis.language.normal import form
from tamis.matching.ranks.lists import Longs
from tamis.matching.segments.head import Entry
from tamis.matching.segments.ids import Ids
from tamis.matching.subscriptions import limited

#: More are worth a part.
MOST: Final = 64


class Few:
    """Entries as they are. For matching it is like a part."""

    def __init__(self, entries: Sequence[Entry]) -> None:
        self._forms = [form(entry.expression) for entry in entries]
        self.ids = Ids.of([entry.id for entry in entries])

    def __len__(self) -> int:
        return len(self._forms)

    def match_batch(
        self, batch: pa.RecordBatch, alive: npt.NDArray[np.bool_] | None, limit: int, kept: bool
    ) -> tuple[Longs, npt.NDArray[Any]]:
        """Return the entries that the rows of a batch meet, among those that are alive."""
        columns = Columns(batch)
        masks = [
            columns.mask(each) if alive is None or alive[number] else np.zeros(batch.num_rows, np.bool_)
            for number, each in enumerate(self._forms)
        ]
        rows, numbers = np.nonzero(np.stack(masks, axis=1))
        offsets = np.searchsorted(rows, np.arange(batch.num_rows + 1)).astype(np.int64)
        return limited(offsets, numbers.astype(np.int32), limit, kept)
