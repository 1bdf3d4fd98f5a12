import json
from pathlib import Path
from typing import Any


def test_shows_values_and_where_they_came_from(invoke: Any, tmp_path: Path) -> None:
    (tmp_path / "tamis.toml").write_text("batch_rows = 77\n")
    shown = json.loads(invoke("config", "show", "--json", "--no-progress").stdout)
    assert shown["batch_rows"] == {"value": 77, "origin": "tamis.toml"}
    assert shown["progress"] == {"value": "never", "origin": "flag"}
    assert shown["engine"] == {"value": "auto", "origin": "default"}


def test_shows_a_table(invoke: Any) -> None:
    result = invoke("config", "show")
    assert result.exit_code == 0
    assert "batch_rows" in result.stdout
    assert "docs/results" in result.stdout


def test_a_bad_file_is_one_line_and_exit_code_2(invoke: Any, tmp_path: Path) -> None:
    (tmp_path / "tamis.toml").write_text("nonsense = 1\n")
    result = invoke("config", "show")
    assert result.exit_code == 2
    assert result.stderr.startswith("tamis: unknown setting in tamis.toml: 'nonsense'")
    assert len(result.stderr.splitlines()) == 1
