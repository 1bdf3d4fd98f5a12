"""A table being read, whatever its format."""

from collections.abc import Iterator, Sequence
from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt
import pyarrow as pa

from tamis.cli.tables.source import Source

Rows = npt.NDArray[np.int64]


class Batch(NamedTuple):
    """Some rows of a table: columns, or objects where the format has no columns (JSON lines).

    `rows` are their numbers in the file, from 1; refused rows leave gaps.
    """

    rows: Rows
    events: pa.RecordBatch | list[dict[str, Any]]


class Table(NamedTuple):
    """Column names and row count where the format tells them beforehand, and the batches, read once."""

    columns: Sequence[str] | None
    total: int | None
    batches: Iterator[Batch]


def check_columns(source: Source, columns: Sequence[str]) -> None:
    """Refuse a table in which a column's name occurs twice: a condition could not say which it means."""
    seen: set[str] = set()
    for column in columns:
        if column in seen:
            raise source.bad(f"two columns are called {column!r}")
        seen.add(column)
