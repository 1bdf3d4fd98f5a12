from pathlib import Path

import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from tamis.cli.errors import InputError
from tamis.cli.tables.parquet import read_parquet
from tamis.cli.tables.source import Format, Source


def test_batches_follow_each_other(tmp_path: Path) -> None:
    path = tmp_path / "events.parquet"
    pq.write_table(pa.table({"a": range(10)}), path)
    table = read_parquet(Source.of(str(path), None), 4)
    assert (list(table.columns or ()), table.total) == (["a"], 10)
    batches = list(table.batches)
    assert [batch.rows.tolist() for batch in batches] == [[1, 2, 3, 4], [5, 6, 7, 8], [9, 10]]
    assert [value for batch in batches for value in batch.events.to_pydict()["a"]] == list(range(10))  # type: ignore[union-attr]


@pytest.mark.parametrize("content", [b"", b"PAR1", b"id,condition\n", b"\x00" * 1000])
def test_another_file_is_refused_with_its_name(tmp_path: Path, content: bytes) -> None:
    path = tmp_path / "events.parquet"
    path.write_bytes(content)
    with pytest.raises(InputError, match="not readable as Parquet") as caught:
        read_parquet(Source.of(str(path), None), 4)
    assert str(path) in str(caught.value)
    assert "\n" not in str(caught.value)


def test_damage_in_the_middle_is_refused_when_it_is_reached(tmp_path: Path) -> None:
    path = tmp_path / "events.parquet"
    pq.write_table(pa.table({"a": [str(n) * 50 for n in range(2000)]}), path, row_group_size=500)
    content = bytearray(path.read_bytes())
    middle = len(content) // 2
    content[middle : middle + 2000] = b"\xff" * 2000
    path.write_bytes(content)
    with pytest.raises(InputError, match="not readable as Parquet"):
        list(read_parquet(Source.of(str(path), None), 100).batches)


def test_two_columns_of_one_name_are_refused(tmp_path: Path) -> None:
    path = tmp_path / "events.parquet"
    pq.write_table(pa.Table.from_arrays([pa.array([1]), pa.array([2])], names=["a", "a"]), path)
    with pytest.raises(InputError, match="two columns are called 'a'"):
        read_parquet(Source.of(str(path), None), 4)


def test_standard_input_is_refused() -> None:
    with pytest.raises(InputError, match="standard input: Parquet"):
        read_parquet(Source("-", Format.PARQUET), 4)
