"""What can be read of a Parquet file comes out; what cannot is put aside with place and reason."""

import datetime as dt
import decimal
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from tamis.pipeline.connectors.files import rows_of
from tamis.pipeline.connectors.rejects import Rejects, Writer

COLUMNS = pa.schema({"n": pa.int64(), "x": pa.float64(), "name": pa.string(), "at": pa.timestamp("us", "UTC")})


def read(
    folder: Path, table: pa.Table | bytes, columns: pa.Schema = COLUMNS, name: str = "file.parquet", **options: Any
) -> tuple[list[dict[str, Any]], list[tuple[str | None, str]]]:
    """Return the rows that come out of a file, and what is put aside."""
    file = folder / name
    file.parent.mkdir(parents=True, exist_ok=True)
    if isinstance(table, bytes):
        file.write_bytes(table)
    else:
        pq.write_table(table, file, **options)
    rejects = Rejects(folder / "rejects")
    rejects.forget(0)
    groups = list(rows_of(f"file:{file}", str(file), columns, Writer(rejects)))
    assert all(group.schema == columns for group in groups)
    told = rejects.table()
    assert set(told["place"].to_pylist()) <= {f"file:{file}"}
    rows = [row for group in groups for row in group.to_pylist()]
    return rows, list(zip(told["record"].to_pylist(), told["reason"].to_pylist(), strict=True))


def test_other_types_of_the_same_kind_are_taken_and_missing_columns_are_null(tmp_path: Path) -> None:
    at = dt.datetime(2026, 1, 1, tzinfo=dt.UTC)
    table = pa.table(
        {
            "extra": [[1]],
            "N": pa.array([7], pa.int32()),
            "x": [decimal.Decimal("1.5")],
            "name": pa.array(["a"]).dictionary_encode(),
            "at": pa.array([at], pa.timestamp("ns", "UTC")),
        }
    )
    right = {"n": 7, "x": 1.5, "name": "a", "at": at}
    assert read(tmp_path, table) == ([right], [])
    assert read(tmp_path, table.drop_columns(["name", "at"])) == ([right | {"name": None, "at": None}], [])
    assert read(tmp_path, pa.table({"n": [1], "x": pa.nulls(1)}))[0][0]["x"] is None
    nested = pa.schema({"n": pa.int64(), "tags": pa.list_(pa.string()), "deep": pa.struct({"a": pa.int64()})})
    assert read(tmp_path, pa.table({"n": [1]}), nested) == ([{"n": 1, "tags": None, "deep": None}], [])
    # Spark has written times in this way for long.
    old = read(tmp_path, table, use_deprecated_int96_timestamps=True)
    assert old == ([right], [])


@pytest.mark.parametrize(
    ("table", "reason"),
    [
        ({"n": ["7"]}, "column 'n' is string in this file, not int64"),
        ({"n": [1.5]}, "column 'n' is double in this file, not int64: Float value 1.5"),
        ({"n": [True]}, "column 'n' is bool in this file, not int64"),
        ({"n": [1], "name": [b"\xff"]}, "column 'name' is binary in this file, not string"),
        ({"n": [1], "at": ["2026-01-01"]}, "column 'at' is string in this file, not timestamp[us, tz=UTC]"),
    ],
)
def test_a_changed_type_is_told(tmp_path: Path, table: dict[str, Any], reason: str) -> None:
    rows, [(record, told)] = read(tmp_path, pa.table(table))
    assert rows == []
    assert record == "group 1 of 1: 1 rows"
    assert told.startswith(reason)


def test_a_file_that_is_none_or_has_other_columns_is_put_aside(tmp_path: Path) -> None:
    assert read(tmp_path, b"this is no Parquet") == (
        [],
        [
            (
                None,
                "Parquet magic bytes not found in footer. Either the file is corrupted or this is not a parquet file.",
            )
        ],
    )
    assert read(tmp_path, b"")[1] == [(None, "Parquet file size is 0 bytes")]
    other = read(tmp_path, pa.table({"y": [1], "z": [2]}))
    assert other == ([], [(None, "it has none of the columns n, x, name, at; it has y, z")])


def test_groups_of_rows_go_out_whole_or_not_at_all(tmp_path: Path) -> None:
    table = pa.table({"n": list(range(30)), "x": [float(n) for n in range(30)]})
    options: dict[str, Any] = {"row_group_size": 10, "compression": "zstd", "write_page_checksum": True}
    pq.write_table(table, tmp_path / "whole.parquet", **options)
    column = pq.ParquetFile(tmp_path / "whole.parquet").metadata.row_group(1).column(1)
    spoiled = bytearray((tmp_path / "whole.parquet").read_bytes())
    at = column.data_page_offset + column.total_compressed_size // 2
    spoiled[at] ^= 0xFF
    rows, [(record, reason)] = read(tmp_path, bytes(spoiled))
    assert [row["n"] for row in rows] == [*range(10), *range(20, 30)]
    assert record == "group 2 of 3: 10 rows"
    assert reason


def test_folders_state_values(tmp_path: Path) -> None:
    columns = pa.schema({"n": pa.int64(), "day": pa.date32(), "shop": pa.string(), "size": pa.int64()})
    table = pa.table({"n": [1]})
    rows, bad = read(tmp_path, table, columns, "day=2026-01-02/shop=a%2Fb/size=__HIVE_DEFAULT_PARTITION__/f.parquet")
    assert (rows, bad) == ([{"n": 1, "day": dt.date(2026, 1, 2), "shop": "a/b", "size": None}], [])
    _, [(_, reason)] = read(tmp_path, table, columns, "day=never/f.parquet")
    assert "never" in reason
