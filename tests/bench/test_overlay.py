import json
import subprocess
import sys
from pathlib import Path

PROGRAM = Path(__file__).parents[2] / "bench" / "overlay.py"


def test_runs_overlays_and_judges_them(tmp_path: Path) -> None:
    file = tmp_path / "figures.json"
    size = ["--brokers", "12", "--events", "30", "--subscriptions", "2"]
    command = [sys.executable, str(PROGRAM), *size, "--strategy", "merc", "--strategy", "simple", "--json", str(file)]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    figures = json.loads(file.read_bytes())["figures"]
    barred = [(figure["section"], figure["measure"], figure["met"]) for figure in figures if figure["bar"]]
    assert barred == [("merc", "all", True), ("simple", "all", True)]
    assert {figure["value"] for figure in figures if figure["measure"] == "events"} == {30}
    assert "packets per second" in done.stdout
