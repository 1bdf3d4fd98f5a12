"""CSV with a header line, its columns typed from all their values.

An empty field is null; a quoted empty field is the empty text. Nothing else means null: `NA` is a text.
"""

import csv as header_csv
import tempfile
from collections.abc import Iterable, Iterator
from itertools import starmap
from shutil import copyfileobj
from typing import BinaryIO, Final

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
from pyarrow import csv

from tamis.cli.errors import InputError, one_line
from tamis.cli.tables.csv_rows import whole_rows
from tamis.cli.tables.rejects import Rejects
from tamis.cli.tables.source import Source
from tamis.cli.tables.table import Batch, Rows, Table, check_columns

#: Bytes parsed at a time. A longer row is refused.
BLOCK_BYTES: Final = 2**20

#: The types a column may have: the first that fits every value is taken, otherwise it is text.
_TYPES: Final = (
    pa.int64(),
    pa.float64(),
    pa.bool_(),
    pa.date32(),
    pa.timestamp("us"),
    pa.timestamp("us", tz="UTC"),
)
#: 007 and 0x1F are codes, not numbers: as numbers they could not be told from 7 and 31.
_CODE: Final = r"^[+-]?0[0-9xX]"


def read_csv(source: Source, batch_rows: int, rejects: Rejects) -> Table:
    """Read a CSV file with typed columns; rows with too few or too many fields are rejected.

    The file is read twice. Arrow's streaming reader fixes the types by its first block and stops at the first
    later value that does not fit; converting each block alone would let a column change its type half-way.
    Standard input is put into a temporary file for that.
    """
    stream = _rewindable(source)
    columns = _header(source, stream)
    types, total = _infer(_text_batches(source, stream, columns, rejects), len(columns))

    def batches() -> Iterator[Batch]:
        stream.seek(0)
        _header(source, stream)
        with stream:
            # The first pass has reported the bad rows.
            for rows, block in _text_batches(source, stream, columns, Rejects()):
                arrays = [column.cast(type_) for column, type_ in zip(block.columns, types, strict=True)]
                typed = pa.RecordBatch.from_arrays(arrays, names=columns)
                for start in range(0, typed.num_rows, batch_rows):
                    stop = start + batch_rows
                    yield Batch(rows[start:stop], typed.slice(start, batch_rows))

    return Table(columns, total, batches())


def read_csv_text(source: Source, rejects: Rejects) -> Table:
    """Read a CSV file once, leaving every column text."""
    stream = source.open()
    columns = _header(source, stream)
    return Table(columns, None, starmap(Batch, _text_batches(source, stream, columns, rejects)))


def _rewindable(source: Source) -> BinaryIO:
    stream = source.open()
    if not source.is_stdin:
        return stream
    copy = tempfile.TemporaryFile()  # noqa: SIM115 - closed by whoever reads it
    copyfileobj(stream, copy)
    copy.seek(0)
    return copy


def _header(source: Source, stream: BinaryIO) -> list[str]:
    """Read the first line, so that every column can be asked for as text by its name."""
    line = stream.readline(BLOCK_BYTES)
    try:
        columns = next(header_csv.reader([line.decode("utf-8-sig")]), [])
    except (UnicodeDecodeError, header_csv.Error) as error:
        raise source.bad(f"not readable as CSV: {one_line(error)}") from None
    if not columns:
        raise source.bad("the header line with the column names is missing")
    check_columns(source, columns)
    return columns


def _text_batches(
    source: Source, stream: BinaryIO, columns: list[str], rejects: Rejects
) -> Iterator[tuple[Rows, pa.RecordBatch]]:
    """Yield the numbers of the rows, and the rows as columns of text."""
    first = 1
    try:
        for buffer in whole_rows(stream, BLOCK_BYTES):
            block, bad_rows = _parsed(buffer, columns)
            for bad in bad_rows:
                reason = f"{bad.actual_columns} fields instead of {bad.expected_columns}"
                rejects.add(source, first - 1 + bad.number, reason, bad.text)
            count = block.num_rows + len(bad_rows)
            rows = np.delete(np.arange(first, first + count), [bad.number - 1 for bad in bad_rows])
            for batch in block.to_batches():
                yield rows, batch
            first += count
    except InputError:
        raise
    except (pa.ArrowException, OSError, ValueError) as error:
        raise source.bad(f"not readable as CSV: {one_line(error)}", first) from None


def _parsed(buffer: pa.Buffer, columns: list[str]) -> tuple[pa.Table, list[csv.InvalidRow]]:
    """Return whole rows as columns of text, and aside those with too few or too many fields."""
    bad_rows: list[csv.InvalidRow] = []

    def keep_aside(row: csv.InvalidRow) -> str:
        bad_rows.append(row)
        return "skip"

    types = dict.fromkeys(columns, pa.string())
    try:
        block = csv.read_csv(
            pa.BufferReader(buffer),
            # Row numbers are only known when one thread reads.
            csv.ReadOptions(use_threads=False, block_size=buffer.size, column_names=columns),
            csv.ParseOptions(newlines_in_values=True, invalid_row_handler=keep_aside),
            csv.ConvertOptions(
                column_types=types, null_values=[""], strings_can_be_null=True, quoted_strings_can_be_null=False
            ),
        )
    except pa.ArrowInvalid as error:
        if str(error) != "Empty CSV file":
            raise
        block = pa.schema(types).empty_table()
    return block, bad_rows


def _infer(batches: Iterable[tuple[Rows, pa.RecordBatch]], width: int) -> tuple[list[pa.DataType], int]:
    """Return the type of each column and the number of rows."""
    fitting = [list(_TYPES) for _ in range(width)]
    total = 0
    for _, block in batches:
        total += block.num_rows
        for types, column in zip(fitting, block.columns, strict=True):
            if types and pc.any(pc.match_substring_regex(column, _CODE)).as_py():
                types.clear()
            types[:] = [type_ for type_ in types if _fits(column, type_)]
    return [types[0] if types else pa.string() for types in fitting], total


def _fits(column: pa.Array, type_: pa.DataType) -> bool:
    try:
        column.cast(type_)
    except pa.ArrowInvalid:
        return False
    return True
