from pathlib import Path
from typing import Any

import pytest

from tamis.cli.errors import InputError
from tamis.cli.tables import jsonlines
from tamis.cli.tables.jsonlines import columns_of, read_jsonlines
from tamis.cli.tables.rejects import Rejects
from tamis.cli.tables.source import Source


def _read(tmp_path: Path, content: bytes, batch_rows: int = 2) -> tuple[list[Any], list[list[int]], Rejects]:
    path = tmp_path / "events.jsonl"
    path.write_bytes(content)
    rejects = Rejects()
    batches = list(read_jsonlines(Source.of(str(path), None), batch_rows, rejects).batches)
    return [event for batch in batches for event in batch.events], [b.rows.tolist() for b in batches], rejects


def test_objects_with_nested_objects_and_arrays(tmp_path: Path) -> None:
    events, rows, _ = _read(tmp_path, b'{"a": {"b": [1, 2]}}\n{"c": null}\n{}')
    assert events == [{"a": {"b": [1, 2]}}, {"c": None}, {}]
    assert rows == [[1, 2], [3]]


def test_bad_lines_are_rejected_with_reason_and_text(tmp_path: Path) -> None:
    events, rows, rejects = _read(tmp_path, b'{"a": 1}\n{"a": \n\n[1]\n{"a": "\xff"}\n{"a": 2}\n')
    assert events == [{"a": 1}, {"a": 2}]
    assert rows == [[1, 6]]
    assert [(reject.row, reject.content) for reject in rejects.first] == [
        (2, '{"a":'.ljust(6)),
        (4, "[1]"),
        (5, '{"a": "\\xff"}'),
    ]
    assert rejects.first[0].reason.startswith("not JSON: ")
    assert rejects.first[1].reason == "not a JSON object"


def test_a_line_without_end_is_not_read_into_memory(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(jsonlines, "MAX_LINE_BYTES", 10)
    with pytest.raises(InputError, match="row 2: the line is longer than 10 bytes"):
        _read(tmp_path, b'{"a": 1}\n' + b"x" * 11)


def test_columns_have_every_attribute_and_null_where_it_is_absent() -> None:
    batch = columns_of([{"a": 1}, {"b": {"c": [1]}}, {"a": 2.5}])
    assert batch is not None
    assert batch.to_pylist() == [{"a": 1.0, "b": None}, {"a": None, "b": {"c": [1]}}, {"a": 2.5, "b": None}]


@pytest.mark.parametrize(
    "events",
    [
        [{"a": 1}, {"a": "x"}],
        [{"a": 1}, {"a": True}],
        [{"a": 2**63}],
        [{"a": 2**53 + 1}, {"a": 0.5}],
        [{"a": {"b": 1}}, {"a": 1}],
        [{}, {}],
    ],
)
def test_what_arrow_cannot_hold_exactly_has_no_columns(events: list[dict[str, Any]]) -> None:
    assert columns_of(events) is None
