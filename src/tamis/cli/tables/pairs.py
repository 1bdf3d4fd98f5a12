"""Matches written as pairs of row and id: Parquet, CSV, JSON lines, or a table on the screen."""

import shutil
import sys
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import IO, Final, Protocol

import msgspec
import pyarrow as pa
import pyarrow.parquet as pq
from pyarrow import csv
from rich.table import Table

from tamis.cli.output import stdout
from tamis.cli.tables.source import Format, create
from tamis.lab.files import replacing

#: Rows of a table on the screen; the rest is only counted.
TABLE_ROWS: Final = 40
#: Output held back is kept in memory up to this size, then on disk.
HELD_IN_MEMORY: Final = 2**20


class PairWriter(Protocol):
    """Takes tables of pairs that have its schema."""

    schema: pa.Schema

    def write(self, pairs: pa.Table) -> None:
        """Take some more pairs."""


def pair_schema(id_type: pa.DataType) -> pa.Schema:
    """Return the schema of the output; `row` counts from 1 in the events file."""
    return pa.schema([("row", pa.int64()), ("id", id_type)])


class Destination(msgspec.Struct, frozen=True):
    """Where pairs go: a file, or standard output without `path`. Without `format`, a table on the screen.

    With `held_back`, standard output gets nothing before everything has gone well.
    """

    path: Path | None
    format: Format | None
    held_back: bool = False

    @property
    def on_screen(self) -> bool:
        """Whether pairs run over a terminal while events are matched."""
        return self.path is None and self.format is not None and not self.held_back and sys.stdout.isatty()

    @contextmanager
    def open(self, schema: pa.Schema) -> Iterator[PairWriter]:
        """Give a writer; a file appears when the block has ended well."""
        if self.format is None:
            screen = _Screen(schema)
            yield screen
            screen.print()
        elif self.path is not None:
            with (
                replacing(self.path) as temporary,
                create(temporary, self.path) as stream,
                _writer(stream, self.format, schema) as writer,
            ):
                yield writer
        elif self.held_back:
            with tempfile.SpooledTemporaryFile(HELD_IN_MEMORY) as held:
                with _writer(held, self.format, schema) as writer:
                    yield writer
                held.seek(0)
                shutil.copyfileobj(held, sys.stdout.buffer)
        else:
            with _writer(sys.stdout.buffer, self.format, schema) as writer:
                yield writer


@contextmanager
def _writer(stream: IO[bytes], output: Format, schema: pa.Schema) -> Iterator[PairWriter]:
    if output is Format.PARQUET:
        with pq.ParquetWriter(stream, schema) as writer:
            yield _Arrow(schema, writer)
    elif output is Format.CSV:
        # Arrow would put the names in the header into quotes.
        stream.write(",".join(schema.names).encode() + b"\n")
        with csv.CSVWriter(stream, schema, write_options=csv.WriteOptions(include_header=False)) as writer:
            yield _Arrow(schema, writer)
    else:
        yield _JsonLines(schema, stream)


class _Arrow:
    def __init__(self, schema: pa.Schema, writer: pq.ParquetWriter | csv.CSVWriter) -> None:
        self.schema = schema
        self._writer = writer

    def write(self, pairs: pa.Table) -> None:
        self._writer.write_table(pairs)


class _JsonLines:
    def __init__(self, schema: pa.Schema, stream: IO[bytes]) -> None:
        self.schema = schema
        self._stream = stream
        self._encoder = msgspec.json.Encoder()

    def write(self, pairs: pa.Table) -> None:
        self._stream.write(self._encoder.encode_lines(pairs.to_pylist()))


class _Screen:
    """Keeps the first pairs and prints them at the end."""

    def __init__(self, schema: pa.Schema) -> None:
        self.schema = schema
        self._kept: list[dict[str, object]] = []
        self._count = 0

    def write(self, pairs: pa.Table) -> None:
        self._count += pairs.num_rows
        self._kept += pairs.slice(0, TABLE_ROWS - len(self._kept)).to_pylist()

    def print(self) -> None:
        table = Table("row", "id")
        for pair in self._kept:
            table.add_row(str(pair["row"]), str(pair["id"]))
        console = stdout()
        console.print(table)
        if self._count > len(self._kept):
            rest = self._count - len(self._kept)
            console.print(f"and {rest:,} more; --out FILE or --format csv writes all of them")
