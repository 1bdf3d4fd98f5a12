import json
import subprocess
import sys
from pathlib import Path

PROGRAM = Path(__file__).parents[2] / "bench" / "watch.py"


def test_measures_watches_against_their_peers(tmp_path: Path) -> None:
    file = tmp_path / "figures.json"
    sizes = ["--different", "400", "--same", "200", "--all", "200", "--watches", "2000", "--events", "120"]
    done = subprocess.run(
        [sys.executable, str(PROGRAM), *sizes, "--json", str(file)], capture_output=True, text=True, check=False
    )
    assert done.returncode == 0, done.stderr
    figures = json.loads(file.read_bytes())["figures"]
    assert {figure["section"] for figure in figures} == {"different radii", "same radius", "all radii", "set"}
    barred = {figure["subject"] for figure in figures if figure["bar"]}
    assert {"Scan(r), ranges to runs by centre, ranges", "B-tree(lr), lists to B^W-tree(lid), ranges"} <= barred
    assert all(figure["met"] is not None for figure in figures if figure["bar"])
    assert all(figure["value"] > 0 for figure in figures)
