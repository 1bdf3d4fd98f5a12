import json
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from tamis.cli.errors import InputError
from tamis.cli.tables.rejects import Rejects
from tamis.cli.tables.source import Source
from tamis.cli.tables.subscriptions import Id, read_subscriptions
from tamis.language.limits import MAX_TEXT_BYTES


def _read(path: Path) -> tuple[dict[Id, str], Rejects]:
    rejects = Rejects()
    found = read_subscriptions(Source.of(str(path), None), rejects, lambda _done, _total: None)
    return {each.id: str(each.condition) for each in found}, rejects


def _jsonl(tmp_path: Path, *objects: Any) -> Path:
    path = tmp_path / "rules.jsonl"
    path.write_text("".join(json.dumps(each) + "\n" for each in objects))
    return path


def _csv(tmp_path: Path, text: str) -> Path:
    path = tmp_path / "rules.csv"
    path.write_text(text)
    return path


def _parquet(tmp_path: Path, **columns: Any) -> Path:
    path = tmp_path / "rules.parquet"
    pq.write_table(pa.table(columns), path)
    return path


@pytest.mark.parametrize(
    ("ids", "expected"),
    [
        (["1", "-20"], [1, -20]),
        (["1", "b"], ["1", "b"]),
        (["7", "007"], ["7", "007"]),
        (["9223372036854775807"], [2**63 - 1]),
        (["9223372036854775808"], ["9223372036854775808"]),
        (["1.5"], ["1.5"]),
        (["true"], ["true"]),
    ],
)
def test_ids_in_csv_are_integers_if_all_look_so(tmp_path: Path, ids: list[str], expected: list[Id]) -> None:
    conditions, _ = _read(_csv(tmp_path, "id,condition\n" + "".join(f"{id_},a > 1\n" for id_ in ids)))
    assert list(conditions) == expected


def test_other_columns_do_not_matter(tmp_path: Path) -> None:
    conditions, _ = _read(_parquet(tmp_path, id=[1, 2], owner=["x", "y"], condition=["a > 1", "b = 'x'"]))
    assert conditions == {1: "a > 1", 2: "b = 'x'"}


def test_rows_that_cannot_be_used_are_rejected_with_their_reason(tmp_path: Path) -> None:
    path = _jsonl(
        tmp_path,
        {"id": "a", "condition": "x > 1"},
        {"id": "b", "condition": "x >"},
        {"condition": "x > 1"},
        {"id": None, "condition": "x > 1"},
        {"id": "c"},
        {"id": "d", "condition": 5},
    )
    conditions, rejects = _read(path)
    assert list(conditions) == ["a"]
    assert [reject.row for reject in rejects.first] == [2, 3, 4, 5, 6]
    assert "(at character " in rejects.first[0].reason
    assert [reject.reason for reject in rejects.first[1:]] == [
        "the id is missing",
        "the id is missing",
        "the condition is missing",
        "the condition 5 is not a text",
    ]
    assert rejects.first[0].content == {"id": "b", "condition": "x >"}


GOOD = {"id": "a", "condition": "x > 1"}


@pytest.mark.parametrize(
    ("second", "reason"),
    [
        ({"id": "a", "condition": "y > 1"}, "row 2: the id 'a' is already used in row 1"),
        ({"id": 1, "condition": "y > 1"}, "row 2: the id 1 is of another type"),
        ({"id": 1.5, "condition": "y > 1"}, "row 2: the id 1.5 is neither an integer nor a string"),
        ({"id": True, "condition": "y > 1"}, "row 2: the id True is neither an integer nor a string"),
        ({"id": [1], "condition": "y > 1"}, r"row 2: the id \[1\] is neither an integer nor a string"),
        ({"id": 2**63, "condition": "y > 1"}, "row 2: the id 9223372036854775808 does not fit in 64 bits"),
        ({"id": "b", "condition": "x = '" + "y" * MAX_TEXT_BYTES + "'"}, "row 2: the condition is longer than"),
    ],
)
def test_a_file_that_is_not_what_it_should_be_is_refused(tmp_path: Path, second: dict[str, Any], reason: str) -> None:
    with pytest.raises(InputError, match=rf"rules\.jsonl: {reason}"):
        _read(_jsonl(tmp_path, GOOD, second))


def test_a_duplicate_of_a_rejected_subscription_is_still_a_duplicate(tmp_path: Path) -> None:
    with pytest.raises(InputError, match="row 2: the id 'a' is already used in row 1"):
        _read(_jsonl(tmp_path, {"id": "a", "condition": "x >"}, GOOD))


@pytest.mark.parametrize("missing", ["id", "condition"])
def test_an_absent_column_is_named(tmp_path: Path, missing: str) -> None:
    columns = {"id": [1], "condition": ["a > 1"], "more": [2]}
    del columns[missing]
    with pytest.raises(InputError, match=rf"rules\.parquet: the column '{missing}' is missing; there are "):
        _read(_parquet(tmp_path, **columns))


@pytest.mark.parametrize("ids", [[1.5], [True], [[1]]])
def test_columns_of_other_types_are_refused(tmp_path: Path, ids: list[Any]) -> None:
    with pytest.raises(InputError, match="neither an integer nor a string"):
        _read(_parquet(tmp_path, id=ids, condition=["a > 1"]))


def test_no_usable_row_at_all_is_refused(tmp_path: Path) -> None:
    with pytest.raises(InputError, match="row 1: no usable subscription; for example the id is missing"):
        _read(_jsonl(tmp_path, {"a": 1}))


def test_an_empty_table_is_no_subscription_and_no_error(tmp_path: Path) -> None:
    assert _read(_csv(tmp_path, "id,condition\n"))[0] == {}
