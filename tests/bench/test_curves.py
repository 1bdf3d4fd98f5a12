import json
import subprocess
import sys
from pathlib import Path

PROGRAM = Path(__file__).parents[2] / "bench" / "curves.py"


def test_measures_conversion_and_judges_it(tmp_path: Path) -> None:
    file = tmp_path / "figures.json"
    command = [sys.executable, str(PROGRAM), "--boxes", "300", "--peers", "50", "--json", str(file)]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    figures = json.loads(file.read_bytes())["figures"]
    assert {figure["section"] for figure in figures} == {"bulk", "sizes", "keys"}
    barred = [figure for figure in figures if figure["bar"]]
    assert [(figure["subject"], figure["measure"]) for figure in barred] == [
        ("hilbert", "exact runs"),
        ("z", "exact runs"),
    ]
    assert all(figure["met"] is not None for figure in barred)
    assert "exact runs" in done.stdout
