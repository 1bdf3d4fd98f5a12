import json
from pathlib import Path
from typing import Any

import pytest

from tamis.cli import lab
from tamis.lab.experiment import Context, Experiment, Figure, Outcome, Row, Series


def _run(context: Context) -> Outcome:
    context.progress(1, 1)
    rows = [Row("hops", 2.2, 2.0), Row("seed", float(context.seed))]
    return Outcome(rows, Figure("x", "y", [Series("ours", [1, 2], [1, 2])]), ["a [note]"])


def _fail(context: Context) -> Outcome:
    raise ZeroDivisionError(context.seed)


@pytest.fixture
def _toys(monkeypatch: pytest.MonkeyPatch) -> None:
    toys = {
        "999-toy": Experiment("999-toy", "Toy", "specs/999", "Two brokers.", _run),
        "999-bad": Experiment("999-bad", "Bad", "specs/999", "None.", _fail),
    }
    monkeypatch.setattr(lab, "all_experiments", lambda: toys)


def test_list(invoke: Any) -> None:
    assert "000-density" in invoke("lab", "list").stdout
    listed = json.loads(invoke("lab", "list", "--json").stdout)
    assert {"000-density": "counted", "002-size": "timed", "002-workloads": None}.items() <= {
        each["id"]: each["grid"] for each in listed
    }.items()


@pytest.mark.usefixtures("_toys")
class TestRun:
    def test_prints_paper_ours_ratio_and_verdict_and_writes_three_files(self, invoke: Any, tmp_path: Path) -> None:
        result = invoke("lab", "run", "999-toy", "--seed", "5")
        assert result.exit_code == 0
        for text in ("paper", "ours", "ratio", "1.1", "higher by 10 %", "no figure in the paper", "a [note]"):
            assert text in result.stdout
        written = sorted(path.name for path in (tmp_path / "docs" / "results").iterdir())
        assert written == ["999-toy.json", "999-toy.md", "999-toy.svg"]
        assert "docs/results/999-toy.md" in result.stderr

    def test_json_is_what_was_written(self, invoke: Any, tmp_path: Path) -> None:
        result = invoke("lab", "run", "999-toy", "--scale", "full", "--out", "elsewhere", "--json")
        report = json.loads(result.stdout)
        assert report == json.loads((tmp_path / "elsewhere" / "999-toy.json").read_text())
        assert (report["scale"], report["seed"]) == ("full", 7)

    def test_the_setting_says_where_results_go(
        self, invoke: Any, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        monkeypatch.setenv("TAMIS_RESULTS_DIR", "set")
        invoke("lab", "run", "999-toy")
        assert (tmp_path / "set" / "999-toy.md").exists()

    def test_a_failing_run_writes_nothing(self, invoke: Any, tmp_path: Path) -> None:
        with pytest.raises(ZeroDivisionError):
            invoke("lab", "run", "999-bad")
        assert list(tmp_path.iterdir()) == []

    def test_an_unknown_id_gets_close_ones(self, invoke: Any) -> None:
        result = invoke("lab", "run", "999-toi")
        assert result.exit_code == 2
        assert result.stderr == "tamis: unknown experiment '999-toi'; did you mean 999-toy or 999-bad?\n"

    def test_without_a_grid_there_is_nothing_for_spark(self, invoke: Any) -> None:
        result = invoke("lab", "run", "999-toy", "--spark")
        assert result.exit_code == 2
        assert result.stderr == (
            "tamis: 999-toy has no grid, so it cannot run on Spark; `tamis lab list` tells which have\n"
        )

    def test_a_place_that_cannot_be_written_is_named(self, invoke: Any, tmp_path: Path) -> None:
        (tmp_path / "file").write_text("")
        result = invoke("lab", "run", "999-toy", "--out", "file")
        assert result.exit_code == 2
        assert result.stderr == "tamis: file: cannot be written: File exists\n"


def test_a_workload_is_known_by_name_and_fits_into_a_table(invoke: Any, tmp_path: Path) -> None:
    result = invoke("lab", "workload", "markt", "--out", "new")
    assert (result.exit_code, result.stderr.startswith("tamis: unknown workload 'markt'; did you mean market")) == (
        2,
        True,
    )
    result = invoke("lab", "workload", "xsiena-e7", "--out", "new")
    assert result.exit_code == 2
    assert result.stderr == (
        "tamis: workload 'xsiena-e7': its events have 20,000 attributes; a table has at most 5,000 columns\n"
    )
    assert list(tmp_path.iterdir()) == []
