import json
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

PROGRAM = Path(__file__).parents[2] / "bench" / "match.py"


def run(*arguments: str) -> "subprocess.CompletedProcess[str]":
    return subprocess.run([sys.executable, str(PROGRAM), *arguments], capture_output=True, text=True, check=False)


def measured(folder: Path, *sections: str) -> tuple[str, Any]:
    file = folder / "figures.json"
    done = run(*sections, "--scale", "tiny", "--json", str(file))
    assert done.returncode == 0, done.stderr
    return done.stdout, json.loads(file.read_bytes())


@pytest.mark.slow
def test_measures_matching_and_judges_it(tmp_path: Path) -> None:
    printed, run = measured(tmp_path, "single", "build", "updates", "peers", "growth")
    assert "What must be reached" in printed
    assert run["scale"] == "tiny"
    assert {figure["section"] for figure in run["figures"]} == {"single", "build", "updates", "peers", "growth"}
    assert all(figure["value"] >= 0 for figure in run["figures"])
    for figure in run["figures"]:
        assert (figure["bar"] is None) == (figure["met"] is None)
    barred = {(figure["subject"], figure["measure"]) for figure in run["figures"] if figure["bar"]}
    assert {("w-a", "median"), ("w-a", "steady removes"), ("w-a, 5 predicates", "from columns")} <= barred
    subjects = {figure["subject"] for figure in run["figures"] if figure["section"] == "peers"}
    assert {"Tamis", "compiled lambdas"} <= subjects
    assert "rule-engine" in subjects or any("rule-engine" in remark for remark in run["remarks"])


@pytest.mark.slow
def test_opens_an_index_in_several_processes(tmp_path: Path) -> None:
    _, run = measured(tmp_path, "open")
    figures = {figure["measure"]: figure for figure in run["figures"]}
    assert figures["on disk"]["value"] > 0
    assert figures["open"]["met"] is not None
    assert {"index, one process", "all memory, 2 processes"} <= figures.keys()
    assert "index, all to one" in figures or any("too small" in remark for remark in run["remarks"])


def test_names_the_sections_that_there_are() -> None:
    done = run("bach")
    assert done.returncode == 2
    assert "there is no section 'bach'" in done.stderr
    assert "batch" in done.stderr
