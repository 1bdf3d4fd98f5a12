from pathlib import Path

import pytest

from tamis.cli.errors import InputError
from tamis.cli.tables.source import Format, Source, create, format_by_suffix


@pytest.mark.parametrize(
    ("path", "expected"),
    [("a.csv", Format.CSV), ("a.JSONL", Format.JSONL), ("a.ndjson", Format.JSONL), ("a/b.parquet", Format.PARQUET)],
)
def test_the_suffix_names_the_format(path: str, expected: Format) -> None:
    assert Source.of(path, None).format is expected


def test_a_given_format_wins_and_standard_input_is_json_lines() -> None:
    assert Source.of("a.csv", Format.JSONL).format is Format.JSONL
    assert Source.of("-", None).format is Format.JSONL
    assert Source.of("-", Format.CSV).format is Format.CSV


def test_an_unknown_suffix_is_refused() -> None:
    with pytest.raises(InputError, match=r"a\.txt: the suffix is none of \.csv"):
        format_by_suffix("a.txt")


def test_errors_name_file_row_and_reason(tmp_path: Path) -> None:
    missing = Source.of(str(tmp_path / "none.csv"), None)
    with pytest.raises(InputError, match=r"none\.csv: No such file or directory$"):
        missing.open()
    assert str(missing.bad("why", 3)) == f"{missing.path}: row 3: why"


def test_a_file_that_cannot_be_made_is_named(tmp_path: Path) -> None:
    path = tmp_path / "none" / "a.csv"
    with pytest.raises(InputError, match=r"a\.csv: cannot be written: No such file or directory$"):
        create(path.with_name("x.tmp"), path)
