from pathlib import Path

import pytest

from tamis.cli.errors import InputError
from tamis.cli.settings import Setting, explained, load


def test_defaults() -> None:
    settings = load()
    assert (settings.engine, settings.progress) == ("auto", "auto")
    assert settings.results_dir == Path("docs/results")
    assert {setting.origin for setting in explained()} == {"default"}


def test_flags_win_over_the_environment_and_that_over_the_file(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "tamis.toml").write_text('batch_rows = 1\nprogress = "never"\nresults_dir = "r"\n')
    monkeypatch.setenv("TAMIS_BATCH_ROWS", "2")
    monkeypatch.setenv("TAMIS_PROGRESS", "always")
    assert explained(batch_rows=3, engine=None) == [
        Setting("engine", "auto", "default"),
        Setting("batch_rows", 3, "flag"),
        Setting("progress", "always", "environment TAMIS_PROGRESS"),
        Setting("results_dir", "r", "tamis.toml"),
    ]
    assert load(batch_rows=3).batch_rows == 3
    assert load().batch_rows == 2


@pytest.mark.parametrize(
    ("toml", "reason"),
    [
        ('enginee = "scan"', r"unknown setting in tamis\.toml: 'enginee'; did you mean engine\?"),
        ("batch_rows = 0", r"setting batch_rows from tamis\.toml: "),
        ('engine = "sacn"', r"unknown engine 'sacn'; did you mean scan\?"),
        ("batch_rows", r"tamis\.toml: "),
    ],
)
def test_a_bad_file_is_named_with_the_reason(tmp_path: Path, toml: str, reason: str) -> None:
    (tmp_path / "tamis.toml").write_text(toml)
    with pytest.raises(InputError, match=reason):
        load()


def test_a_bad_variable_is_named(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("TAMIS_PROGRESS", "sometimes")
    with pytest.raises(InputError, match="setting progress from environment TAMIS_PROGRESS: "):
        load()
