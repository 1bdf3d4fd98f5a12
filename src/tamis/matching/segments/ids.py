"""A column of ids with a way back from an id to its row, without a Python object for each."""

from collections.abc import Callable, Mapping, Sequence
from itertools import pairwise
from typing import Any, TypeAlias

import numpy as np
import numpy.typing as npt
import pyarrow as pa

from tamis.matching.errors import SubscriptionError
from tamis.matching.ranks.lists import Longs
from tamis.matching.segments import idtable

Id: TypeAlias = str | int
Text: TypeAlias = idtable.Text

_MIN, _MAX = -(2**63), 2**63 - 1
#: From so many rows on, Arrow makes a list of texts faster than we do; below, it takes longer to begin.
_MANY_ROWS = 64


class Ids:
    """Ids, all `str` or all `int` of 64 bits, in rows. It never changes.

    An id may occur twice, so that this can be found out: `first_repeated`. Searches give its first row then. The hash
    table is built when it is first needed; `arrays` takes it along to a file, so that opening need not build it.
    """

    def __init__(self, columns: tuple[Longs, Text] | tuple[Longs], table: Longs | None = None) -> None:
        """Private: use `of`, `concatenated` or `from_arrays`. Columns are offsets and UTF-8 bytes, or numbers."""
        self.kind: type[str] | type[int] = str if len(columns) == 2 else int
        # All arrays are read-only, as a map of a file is: so each kernel is compiled for one kind of array.
        self._columns: Any = tuple(_read_only(column) for column in columns)
        self._table = None if table is None else _read_only(table)
        self._length = len(columns[0]) - (self.kind is str)
        if self._length > idtable.MAX_IDS:
            raise SubscriptionError(f"{self._length} ids are more than {idtable.MAX_IDS}")

    @classmethod
    def of(cls, ids: Sequence[str] | Sequence[int] | npt.NDArray[Any] | pa.Array | pa.ChunkedArray) -> "Ids":
        """Return a column of these ids. No ids without a type are taken for strings."""
        if isinstance(ids, pa.Array | pa.ChunkedArray):
            return cls._of_arrow(_checked_arrow(ids))
        if isinstance(ids, np.ndarray):
            if ids.ndim == 1 and ids.dtype.kind in "iu":
                # A copy: Arrow would look at the caller's memory, which may change.
                return cls._of_arrow(_checked_arrow(pa.array(ids.copy())))
            ids = ids.tolist()
        return cls._of_arrow(_arrow_of_list(ids))

    @classmethod
    def _of_arrow(cls, column: pa.Array) -> "Ids":
        """Return the ids of an Arrow column (large_string or int64, without nulls) without copying them."""
        if column.type == pa.int64():
            return cls((_array(column.buffers()[1], np.int64, column.offset, len(column)),))
        _, places, data = column.buffers()
        if not len(column):
            return cls((np.zeros(1, np.int64), np.zeros(0, np.uint8)))
        offsets = _array(places, np.int64, column.offset, len(column) + 1)
        first, last = int(offsets[0]), int(offsets[-1])
        return cls((offsets - first if first else offsets, _array(data, np.uint8, first, last - first)))

    def __len__(self) -> int:
        return self._length

    def find(self, id: Id) -> int:
        """Return the row of an id, or -1. An id of the other kind is not there."""
        if type(id) is not self.kind:
            return -1
        if isinstance(id, int):
            return int(idtable.find_number(self._columns[0], self.table, id)) if _MIN <= id <= _MAX else -1
        try:
            text = np.frombuffer(id.encode(), np.uint8)
        except UnicodeEncodeError:  # half a surrogate pair, which `of` refuses
            return -1
        offsets, data = self._columns
        return int(idtable.find_text(offsets, data, self.table, text))

    def find_many(self, ids: "Ids") -> Longs:
        """Return for each of other ids its row here, or -1."""
        if ids.kind is not self.kind:
            return np.full(len(ids), -1, np.int64)
        find: Callable[..., Longs] = idtable.find_texts if self.kind is str else idtable.find_numbers
        return find(*self._columns, self.table, *ids._columns)

    def take(self, rows: npt.NDArray[Any]) -> list[Any]:
        """Return the ids of some rows: a list of `str` or of `int`. A row that is none is an `IndexError`."""
        rows = np.asarray(rows, np.int64)
        if self.kind is int:
            numbers: list[int] = idtable.numbers_at(self._columns[0], rows).tolist()
            return numbers
        if len(rows) > _MANY_ROWS:
            many: list[str] = self.arrow().take(pa.array(rows)).to_pylist()
            return many
        # Decoding once and cutting by character is four times as fast as decoding each.
        offsets, data = self._columns
        cuts, gathered = idtable.texts_at(offsets, data, rows)
        text = gathered.tobytes().decode()
        return [text[start:end] for start, end in pairwise(cuts.tolist())]

    def arrow(self) -> pa.Array:
        """Return the ids as Arrow sees them, `large_string` or `int64`, without copying."""
        type_ = pa.large_string() if self.kind is str else pa.int64()
        return pa.Array.from_buffers(type_, len(self), [None, *map(pa.py_buffer, self._columns)])

    def first_repeated(self) -> Id | None:
        """Return the first id that was there already in a row before, or none."""
        missing = idtable.missing_rows(self.table, len(self))
        found: Id | None = self.take(missing[:1])[0] if len(missing) else None
        return found

    def select(self, rows: npt.NDArray[Any]) -> "Ids":
        """Return the ids of some rows, in their order."""
        if self.kind is int:
            numbers, wanted = self._columns[0], np.asarray(rows, np.int64)
            idtable.check_rows(wanted, len(numbers))
            return Ids((numbers[wanted],))
        return self._of_arrow(self.arrow().take(pa.array(rows, pa.int64())))

    @staticmethod
    def concatenated(parts: Sequence["Ids"]) -> "Ids":
        """Return the ids of all parts, one behind the other. Parts with ids must be of one kind."""
        filled = [part for part in parts if len(part)] or list(parts[:1])
        if len({part.kind for part in filled}) > 1:
            raise SubscriptionError("some ids are str and others int: all ids of an index are of one kind")
        return Ids._of_arrow(pa.concat_arrays([part.arrow() for part in filled])) if filled else Ids.of([])

    @property
    def table(self) -> Longs:
        """The hash table; see `idtable`."""
        if self._table is None:
            table = np.zeros(idtable.slots_for(len(self)), np.int64)
            enter: Callable[..., None] = idtable.enter_texts if self.kind is str else idtable.enter_numbers
            enter(*self._columns, table)
            # Two threads may both get here: each then keeps a table, and they are equal.
            self._table = _read_only(table)
        return self._table

    def arrays(self) -> dict[str, npt.NDArray[Any]]:
        """Return the arrays to keep in a file: `offsets` and `data`, or `values`; and `table`."""
        names = ("offsets", "data") if self.kind is str else ("values",)
        return {**dict(zip(names, self._columns, strict=True)), "table": self.table}

    @classmethod
    def from_arrays(cls, arrays: Mapping[str, npt.NDArray[Any]]) -> "Ids":
        """Return the ids whose arrays these are, without copying. Nonsense is a `ValueError`.

        It is checked that nothing reads outside the arrays and every search ends; that each id is found in its row is
        left to the checksum of the file. Arrays of other names are not looked at.
        """
        if "values" in arrays:
            ids = cls((_typed(arrays, "values", np.int64),), _typed(arrays, "table", np.int64))
        else:
            offsets, data = _typed(arrays, "offsets", np.int64), _typed(arrays, "data", np.uint8)
            if not len(offsets) or offsets[0] != 0 or offsets[-1] != len(data):
                raise ValueError("the offsets of the ids do not fit their data")
            ids = cls((offsets, data), _typed(arrays, "table", np.int64))
            try:
                ids.arrow().validate(full=True)
            except pa.ArrowInvalid as error:
                raise ValueError(f"the ids are no texts: {error}") from None
        if len(ids.table) != idtable.slots_for(len(ids)):
            raise ValueError(f"the table of {len(ids)} ids has {len(ids.table)} slots")
        missing = idtable.missing_rows(ids.table, len(ids))
        # What is not in the table must be there under another row: few ids are repeated, if any.
        if len(missing) and (missing[0] < 0 or (ids.find_many(ids.select(missing)) < 0).any()):
            raise ValueError("the table of the ids is no table of their rows")
        return ids

    @property
    def bytes(self) -> int:
        """How much memory the ids take, with their table if it was built."""
        columns: int = sum(column.nbytes for column in self._columns)
        return columns + (0 if self._table is None else self._table.nbytes)

    def check_invariants(self) -> None:
        """Raise `AssertionError` if an id is not found in its first row."""
        firsts: dict[Id, int] = {}
        for row, id in enumerate(self.arrow().to_pylist()):
            assert self.find(id) == firsts.setdefault(id, row)


def _arrow_of_list(ids: Sequence[Any]) -> pa.Array:
    kinds = set(map(type, ids))
    if not kinds <= {str, int}:
        bad = next(each for each in ids if type(each) not in (str, int))
        raise SubscriptionError(f"an id is a str or an int, not {type(bad).__name__} ({bad!r})")
    if len(kinds) > 1:
        raise SubscriptionError("some ids are str and others int: all ids of an index are of one kind")
    try:
        return pa.array(ids, pa.int64() if int in kinds else pa.large_string())
    except OverflowError:
        bad = next(each for each in ids if not _MIN <= each <= _MAX)
        raise SubscriptionError(f"id {bad} does not fit in 64 bits") from None
    except UnicodeEncodeError as error:
        raise SubscriptionError(f"id {error.object!r} is no text: {error.reason}") from None


def _checked_arrow(ids: pa.Array | pa.ChunkedArray) -> pa.Array:
    """Return ids of any type of strings or integers in the type that is kept here."""
    if isinstance(ids, pa.ChunkedArray):
        ids = pa.concat_arrays(ids.chunks) if ids.num_chunks else pa.array([], ids.type)
    if pa.types.is_dictionary(ids.type):
        ids = ids.dictionary_decode()
    if ids.null_count:
        raise SubscriptionError(f"{ids.null_count} of {len(ids)} ids are null")
    is_text = pa.types.is_string(ids.type) or pa.types.is_large_string(ids.type) or pa.types.is_string_view(ids.type)
    if not is_text and not pa.types.is_integer(ids.type):
        raise SubscriptionError(f"an id is a str or an int, not {ids.type}")
    try:
        ids = ids.cast(pa.large_string() if is_text else pa.int64())
        ids.validate(full=True)
    except pa.ArrowInvalid as error:
        raise SubscriptionError(f"the ids are refused: {error}") from None
    return ids


def _array(buffer: pa.Buffer | None, dtype: type[np.generic], start: int, length: int) -> npt.NDArray[Any]:
    return np.frombuffer(buffer or b"", dtype)[start : start + length]


def _read_only(array: npt.NDArray[Any]) -> npt.NDArray[Any]:
    view = array.view()
    view.flags.writeable = False
    return view


def _typed(arrays: Mapping[str, npt.NDArray[Any]], name: str, dtype: type[np.generic]) -> npt.NDArray[Any]:
    if name not in arrays:
        raise ValueError(f"array {name!r} of the ids is missing")
    array = arrays[name]
    if array.dtype != dtype or array.ndim != 1:
        raise ValueError(f"array {name!r} of the ids is {array.dtype} in {array.ndim} dimensions")
    return np.ascontiguousarray(array)
