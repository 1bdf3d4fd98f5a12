"""Subscriptions as outlines: what a table of conditions looks like to those who look for coverers in it."""

from collections.abc import Iterator, Mapping, Sequence
from typing import Any, Final

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from tamis.covering.bulk import points_of
from tamis.covering.detectors import Longs
from tamis.covering.outline import outline
from tamis.pipeline.sorting import Sorted, sort_out

#: What a row is: to be compared with others, not to be met by any event, or refused.
OPEN, NEVER, REFUSED = "open", "never", "refused"
#: The columns of an outline, beside the `id`, as Spark writes them.
SCHEMA: Final = (
    "condition string, state string, reason string, form binary, names array<string>, ends array<binary>, "
    "is_box boolean, is_known boolean"
)
_FIELDS: Final[Mapping[str, pa.DataType]] = {
    "condition": pa.string(),
    "state": pa.string(),
    "reason": pa.string(),
    "form": pa.binary(),
    "names": pa.list_(pa.string()),
    "ends": pa.list_(pa.binary()),
    "is_box": pa.bool_(),
    "is_known": pa.bool_(),
}
#: Rows in one batch of answers.
_ROWS: Final = 10_000
#: Between the names of a set of attributes: no name has it.
_BETWEEN: Final = "\0"


def outlined(batches: Iterator[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
    """Return the rows of a table that count, with their outlines, and those that are refused."""
    given = list(batches)
    if not given:
        return
    found = sort_out(pa.Table.from_batches(given))
    kind = found.ids.type
    for start in range(0, len(found.ids), _ROWS):
        yield from _rows(found, start, start + _ROWS, kind)
    refused = found.rejects
    if refused.num_rows:
        columns: dict[str, Any] = {"condition": refused["condition"], "reason": refused["reason"]}
        yield from _batches(refused["id"].cast(kind), columns, REFUSED)


def _rows(found: Sorted, start: int, stop: int, kind: pa.DataType) -> Iterator[pa.RecordBatch]:
    made = [outline(each) for each in found.expressions[start:stop]]
    columns: dict[str, Any] = {
        "condition": found.texts[start:stop],
        "state": [NEVER if each is None else OPEN for each in made],
        "form": [None if each is None else each.digest for each in made],
        "names": [None if each is None else each.attributes for each in made],
        "ends": [None if each is None else each.ends for each in made],
        "is_box": [None if each is None else each.is_box for each in made],
        "is_known": [None if each is None else each.is_known for each in made],
    }
    yield from _batches(found.ids[start:stop].cast(kind), columns)


def _batches(ids: Any, columns: Mapping[str, Any], state: str | None = None) -> Iterator[pa.RecordBatch]:
    arrays: dict[str, Any] = {"id": ids}
    for name, kind in _FIELDS.items():
        if name in columns:
            given = columns[name]
            arrays[name] = given.cast(kind) if hasattr(given, "cast") else pa.array(given, kind)
        else:
            arrays[name] = pa.nulls(len(ids), kind)
    if state is not None:
        arrays["state"] = pa.array([state] * len(ids), pa.string())
    yield from pa.table(arrays).combine_chunks().to_batches()


class Outlines:
    """Outlines in one place, with their ends as ranks: of two ends of an attribute the first has the smaller rank."""

    def __init__(self, table: pa.Table) -> None:
        self.table = table = table.combine_chunks()
        keys = pc.binary_join(array_of(table, "names"), _BETWEEN).dictionary_encode()
        codes = keys.indices.to_numpy()
        order = np.argsort(codes, kind="stable")
        bounds = np.searchsorted(codes[order], np.arange(len(keys.dictionary) + 1))
        #: By set of attributes: its rows.
        self.rows: dict[tuple[str, ...], Longs] = {}
        for number, key in enumerate(keys.dictionary.to_pylist()):
            names = tuple(key.split(_BETWEEN)) if key else ()
            self.rows[names] = order[bounds[number] : bounds[number + 1]].astype(np.int64)
        #: By set of attributes: lower ends and upper ends, a row for each of its rows.
        self.lows: dict[tuple[str, ...], Longs] = {}
        self.highs: dict[tuple[str, ...], Longs] = {}
        self._rank()

    def points(self, names: tuple[str, ...]) -> Longs:
        """Return the boxes of a set of attributes as points."""
        return points_of(self.lows[names], self.highs[names])

    def _rank(self) -> None:
        ends = array_of(self.table, "ends")
        flat: dict[tuple[str, ...], Any] = {}
        for names, rows in self.rows.items():
            flat[names] = ends.take(pa.array(rows)).flatten()
            self.lows[names] = np.empty((len(rows), len(names)), np.int64)
            self.highs[names] = np.empty((len(rows), len(names)), np.int64)
        for name in {name for names in self.rows for name in names}:
            places = [(names, names.index(name)) for names in self.rows if name in names]
            pieces = [_every(flat[names], 2 * at + side, 2 * len(names)) for names, at in places for side in (0, 1)]
            ranks = _ranks(pieces)
            for number, (names, at) in enumerate(places):
                self.lows[names][:, at], self.highs[names][:, at] = ranks[2 * number], ranks[2 * number + 1]


def array_of(table: pa.Table, name: str) -> Any:
    """Return a column as one array."""
    return pa.concat_arrays(table[name].chunks or [pa.array([], table.schema.field(name).type)])


def _every(values: Any, first: int, step: int) -> Any:
    return values.take(pa.array(np.arange(first, len(values), step)))


def _ranks(pieces: Sequence[Any]) -> list[Longs]:
    coded = pa.concat_arrays(pieces).dictionary_encode()
    rank = np.empty(len(coded.dictionary), np.int64)
    rank[pc.sort_indices(coded.dictionary).to_numpy()] = np.arange(len(rank))
    return np.split(rank[coded.indices.to_numpy()], np.cumsum([len(each) for each in pieces])[:-1])
