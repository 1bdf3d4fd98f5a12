"""Parquet files as a stream that a damaged file does not end: it is put aside with its reason, and the others go on.

Spark's own reader ends a query at the first file that it cannot read, or passes over it without a word. Here Spark
only says which files are there, once each, and every file is read in Python, one group of rows after the other: a
group goes out whole or not at all.
"""

from collections.abc import Iterator
from contextlib import suppress
from pathlib import Path
from typing import Any, Final
from urllib.parse import unquote

import pyarrow as pa
import pyarrow.parquet as pq
from pyspark.sql import DataFrame
from pyspark.sql.types import StructType

from tamis.pipeline.connectors.columns import columns_of
from tamis.pipeline.connectors.decoding import mapped, numbered
from tamis.pipeline.connectors.rejects import Rejects, Writer
from tamis.pipeline.workers import Batches

#: What Spark tells of files; content is read only where it is asked for.
_FILES: Final = "path string, modificationTime timestamp, length bigint, content binary"
#: Rows that are handed on at a time, as Spark does.
_BATCH_ROWS: Final = 10_000
#: What Hive calls a folder of rows without a value.
_NO_VALUE: Final = "__HIVE_DEFAULT_PARTITION__"
#: Types of which one may stand for another, if the values fit.
_KINDS: Final = (
    ("number", (pa.types.is_integer, pa.types.is_floating, pa.types.is_decimal)),
    ("text", (pa.types.is_string, pa.types.is_large_string, pa.types.is_string_view)),
    ("time", (pa.types.is_timestamp,)),
    ("list", (pa.types.is_list, pa.types.is_large_list, pa.types.is_fixed_size_list)),
    ("bytes", (pa.types.is_binary, pa.types.is_large_binary, pa.types.is_fixed_size_binary)),
)
_WRONG: Final = (OSError, pa.ArrowException, ValueError)


def read_parquet(reader: Any, path: str, schema: StructType, rejects: str | Path) -> DataFrame:
    """Return the rows of Parquet files with the columns of a schema; `reader` is `spark.readStream` or `spark.read`.

    A column that a file lacks is null, and one that the schema lacks is left out. A file that is damaged, has none of
    the columns, or has values of another type, is put aside in the folder `rejects`: as a whole, or the groups of rows
    that are bad. Values of folders such as `day=2026-01-01` are columns too.
    """
    files = reader.schema(_FILES).format("binaryFile").load(path)
    # Workers see local files themselves; what lies elsewhere, Spark must fetch.
    files = files.select("path", *(["content"] if "://" in path and not path.startswith("file:") else []))
    columns = columns_of(schema)
    folder = str(rejects)

    def read(batches: Batches) -> Batches:
        writer = Writer(Rejects(folder))
        for batch in batches:
            for number, place in enumerate(batch.column(0).to_pylist()):
                source = local_path(place) if batch.num_columns == 1 else batch.column(1)[number].as_buffer()
                for rows in rows_of(place, source, columns, writer):
                    yield from (numbered(each.columns) for each in rows.to_batches(max_chunksize=_BATCH_ROWS))

    return mapped(files, read, "read Parquet files", list(schema.fields))


def first_readable(folder: Path) -> Path | None:
    """Return the first file below a folder of this machine that can be read; none if there is none."""
    for file in files_in(folder):
        with suppress(*_WRONG):
            pq.read_metadata(file)
            return file
    return None


def files_in(folder: Path) -> list[Path]:
    """Return the files below a folder of this machine, by name; those with a dot or underscore are none to Spark."""
    return sorted(each for each in folder.rglob("*") if each.is_file() and not each.name.startswith((".", "_")))


def local_path(place: str) -> str:
    """Return the path of a file as Spark names it: `file:/tmp/a`."""
    return "/" + place.removeprefix("file:").lstrip("/")


def rows_of(place: str, source: Any, columns: pa.Schema, writer: Writer) -> Iterator[pa.Table]:
    """Yield the groups of rows of a file that are whole, and put the others aside."""
    try:
        file = pq.ParquetFile(source, page_checksum_verification=True, coerce_int96_timestamp_unit="us")
        names = _names(file.schema_arrow, columns)
    except _WRONG as error:
        writer.write([place], [None], [_reason(error)])
        return
    folders = _folders(place)
    # In the list of columns a dot leads to a field of a struct.
    wanted = None if any("." in name for name in names.values()) else list(names.values())
    for number in range(file.num_row_groups):
        try:
            group = file.read_row_group(number, wanted)
            found = [_column(group, names.get(field.name), field, folders) for field in columns]
        except _WRONG as error:
            rows = file.metadata.row_group(number).num_rows
            which = f"group {number + 1} of {file.num_row_groups}: {rows:,} rows"
            writer.write([place], [which], [_reason(error)])
        else:
            yield pa.table(found, schema=columns)


def _names(there: pa.Schema, columns: pa.Schema) -> dict[str, str]:
    """Return what the wanted columns are called in a file: as they are, or with other capitals, as Spark has it."""
    alike = {name.lower(): name for name in there.names}
    found = {name: name if name in there.names else alike.get(name.lower()) for name in columns.names}
    names = {name: own for name, own in found.items() if own is not None}
    if not names:
        raise ValueError(f"it has none of the columns {_some(columns.names)}; it has {_some(there.names)}")
    return names


def _column(group: pa.Table, name: str | None, field: pa.Field, folders: dict[str, str | None]) -> pa.ChunkedArray:
    if name is None:
        stated = folders.get(field.name)
        missing = pa.nulls(group.num_rows, field.type)
        return pa.chunked_array([missing if stated is None else pa.repeat(stated, group.num_rows).cast(field.type)])
    column = group[name]
    given = column.type.value_type if pa.types.is_dictionary(column.type) else column.type
    if not pa.types.is_null(given) and _kind(given) != _kind(field.type):
        raise ValueError(f"column {name!r} is {given} in this file, not {field.type}")
    try:
        return column.cast(field.type)
    except pa.ArrowException as error:
        raise ValueError(f"column {name!r} is {given} in this file, not {field.type}: {error}") from None


def _kind(given: pa.DataType) -> str:
    named = (name for name, tests in _KINDS if any(test(given) for test in tests))
    return next(named, "struct" if pa.types.is_struct(given) else str(given))


def _folders(place: str) -> dict[str, str | None]:
    """Return the values that the folders of a file state."""
    stated = [part.partition("=") for part in place.split("/")[:-1] if "=" in part]
    return {unquote(name): None if value == _NO_VALUE else unquote(value) for name, _, value in stated}


def _reason(error: BaseException) -> str:
    return str(error).strip().splitlines()[0] if str(error).strip() else type(error).__name__


def _some(names: list[str]) -> str:
    return ", ".join(names[:10]) + (" …" if len(names) > 10 else "") if names else "none"
