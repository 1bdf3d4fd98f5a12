"""Events in a folder, as numbered segments that never change: what a stream can read again exactly.

segment-000000000001.parquet, …     without gaps
refused/segment-000000000007.json   a segment that could not be read, and why
"""

import os
import re
import secrets
from collections.abc import Callable, Iterator
from contextlib import suppress
from pathlib import Path
from typing import Final

import msgspec
import pyarrow as pa
import pyarrow.parquet as pq

from tamis.matching.segments.files import placed, sync_folder
from tamis.pipeline.errors import StoreError

_REFUSED: Final = "refused"
_NAME: Final = re.compile(r"segment-(\d{12})\.parquet")
#: Rows that are read at a time, as Spark hands them on.
_BATCH_ROWS: Final = 10_000


class Refused(msgspec.Struct, frozen=True):
    """A segment whose events nobody got, and why."""

    segment: int
    reason: str


class EventLog:
    """The segments in a folder. Any number of processes may append and read."""

    def __init__(self, path: str | Path) -> None:
        self.path = Path(path).resolve()

    def append(self, events: pa.Table | pa.RecordBatch) -> int:
        """Write events as the next segment, and return its number when it is on disk."""
        table = pa.Table.from_batches([events]) if isinstance(events, pa.RecordBatch) else events
        self.path.mkdir(parents=True, exist_ok=True)
        temporary = self.path / f".{secrets.token_hex(8)}.tmp"
        try:
            with placed(temporary) as file:
                pq.write_table(table.cast(plain(table.schema)), file)
            number = self.last() + 1
            while not _is_linked(temporary, self.segment(number)):
                number += 1
        finally:
            temporary.unlink(missing_ok=True)
        sync_folder(self.path)
        return number

    def segment(self, number: int) -> Path:
        """Return where a segment lies."""
        return self.path / f"segment-{number:012}.parquet"

    def first(self) -> int:
        """Return the number of the first segment that is there; 0 if there is none."""
        found = (_NAME.fullmatch(each.name) for each in self.path.iterdir()) if self.path.is_dir() else ()
        return min((int(each[1]) for each in found if each), default=0)

    def last(self, after: int | None = None) -> int:
        """Return the number of the last segment; `after` is one that was there."""
        number = self.first() if after is None else after
        while self.segment(number + 1).exists():
            number += 1
        return number

    def schema(self) -> pa.Schema:
        """Return the columns of the first segment that can be read, which are those of all."""
        first = self.first()
        if not first:
            raise StoreError(f"there are no events at {self.path}: append some, for their columns are those of all")
        number = first
        while self.segment(number).exists():
            with suppress(OSError, pa.ArrowException):
                return plain(pq.read_schema(self.segment(number)))
            number += 1
        raise StoreError(f"none of the segments {first} to {number - 1} at {self.path} can be read")

    def read(
        self, number: int, schema: pa.Schema, told: Callable[[Refused], None] | None = None
    ) -> Iterator[pa.RecordBatch]:
        """Yield the events of a segment with these columns; those that it lacks are null, others are left out.

        A segment that is damaged, or whose values do not fit the types, is refused as a whole and noted; `told` is
        called with it.
        """
        try:
            # At once: half of a segment must not go out before the other half turns out to be damaged.
            table = pq.read_table(self.segment(number), memory_map=True)
            columns = [
                table[field.name].cast(field.type)
                if field.name in table.column_names
                else pa.nulls(table.num_rows, field.type)
                for field in schema
            ]
        except (OSError, pa.ArrowException) as error:
            refused = Refused(number, f"{type(error).__name__}: {error}")
            self._refuse(refused)
            if told is not None:
                told(refused)
            return
        yield from pa.table(columns, schema=schema).to_batches(max_chunksize=_BATCH_ROWS)

    def refused(self) -> list[Refused]:
        """Return the segments that could not be read, by number."""
        files = sorted((self.path / _REFUSED).glob("*.json"))
        return [msgspec.json.decode(file.read_bytes(), type=Refused) for file in files]

    def _refuse(self, refused: Refused) -> None:
        folder = self.path / _REFUSED
        folder.mkdir(exist_ok=True)
        with placed(folder / f"segment-{refused.segment:012}.json") as file:
            file.write(msgspec.json.encode(refused))


def plain(schema: pa.Schema) -> pa.Schema:
    """Return columns in the types that Spark knows: no dictionaries, no large texts, times in microseconds."""
    return pa.schema([pa.field(field.name, _plain(field.type), field.nullable) for field in schema])


def _plain(kind: pa.DataType) -> pa.DataType:
    if pa.types.is_dictionary(kind):
        return _plain(kind.value_type)
    if pa.types.is_large_string(kind) or pa.types.is_string_view(kind):
        return pa.string()
    if pa.types.is_timestamp(kind):
        return pa.timestamp("us", "UTC" if kind.tz is not None else None)
    if pa.types.is_list(kind) or pa.types.is_large_list(kind):
        return pa.list_(_plain(kind.value_type))
    if pa.types.is_struct(kind):
        return pa.struct([pa.field(field.name, _plain(field.type), field.nullable) for field in kind])
    return kind


def _is_linked(source: Path, target: Path) -> bool:
    """Give a file a second name, unless it is taken."""
    try:
        os.link(source, target)
    except FileExistsError:
        return False
    return True
