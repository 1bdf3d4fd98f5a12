import json
import subprocess
import sys
from pathlib import Path

PROGRAM = Path(__file__).parents[2] / "bench" / "fuzz.py"


def test_attacks_a_broker_and_judges_how_it_stood(tmp_path: Path) -> None:
    file = tmp_path / "figures.json"
    command = [sys.executable, str(PROGRAM), "--frames", "600", "--http", "0.2", "--json", str(file)]
    done = subprocess.run(command, capture_output=True, text=True, check=False, timeout=120)
    assert done.returncode == 0, done.stderr
    assert "seed" in done.stdout
    figures = json.loads(file.read_bytes())["figures"]
    found = {figure["measure"]: figure["value"] for figure in figures}
    assert found["frames"] + found["HTTP bodies"] >= 600
    assert found["HTTP bodies"] >= 64
    assert found["connections that ended with bad-frame"] > 50
    # So few frames say nothing about memory.
    assert {figure["measure"] for figure in figures if figure["met"] is False} <= {"memory more at the end"}
