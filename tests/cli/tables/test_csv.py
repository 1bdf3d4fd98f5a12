import datetime as dt
import io
import sys
from pathlib import Path
from typing import Any

import pytest

from tamis.cli.errors import InputError
from tamis.cli.tables import csv as csv_tables
from tamis.cli.tables.csv import read_csv, read_csv_text
from tamis.cli.tables.rejects import Rejects
from tamis.cli.tables.source import Format, Source
from tamis.cli.tables.table import Batch


def _source(tmp_path: Path, content: str | bytes) -> Source:
    path = tmp_path / "events.csv"
    path.write_bytes(content.encode() if isinstance(content, str) else content)
    return Source.of(str(path), None)


def _objects(batches: list[Batch]) -> list[dict[str, Any]]:
    return [row for batch in batches for row in batch.events.to_pylist()]  # type: ignore[union-attr]


def _read(source: Source, batch_rows: int = 100) -> tuple[list[dict[str, Any]], list[int], Rejects]:
    rejects = Rejects()
    batches = list(read_csv(source, batch_rows, rejects).batches)
    return _objects(batches), [row for batch in batches for row in batch.rows.tolist()], rejects


@pytest.mark.parametrize(
    ("fields", "values"),
    [
        (["1", "-2"], [1, -2]),
        (["1", "2.5"], [1.0, 2.5]),
        (["true", "False"], [True, False]),
        (["2024-01-02", "2024-01-03"], [dt.date(2024, 1, 2), dt.date(2024, 1, 3)]),
        (
            ["2024-01-02", "2024-01-03 04:05:06"],
            [dt.datetime.fromisoformat("2024-01-02"), dt.datetime.fromisoformat("2024-01-03 04:05:06")],
        ),
        (["2024-01-02T00:00:00Z"], [dt.datetime(2024, 1, 2, tzinfo=dt.UTC)]),
        (["1", "x"], ["1", "x"]),
        (["007", "8"], ["007", "8"]),
        (["0x1F"], ["0x1F"]),
        (["0", "0.5", "-0.5"], [0.0, 0.5, -0.5]),
        (["NA", "null"], ["NA", "null"]),
    ],
)
def test_a_column_has_the_type_that_fits_all_its_values(
    tmp_path: Path, fields: list[str], values: list[object]
) -> None:
    objects, _, _ = _read(_source(tmp_path, "n,v\n" + "".join(f"1,{field}\n" for field in fields)))
    found = [row["v"] for row in objects]
    assert found == values
    assert [type(value) for value in found] == [type(value) for value in values]


def test_an_empty_field_is_null_and_a_quoted_one_is_empty_text(tmp_path: Path) -> None:
    objects, _, _ = _read(_source(tmp_path, 'a,b\n,x\n"",\n'))
    assert objects == [{"a": None, "b": "x"}, {"a": "", "b": None}]


def test_a_late_value_decides_the_type_of_the_whole_column(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(csv_tables, "BLOCK_BYTES", 64)
    objects, rows, _ = _read(_source(tmp_path, "a,b\n" + "1,2\n" * 100 + "x,2.5\n"), batch_rows=7)
    assert {type(row["a"]) for row in objects} == {str}
    assert {type(row["b"]) for row in objects} == {float}
    assert rows == list(range(1, 102))


def test_rows_of_the_wrong_width_are_rejected_and_the_others_keep_their_numbers(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(csv_tables, "BLOCK_BYTES", 32)
    lines = [f"{row},x" if row % 3 else f"{row}" for row in range(1, 61)]
    objects, rows, rejects = _read(_source(tmp_path, "a,b\n" + "\n".join(lines)))
    assert rows == [row for row in range(1, 61) if row % 3] == [row["a"] for row in objects]
    assert rejects.count == 20
    assert (rejects.first[0].row, rejects.first[0].content) == (3, "3")
    assert rejects.first[0].reason == "1 fields instead of 2"


def test_only_bad_rows(tmp_path: Path) -> None:
    objects, _, rejects = _read(_source(tmp_path, "a,b\n1\n2\n"))
    assert objects == []
    assert rejects.count == 2


def test_a_strict_reading_ends_at_the_first_bad_row(tmp_path: Path) -> None:
    with pytest.raises(InputError, match=r"events\.csv: row 2: 1 fields instead of 2$"):
        read_csv(_source(tmp_path, "a,b\n1,x\n2\n"), 10, Rejects(strict=True))


def test_a_header_alone_is_an_empty_table(tmp_path: Path) -> None:
    table = read_csv(_source(tmp_path, "a,b\n"), 10, Rejects())
    assert (list(table.columns or ()), table.total, list(table.batches)) == (["a", "b"], 0, [])


def test_the_total_is_known_before_the_first_batch(tmp_path: Path) -> None:
    assert read_csv(_source(tmp_path, "a\n1\n2\n3\n"), 10, Rejects()).total == 3


def test_quotes_newlines_and_a_byte_order_mark(tmp_path: Path) -> None:
    objects, rows, _ = _read(_source(tmp_path, '\ufeff"a,1",b\r\n"x\ny","say ""hi"""\r\n2,3\r\n'))
    assert objects == [{"a,1": "x\ny", "b": 'say "hi"'}, {"a,1": "2", "b": "3"}]
    assert rows == [1, 2]


@pytest.mark.parametrize(
    ("content", "reason"),
    [
        (b"", "header line"),
        (b"\n1,2\n", "header line"),
        (b"a,a\n1,2\n", "two columns are called 'a'"),
        (b"\xff\xfe,b\n", "not readable as CSV"),
        (b"a,b\n1,\xff\n", "row 1: not readable as CSV"),
        (b'a,b\n1,"' + b"x" * 300 + b"\n", "is a quote left open?"),
    ],
)
def test_what_is_not_csv_is_refused(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, content: bytes, reason: str
) -> None:
    monkeypatch.setattr(csv_tables, "BLOCK_BYTES", 128)
    with pytest.raises(InputError) as caught:
        _read(_source(tmp_path, content))
    assert str(caught.value).startswith(f"{tmp_path / 'events.csv'}: ")
    assert reason in str(caught.value)


def test_standard_input_is_typed_by_all_its_values(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(sys, "stdin", io.TextIOWrapper(io.BytesIO(b"a\n1\nx\n")))
    rejects = Rejects()
    table = read_csv(Source("-", Format.CSV), 10, rejects)
    assert _objects(list(table.batches)) == [{"a": "1"}, {"a": "x"}]


def test_as_text_nothing_is_typed(tmp_path: Path) -> None:
    table = read_csv_text(_source(tmp_path, "id,condition\n1,a > 1\n,\n"), Rejects())
    assert _objects(list(table.batches)) == [{"id": "1", "condition": "a > 1"}, {"id": None, "condition": None}]
