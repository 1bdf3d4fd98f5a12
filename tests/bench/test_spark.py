import json
import subprocess
import sys
from pathlib import Path

import pytest

PROGRAM = Path(__file__).parents[2] / "bench" / "spark.py"


@pytest.mark.slow
def test_measures_match_against_joins(tmp_path: Path) -> None:
    file = tmp_path / "figures.json"
    sizes = ["--events", "4000", "--subscriptions", "500", "--many", "500", "--slice", "400", "--passes", "1"]
    command = [sys.executable, str(PROGRAM), "match", "memory", *sizes, "--json", str(file)]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    figures = {(each["subject"], each["measure"]): each for each in json.loads(file.read_bytes())["figures"]}
    assert figures["0.1 %", "to the best bucket join"]["bar"] == "≥ 15"
    assert figures["0.01 %", "to the prototype, wall"]["value"] > 0
    assert 0.3 < figures["0.1 %", "matches"]["value"] < 0.7
    assert figures["0.01 %", "workers"]["value"] >= 1
