"""What a task does with its events: batch after batch against the index, columns in and columns out."""

from collections.abc import Callable, Iterator, Sequence
from typing import Final, Literal, TypeVar

import msgspec
import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from tamis.pipeline.attached import Attached, Found, attached

Output = Literal["lists", "pairs"]
Answer = TypeVar("Answer")

#: Rows with which a task begins: they may all meet everything.
_FIRST_ROWS: Final = 64
#: By how much there may be more of them the next time.
_GROWTH: Final = 16
#: Rows and matches in one batch of answers, about.
_MOST_ROWS: Final = 1 << 14
_MOST_MATCHES: Final = 1 << 21


class Task(msgspec.Struct, frozen=True):
    """How the columns of a batch are to be read: first attributes, some of which are kept, then what tells the rest."""

    path: str
    #: By column of the events.
    names: Sequence[str]
    #: Which of them come out again.
    kept: Sequence[int]
    output: Output
    #: The version to match against, if rows do not carry it in the column after the attributes.
    version: int | None
    #: How many slots the shards are dealt to; with more than one, the last columns are the row's number and the slot.
    slots: int = 1

    def run(self, batches: Iterator[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
        """Match batches."""
        for piece, version, found in self.met(batches, _ids_met):
            yield self._answer(piece, found, version)

    def met(
        self, batches: Iterator[pa.RecordBatch], ask: Callable[[Attached, pa.RecordBatch], tuple[Answer, int]]
    ) -> Iterator[tuple[pa.RecordBatch, int, Answer]]:
        """Yield rows, the version that they are matched against, and what that answers with so many matches."""
        opened: dict[tuple[int, int], Attached] = {}
        pace = _Pace()
        for batch in batches:
            for (version, slot), rows in self._groups(batch):
                if (version, slot) not in opened:
                    opened[version, slot] = attached(self.path, version, (slot, self.slots))
                for piece in pace.pieces(rows):
                    answer, matches = ask(opened[version, slot], self._events(piece))
                    pace.note(len(piece), matches)
                    yield piece, version, answer

    def _groups(self, batch: pa.RecordBatch) -> Iterator[tuple[tuple[int, int], pa.RecordBatch]]:
        """Yield the rows of each version and slot: nearly always there is one."""
        for version, rows in _grouped(batch, len(self.names) if self.version is None else None):
            for slot, some in _grouped(rows, batch.num_columns - 1 if self.slots > 1 else None):
                number = self.version if version is None else version
                if number is None:
                    raise ValueError("an event carries no version of the subscriptions: its column is null")
                yield (number, slot or 0), some

    def _events(self, piece: pa.RecordBatch) -> pa.RecordBatch:
        count = len(self.names)
        return pa.RecordBatch.from_arrays(piece.columns[:count], names=list(self.names))

    def _answer(self, piece: pa.RecordBatch, found: Found, version: int) -> pa.RecordBatch:
        columns = [piece.column(at) for at in self.kept]
        if self.slots > 1 and self.output == "lists":
            columns.append(piece.column(piece.num_columns - 2))
        if self.output == "lists":
            ids = pa.ListArray.from_arrays(pa.array(found.offsets, pa.int32()), found.ids)
        else:
            owner = pa.array(np.repeat(np.arange(len(piece)), np.diff(found.offsets)))
            columns, ids = [column.take(owner) for column in columns], found.ids
        columns += [ids, pa.array(np.full(len(ids), version, np.int64))]
        return pa.RecordBatch.from_arrays(columns, names=[str(number) for number in range(len(columns))])


def _ids_met(index: Attached, events: pa.RecordBatch) -> tuple[Found, int]:
    found = index.match(events)
    return found, len(found.ids)


class _Pace:
    """How many rows are matched at a time: as many as fit with their matches into memory, by those before."""

    def __init__(self) -> None:
        self._rows = _FIRST_ROWS

    def pieces(self, batch: pa.RecordBatch) -> Iterator[pa.RecordBatch]:
        start = 0
        while start < batch.num_rows:
            piece = batch.slice(start, self._rows)
            yield piece
            start += piece.num_rows

    def note(self, rows: int, matches: int) -> None:
        likely = max(1, _MOST_MATCHES * rows // matches) if matches else _MOST_ROWS
        self._rows = min(likely, _GROWTH * self._rows, _MOST_ROWS)


def _grouped(batch: pa.RecordBatch, column: int | None) -> Iterator[tuple[int | None, pa.RecordBatch]]:
    """Yield the rows by the number in a column."""
    if column is None:
        yield None, batch
        return
    numbers = batch.column(column)
    different = pc.unique(numbers).to_pylist()
    for number in different:
        yield number, batch if len(different) == 1 else batch.filter(pc.equal(numbers, number))
