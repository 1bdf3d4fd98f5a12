import json
from pathlib import Path

import pytest

from tamis.cli.errors import InputError
from tamis.cli.tables.rejects import SHOWN, Rejects
from tamis.cli.tables.source import Format, Source

SOURCE = Source("events.csv", Format.CSV)


def test_all_are_kept_and_the_first_are_shown(tmp_path: Path) -> None:
    rejects = Rejects()
    path = tmp_path / "rejects.jsonl"
    with rejects.kept_in(path):
        for row in range(1, 9):
            rejects.add(SOURCE, row, "why", {"id": row})
        assert not path.exists()
    kept = [json.loads(line) for line in path.read_text().splitlines()]
    assert [reject["row"] for reject in kept] == list(range(1, 9))
    assert kept[0] == {"file": "events.csv", "row": 1, "reason": "why", "content": {"id": 1}}
    assert rejects.count == 8
    assert rejects.lines()[0] == "rejected: events.csv: row 1: why"
    assert rejects.lines()[SHOWN:] == ["rejected: 3 more"]


def test_strict_refuses_at_once() -> None:
    with pytest.raises(InputError, match=r"events\.csv: row 4: why"):
        Rejects(strict=True).add(SOURCE, 4, "why", None)


def test_beside_the_output_there_is_a_file_only_when_there_are_rejects(tmp_path: Path) -> None:
    out = tmp_path / "out.csv"
    stale = tmp_path / "out.csv.rejects.jsonl"
    stale.write_text("of the last run")
    with Rejects().kept_beside(out):
        pass
    assert not stale.exists()
    rejects = Rejects()
    with rejects.kept_beside(out):
        rejects.add(SOURCE, 1, "why", None)
    assert stale.exists()


def test_a_failure_keeps_nothing(tmp_path: Path) -> None:
    rejects = Rejects(strict=True)
    with pytest.raises(InputError), rejects.kept_in(tmp_path / "rejects.jsonl"):
        rejects.add(SOURCE, 1, "why", None)
    assert list(tmp_path.iterdir()) == []
