import json
import subprocess
import sys
from pathlib import Path

import pytest

PROGRAM = Path(__file__).parents[2] / "bench" / "sizing.py"


@pytest.mark.elsewhere
def test_measures_rates_and_bytes_by_the_number_of_subscriptions(tmp_path: Path) -> None:
    file = tmp_path / "figures.json"
    command = [sys.executable, str(PROGRAM), "--sizes", "100", "400", "--events", "2000", "--json", str(file)]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    figures = json.loads(file.read_bytes())["figures"]
    met = [each["value"] for each in figures if each["measure"] == "met"]
    assert len(met) == 2
    assert all(5 < value < 15 for value in met)
    shards = [each["value"] for each in figures if each["measure"] == "shards"]
    assert shards == [1, 4, 4]
