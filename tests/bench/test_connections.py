import json
import subprocess
import sys
from pathlib import Path

PROGRAM = Path(__file__).parents[2] / "bench" / "connections.py"


def test_connections_stand_and_one_that_stalls_delays_nobody(tmp_path: Path) -> None:
    file = tmp_path / "figures.json"
    command = [sys.executable, str(PROGRAM), "--connections", "25", "--seconds", "2", "--json", str(file)]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    figures = {figure["measure"]: figure for figure in json.loads(file.read_bytes())["figures"]}
    assert figures["missing deliveries"]["value"] == figures["connections lost"]["value"] == 0
    for half in ("all read", "one stalls"):
        assert figures[f"deliveries, {half}"]["value"] > 0
        assert figures[f"latency, half, {half}"]["value"] > 0
    assert "memory █" in done.stdout


def test_too_many_connections_for_the_system_are_refused_with_advice() -> None:
    code = f"import sys; sys.path.insert(0, {str(PROGRAM.parent)!r}); import resource, connections\n"
    code += "resource.setrlimit(resource.RLIMIT_NOFILE, (256, 512)); connections.allow_files(400)\n"
    code += "assert resource.getrlimit(resource.RLIMIT_NOFILE) == (400, 512)\nconnections.allow_files(600)\n"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=False)
    assert done.returncode == 1, done.stderr
    assert "allows 512 (ulimit -Hn): raise that, or ask for at most --connections 412" in done.stderr
