"""JSON lines: one object a line, nested objects and arrays included."""

from collections.abc import Iterator
from typing import Any, BinaryIO, Final

import msgspec
import numpy as np
import pyarrow as pa

from tamis.cli.errors import one_line
from tamis.cli.tables.rejects import Rejects
from tamis.cli.tables.source import Source
from tamis.cli.tables.table import Batch, Table

#: A longer line is not a row but a file of another kind.
MAX_LINE_BYTES: Final = 16 * 2**20


def read_jsonlines(source: Source, batch_rows: int, rejects: Rejects) -> Table:
    """Read objects line by line. Lines that are not objects are rejected, blank lines are passed over."""
    return Table(None, None, _batches(source, source.open(), batch_rows, rejects))


def columns_of(events: list[dict[str, Any]]) -> pa.RecordBatch | None:
    """Return the events as columns, or None when a column would mix types that Arrow cannot hold exactly."""
    names = dict.fromkeys(name for event in events for name in event)
    try:
        arrays = [pa.array([event.get(name) for event in events]) for name in names]
    except (pa.ArrowException, OverflowError):
        return None
    return pa.RecordBatch.from_arrays(arrays, names=list(names)) if arrays else None


def _batches(source: Source, stream: BinaryIO, batch_rows: int, rejects: Rejects) -> Iterator[Batch]:
    rows: list[int] = []
    events: list[dict[str, Any]] = []
    with stream:
        for row, line in enumerate(_lines(source, stream), start=1):
            if not line.strip():
                continue
            try:
                event = msgspec.json.decode(line)
            except (msgspec.DecodeError, UnicodeDecodeError) as error:
                rejects.add(source, row, f"not JSON: {one_line(error)}", _text(line))
                continue
            if not isinstance(event, dict):
                rejects.add(source, row, "not a JSON object", _text(line))
                continue
            rows.append(row)
            events.append(event)
            if len(events) == batch_rows:
                yield Batch(np.array(rows, dtype=np.int64), events)
                rows, events = [], []
    if events:
        yield Batch(np.array(rows, dtype=np.int64), events)


def _lines(source: Source, stream: BinaryIO) -> Iterator[bytes]:
    row = 0
    while line := stream.readline(MAX_LINE_BYTES + 1):
        row += 1
        if len(line) > MAX_LINE_BYTES:
            raise source.bad(f"the line is longer than {MAX_LINE_BYTES:,} bytes; is this JSON lines?", row)
        yield line


def _text(line: bytes) -> str:
    return line.rstrip(b"\r\n").decode(errors="backslashreplace")
