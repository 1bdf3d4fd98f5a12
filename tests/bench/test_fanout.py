import json
import subprocess
import sys
from pathlib import Path

FOLDER = Path(__file__).parents[2] / "bench"


def measured(tmp_path: Path, program: str, *size: str) -> dict[str, float]:
    file = tmp_path / "figures.json"
    command = [sys.executable, str(FOLDER / program), *size, "--json", str(file)]
    done = subprocess.run(command, capture_output=True, text=True, check=False, timeout=120)
    assert done.returncode == 0, done.stderr
    return {figure["measure"]: figure["value"] for figure in json.loads(file.read_bytes())["figures"]}


def test_events_go_to_all_subscribers(tmp_path: Path) -> None:
    found = measured(tmp_path, "fanout.py", "--subscribers", "3", "--messages", "500", "--timed", "50")
    assert found["deliveries"] == 1_500
    assert found["latency, half"] > 0


def test_ten_subscriptions_match_whatever_their_number(tmp_path: Path) -> None:
    found = measured(tmp_path, "filters.py", "--subscriptions", "100", "--events", "200", "--others", "100")
    assert found["matches per event"] == 10
