"""Blocks of CSV end where Arrow, too, sees the end of a row."""

from io import BytesIO

import numpy as np
import pyarrow as pa
import pytest
from hypothesis import given
from hypothesis import strategies as st
from pyarrow import csv

from tamis.cli.tables.csv_rows import row_end, whole_rows

#: What matters to quoting and to the ends of rows, and little else.
TEXTS = st.text('a,"\n\r', max_size=40).map(str.encode)


def _fields(text: bytes) -> list[list[str]]:
    """Return the rows of a text, as Arrow reads it at once, in a column for as many fields as there may be."""
    rows: list[str] = []

    def keep(row: csv.InvalidRow) -> str:
        rows.append(row.text)
        return "skip"

    try:
        table = csv.read_csv(
            pa.BufferReader(text),
            csv.ReadOptions(use_threads=False, column_names=["a", "b"]),
            csv.ParseOptions(newlines_in_values=True, invalid_row_handler=keep),
            csv.ConvertOptions(column_types={"a": pa.string(), "b": pa.string()}),
        )
    except pa.ArrowInvalid as error:
        assert str(error) == "Empty CSV file"
        return [rows]
    return [rows, *([row["a"], row["b"]] for row in table.to_pylist())]


@given(TEXTS, st.integers(40, 60))
def test_blocks_have_the_rows_of_the_whole(text: bytes, block_bytes: int) -> None:
    # A first row fills the first blocks, so that they end anywhere in the rest.
    text = b"x" * (block_bytes - len(text) // 2) + b",y\n" + text
    blocks = [buffer.to_pybytes() for buffer in whole_rows(BytesIO(text), block_bytes)]
    assert b"".join(blocks) == text
    whole, *good = _fields(text)
    parts = [_fields(block) for block in blocks]
    assert [bad for part in parts for bad in part[0]] == whole
    assert [row for part in parts for row in part[1:]] == good


@given(TEXTS)
def test_compiled_or_not_rows_end_alike(text: bytes) -> None:
    array = np.frombuffer(text, np.uint8)
    assert row_end(array) == row_end.py_func(array)  # type: ignore[attr-defined]


@pytest.mark.parametrize(
    ("text", "end"),
    [
        (b"a,b", 0),
        (b"a,b\nc", 4),
        (b'a,"b\nc', 0),
        (b'a,"b\nc"\nd', 8),
        (b'5" pipe\n6', 8),
        (b'"a"" \n\r"b', 0),
        (b'"a"b"\nc', 6),
        (b"a\rb", 2),
    ],
)
def test_a_row_ends_where_no_quotes_are_open(text: bytes, end: int) -> None:
    assert row_end(np.frombuffer(text, np.uint8)) == end


def test_a_row_may_be_as_long_as_a_block_and_no_longer() -> None:
    assert [b.to_pybytes() for b in whole_rows(BytesIO(b"1234567\n1\n"), 8)] == [b"1234567\n", b"1\n"]
    with pytest.raises(ValueError, match="a row is longer than 8 bytes; is a quote left open"):
        list(whole_rows(BytesIO(b'"23456789\n' * 3), 8))
