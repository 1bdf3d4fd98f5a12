"""What a task counts while it matches a history: numbers go back to Spark, matches do not."""

from collections.abc import Iterator, Sequence
from typing import Any, Final, NamedTuple

import msgspec
import numpy as np
import numpy.typing as npt
import pyarrow as pa

from tamis.compiled import kernel
from tamis.matching.ranks.lists import Longs
from tamis.pipeline.attached import Attached, Found, attached

#: What a row counts, by `kind`: events of the history, matches, those that an existing subscription meets too, those
#: that a certain one meets too; and what only the new, only the old and both conditions of a subscription meet.
EVENTS, MATCHES, ELSEWHERE, OVERLAP, GAINED, LOST, BOTH = range(7)
#: An `event`, of a subscription, of the kinds above.
EXAMPLE: Final = 7

#: Rows with which a task begins, since they may all meet everything, and with which it goes on at most.
_FIRST_ROWS: Final = 64
_MOST_ROWS: Final = 1 << 14
#: Matches of that many rows, about.
_MOST_MATCHES: Final = 1 << 21
#: Pairs of subscriptions that are counted at a time, each in a cell of its own.
_CELLS: Final = 1 << 22
#: Counts that a task holds before it adds up those that belong together, and hands them over if there are still many.
_HELD: Final = 1 << 21
#: A half of a key: a code, or a day.
_BITS: Final = 32
_LOW: Final = (1 << _BITS) - 1
#: Days count from here, so that none is negative; this itself is no day.
_NO_DAY: Final = 0
_FIRST_DAY: Final = 1 << 31

Cells = npt.NDArray[np.int32]


class Index(NamedTuple):
    """A version of compiled subscriptions."""

    path: str
    version: int
    #: Whether ids are integers.
    long: bool


class Question(msgspec.Struct, frozen=True):
    """What is to be counted. Rows have the attributes first, then what examples show as well, and the day last."""

    names: Sequence[str]
    #: Which of them an example shows.
    shown: Sequence[int]
    examples: int
    #: With `against`: who else meets what this meets. With `before`: what this meets, and what that met.
    index: Index
    against: Index | None = None
    before: Index | None = None

    def run(self, batches: Iterator[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
        """Count batches."""
        tally = _Tally(self)
        for batch in batches:
            tally.take(batch)
            yield from tally.overflow()
        yield from tally.answer()


def schema_of(question: Question) -> str:
    """Return the columns of counts."""
    other = question.against or question.index
    kinds = ["long" if index.long else "string" for index in (question.index, other)]
    return f"kind int, id {kinds[0]}, day date, other {kinds[1]}, rows long, of int, event string"


class _Codes:
    """Small numbers for ids."""

    def __init__(self, long: bool) -> None:
        self.type = pa.int64() if long else pa.string()
        self._known: dict[Any, int] = {}

    def of(self, ids: pa.Array) -> Longs:
        coded = ids.dictionary_encode()
        known = self._known
        places = [known.setdefault(each, len(known)) for each in coded.dictionary.to_pylist()]
        return np.array(places, np.int64)[coded.indices.to_numpy()] if places else np.empty(0, np.int64)

    def ids(self, codes: Longs) -> pa.Array:
        return pa.array(list(self._known), self.type).take(pa.array(codes))

    def none(self, count: int) -> pa.Array:
        return pa.nulls(count, self.type)


class _Counts:
    """How often each key was counted."""

    def __init__(self) -> None:
        self._keys: list[Longs] = []
        self._rows: list[Longs] = []
        self.held = 0

    def add(self, keys: Longs, rows: Longs | None = None) -> None:
        if rows is None:
            keys, rows = np.unique(keys, return_counts=True)
        self._keys.append(keys)
        self._rows.append(rows)
        self.held += len(keys)

    def total(self) -> tuple[Longs, Longs]:
        """Return what was counted, each key once, and begin anew."""
        keys, where = np.unique(np.concatenate([np.empty(0, np.int64), *self._keys]), return_inverse=True)
        rows = np.zeros(len(keys), np.int64)
        np.add.at(rows, where, np.concatenate([np.empty(0, np.int64), *self._rows]))
        self._keys, self._rows, self.held = [], [], 0
        return keys, rows


class _Tally:
    """The counts of a task."""

    def __init__(self, question: Question) -> None:
        self._question = question
        other = question.against or question.index
        self._ids, self._others = _Codes(question.index.long), _Codes(other.long)
        self._counts = {kind: _Counts() for kind in range(EXAMPLE)}
        self._index = _opened(question.index)
        self._against = None if question.against is None else _opened(question.against)
        self._before = None if question.before is None else _opened(question.before)
        self._examples: list[tuple[int, int, int, str]] = []
        #: By kind and code: how many examples there are.
        self._shown: dict[int, Longs] = {}
        self._rows = _FIRST_ROWS

    def take(self, batch: pa.RecordBatch) -> None:
        start = 0
        while start < batch.num_rows:
            piece = batch.slice(start, self._rows)
            start += piece.num_rows
            matches = self._piece(piece)
            likely = max(1, _MOST_MATCHES * piece.num_rows // matches) if matches else _MOST_ROWS
            self._rows = min(likely, 8 * self._rows, _MOST_ROWS)

    def _piece(self, piece: pa.RecordBatch) -> int:
        """Count some rows and return how many matches they had."""
        days = _days(piece.column(piece.num_columns - 1))
        self._counts[EVENTS].add(days)
        found = self._index.match(self._events(piece))
        rows, codes = _rows(found), self._ids.of(found.ids)
        if self._before is not None:
            before = self._before.match(self._events(piece))
            self._compare(piece, days, (rows, codes), (_rows(before), self._ids.of(before.ids)))
            return len(codes) + len(before.ids)
        self._counts[MATCHES].add(codes << _BITS | days[rows])
        self._show(MATCHES, piece, days, rows, codes)
        if self._against is None or not len(codes):
            return len(codes)
        met = np.unique(rows)
        other = self._against.match(self._events(piece.take(pa.array(met))))
        meets = np.zeros(len(piece), np.bool_)
        meets[met] = np.diff(other.offsets) > 0
        self._counts[ELSEWHERE].add(codes[meets[rows]] << _BITS)
        offsets = np.searchsorted(rows, np.append(met, len(piece)))
        self._overlap(offsets, codes, other.offsets, self._others.of(other.ids))
        return len(codes) + len(other.ids)

    def _compare(self, piece: Any, days: Longs, now: tuple[Longs, Longs], before: tuple[Longs, Longs]) -> None:
        new, old = (rows << _BITS | codes for rows, codes in (now, before))
        lasting = np.isin(new, old)
        self._counts[BOTH].add((new[lasting] & _LOW) << _BITS | days[new[lasting] >> _BITS])
        for kind, pairs in ((GAINED, new[~lasting]), (LOST, old[~np.isin(old, new)])):
            rows, codes = pairs >> _BITS, pairs & _LOW
            self._counts[kind].add(codes << _BITS | days[rows])
            self._show(kind, piece, days, rows, codes)

    def _overlap(self, offsets: Longs, codes: Longs, other_offsets: Longs, others: Longs) -> None:
        """Count in how many rows two subscriptions meet."""
        if not len(codes) or not len(others):
            return
        names, local = np.unique(codes, return_inverse=True)
        other_names, other_local = np.unique(others, return_inverse=True)
        rows = len(offsets) - 1
        if rows > 1 and len(names) * len(other_names) > _CELLS:
            middle = rows // 2
            for some in (slice(0, middle + 1), slice(middle, rows + 1)):
                mine, theirs = offsets[some], other_offsets[some]
                self._overlap(
                    mine - mine[0], codes[mine[0] : mine[-1]], theirs - theirs[0], others[theirs[0] : theirs[-1]]
                )
            return
        cells = np.zeros((len(names), len(other_names)), np.int32)
        _count(offsets, local, other_offsets, other_local, cells)
        at, other_at = np.nonzero(cells)
        self._counts[OVERLAP].add(names[at] << _BITS | other_names[other_at], cells[at, other_at].astype(np.int64))

    def _show(self, kind: int, piece: pa.RecordBatch, days: Longs, rows: Longs, codes: Longs) -> None:
        """Keep the first events of each subscription."""
        most = self._question.examples
        if not most or not len(codes):
            return
        shown = self._shown.get(kind, np.zeros(0, np.int64))
        shown = np.concatenate((shown, np.zeros(max(0, int(codes.max()) + 1 - len(shown)), np.int64)))
        wanted = np.flatnonzero(shown[codes] < most)
        order = wanted[np.argsort(codes[wanted], kind="stable")]
        some = codes[order]
        turn = np.arange(len(some)) - np.searchsorted(some, some)
        order = order[turn < most - shown[some]]
        np.add.at(shown, codes[order], 1)
        self._shown[kind] = shown
        columns = [piece.column(at).take(pa.array(rows[order])) for at in self._question.shown]
        names = [self._question.names[at] for at in self._question.shown]
        events = pa.Table.from_arrays(columns, names=names).to_pylist()
        for at, event in zip(order.tolist(), events, strict=True):
            text = msgspec.json.encode(event, enc_hook=str).decode()
            self._examples.append((kind, int(codes[at]), int(days[rows[at]]), text))

    def _events(self, piece: pa.RecordBatch) -> pa.RecordBatch:
        names = list(self._question.names)
        return pa.RecordBatch.from_arrays(piece.columns[: len(names)], names=names)

    def overflow(self) -> Iterator[pa.RecordBatch]:
        """Hand over counts that have become too many."""
        for kind, counts in self._counts.items():
            if counts.held > _HELD:
                keys, rows = counts.total()
                if len(keys) > _HELD // 2:
                    yield self._counted(kind, keys, rows)
                else:
                    counts.add(keys, rows)

    def answer(self) -> Iterator[pa.RecordBatch]:
        """Hand over everything."""
        for kind, counts in self._counts.items():
            keys, rows = counts.total()
            if len(keys):
                yield self._counted(kind, keys, rows)
        if self._examples:
            kinds, codes, days, events = (list(each) for each in zip(*self._examples, strict=True))
            count = len(events)
            yield _batch(
                np.full(count, EXAMPLE),
                self._ids.ids(np.array(codes)),
                _dates(np.array(days)),
                self._others.none(count),
                np.ones(count, np.int64),
                pa.array(kinds, pa.int32()),
                pa.array(events, pa.string()),
            )

    def _counted(self, kind: int, keys: Longs, rows: Longs) -> pa.RecordBatch:
        count = len(keys)
        high, low = keys >> _BITS, keys & _LOW
        overlap = kind == OVERLAP
        return _batch(
            np.full(count, kind),
            self._ids.none(count) if kind == EVENTS else self._ids.ids(high),
            _dates(np.zeros(count, np.int64)) if overlap else _dates(low),
            self._others.ids(low) if overlap else self._others.none(count),
            rows,
            pa.nulls(count, pa.int32()),
            pa.nulls(count, pa.string()),
        )


def _opened(index: Index) -> Attached:
    return attached(index.path, index.version)


def _rows(found: Found) -> Longs:
    return np.repeat(np.arange(len(found.offsets) - 1), np.diff(found.offsets))


def _days(column: pa.Array) -> Longs:
    numbers = column.cast(pa.int32()).cast(pa.int64())
    return np.where(
        column.is_valid().to_numpy(zero_copy_only=False), numbers.fill_null(0).to_numpy() + _FIRST_DAY, _NO_DAY
    )


def _dates(days: Longs) -> pa.Array:
    return pa.array((days - _FIRST_DAY).astype(np.int32), pa.int32(), mask=days == _NO_DAY).cast(pa.date32())


def _batch(kinds: Longs, ids: Any, days: Any, others: Any, rows: Longs, of: Any, events: Any) -> pa.RecordBatch:
    columns = [pa.array(kinds, pa.int32()), ids, days, others, pa.array(rows), of, events]
    return pa.RecordBatch.from_arrays(columns, names=["kind", "id", "day", "other", "rows", "of", "event"])


@kernel
def _count(offsets: Longs, codes: Longs, other_offsets: Longs, others: Longs, cells: Cells) -> None:
    for row in range(len(offsets) - 1):
        for at in range(offsets[row], offsets[row + 1]):
            for other in range(other_offsets[row], other_offsets[row + 1]):
                cells[codes[at], others[other]] += 1
