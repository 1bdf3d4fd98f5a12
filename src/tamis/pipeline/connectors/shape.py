"""What an event must look like to become a row: declared columns, and the reason why one does not fit."""

import datetime as dt
import decimal
from collections.abc import Iterable, Sequence
from functools import lru_cache
from typing import Annotated, Any, Final, NamedTuple

import msgspec
import pyarrow as pa

#: Whole numbers by their Arrow type: what fits.
_BITS: Final = {pa.int8(): 8, pa.int16(): 16, pa.int32(): 32, pa.int64(): 64}
_PLAIN: Final[dict[pa.DataType, Any]] = {
    pa.bool_(): bool,
    pa.float32(): float,
    pa.float64(): float,
    pa.string(): str,
    pa.binary(): bytes,
    pa.date32(): dt.date,
}


class Bad(NamedTuple):
    """A record that is no event, by its number among those given, and why."""

    number: int
    reason: str


class Shaped(NamedTuple):
    """What became of records: columns of those that fit, which ones they are, and the others."""

    rows: pa.RecordBatch
    numbers: list[int]
    bad: list[Bad]


class Shape:
    """Declared columns. A record may lack some, which are null, and have others, which are left out.

    A value of another type makes the whole record a bad one: there are no casts, but a whole number is a double too,
    and times and dates are texts (RFC 3339; without an offset they are in UTC).
    """

    def __init__(self, schema: pa.Schema) -> None:
        self.schema = schema
        self._type = _struct("event", list(schema))
        self._decoder = msgspec.json.Decoder(self._type)

    def of_json(self, texts: Sequence[bytes | None]) -> Shaped:
        """Read records from JSON, one in each text."""
        return self._shaped(texts, self._decoded)

    def of_mappings(self, contents: Sequence[Any]) -> Shaped:
        """Read records that are mappings already."""
        return self._shaped(contents, lambda content: msgspec.convert(content, self._type))

    def _decoded(self, text: bytes | None) -> Any:
        if text is None:
            raise msgspec.DecodeError("there is no value")
        return self._decoder.decode(text)

    def _shaped(self, records: Sequence[Any], read: Any) -> Shaped:
        found, numbers, bad = [], [], []
        for number, record in enumerate(records):
            try:
                found.append(read(record))
                numbers.append(number)
            except (msgspec.MsgspecError, UnicodeDecodeError, RecursionError) as error:
                bad.append(Bad(number, str(error)))
        try:
            return Shaped(self._columns(found), numbers, bad)
        except (pa.ArrowException, ValueError, OverflowError):
            # Some value is of its type, but beyond what a column holds: one by one it is told which.
            return self._one_by_one(found, numbers, bad)

    def _one_by_one(self, found: list[Any], numbers: list[int], bad: list[Bad]) -> Shaped:
        kept = []
        for row, number in zip(found, numbers, strict=True):
            try:
                self._columns([row])
                kept.append((row, number))
            except (pa.ArrowException, ValueError, OverflowError) as error:
                bad.append(Bad(number, str(error)))
        rows = self._columns([row for row, _ in kept])
        return Shaped(rows, [number for _, number in kept], sorted(bad))

    def _columns(self, rows: list[Any]) -> pa.RecordBatch:
        columns = [
            pa.array([_plain(getattr(row, f"c{at}")) for row in rows], field.type)
            if pa.types.is_nested(field.type)
            else pa.array([getattr(row, f"c{at}") for row in rows], field.type)
            for at, field in enumerate(self.schema)
        ]
        return pa.RecordBatch.from_arrays(columns, schema=self.schema)


@lru_cache(maxsize=8)
def shape_of(schema: pa.Schema) -> Shape:
    """Return the shape of a schema, which this process keeps."""
    return Shape(schema)


def _struct(name: str, fields: Iterable[pa.Field]) -> Any:
    # Columns have any names, attributes in Python do not: they go by number.
    given = list(fields)
    return msgspec.defstruct(
        name,
        [(f"c{at}", _type(field.name, field.type) | None, None) for at, field in enumerate(given)],
        rename={f"c{at}": field.name for at, field in enumerate(given)},
        gc=False,
    )


def _type(name: str, kind: pa.DataType) -> Any:
    if kind in _PLAIN:
        return _PLAIN[kind]
    if kind in _BITS:
        most = 1 << (_BITS[kind] - 1)
        return Annotated[int, msgspec.Meta(ge=-most, le=most - 1)]
    if pa.types.is_timestamp(kind):
        return dt.datetime
    if pa.types.is_decimal(kind):
        return decimal.Decimal
    if pa.types.is_list(kind):
        return list[_type(name, kind.value_type) | None]  # type: ignore[misc]
    if pa.types.is_struct(kind):
        return _struct(name, kind)
    raise ValueError(f"column {name!r} is {kind}, which events from JSON cannot have")


def _plain(value: Any) -> Any:
    """Return nested structs as mappings, as Arrow takes them."""
    if isinstance(value, msgspec.Struct):
        names = value.__struct_encode_fields__
        return {name: _plain(each) for name, each in zip(names, msgspec.structs.astuple(value), strict=True)}
    return [_plain(each) for each in value] if isinstance(value, list) else value
