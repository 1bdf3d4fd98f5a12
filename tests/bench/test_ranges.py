import json
import subprocess
import sys
from pathlib import Path

PROGRAM = Path(__file__).parents[2] / "bench" / "ranges.py"


def test_measures_a_table_against_the_loop(tmp_path: Path) -> None:
    file = tmp_path / "figures.json"
    command = [sys.executable, str(PROGRAM), "--boxes", "2000", "--asked", "50", "--json", str(file)]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    figures = {(each["subject"], each["measure"]): each for each in json.loads(file.read_bytes())["figures"]}
    assert figures["zipf", "subsumption"]["value"] < figures["zipf", "covering"]["value"] < 100
    assert all(each["value"] > 0 for each in figures.values())
    barred = {measure for (_, measure), each in figures.items() if each["bar"]}
    assert barred == {"covering test, peer to ours", "insertion, peer to ours", "subsumption"}
