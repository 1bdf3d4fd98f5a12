import json
import subprocess
import sys
import threading
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from support.brokers import PATIENCE

COMMAND = Path(sys.executable).with_name("tamis")


@pytest.fixture
def url(tmp_path: Path) -> Iterator[str]:
    """The address of a broker in a process of its own."""
    file = tmp_path / "url"
    command: list[str | Path] = [COMMAND, "serve", "--port", "0", "--name", "b", "--max-age", "60", "--port-file", file]
    process = subprocess.Popen(command, stderr=subprocess.PIPE, text=True)
    try:
        assert process.stderr is not None
        line = process.stderr.readline()
        assert line.startswith("broker b listens on tamis://127.0.0.1:")
        yield file.read_text()
        process.terminate()
        assert process.wait(PATIENCE) == 0
        assert process.stderr.read().splitlines()[-1] == "broker b has stopped"
    finally:
        process.kill()
        process.wait()
        if process.stderr is not None:
            process.stderr.close()


def test_what_is_published_is_printed_by_who_subscribed(url: str, invoke: Any) -> None:
    command: list[str | Path] = [COMMAND, "sub", "price > 10", "--url", url, "--json", "--count", "3"]
    process = subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
    try:
        assert process.stderr is not None
        assert process.stderr.readline() == "subscribed to price > 10\n"
        assert invoke("pub", "price=12", "symbol=ACME", "--url", url).stderr == "1 published\n"
        lines = '{"price": 1}\n\n{"price": 20, "symbol": "B"}\n'
        assert invoke("pub", "--url", url, stdin=lines).stderr == "2 published\n"
        assert invoke("pub", '{"price": 30}', "--url", url).exit_code == 0
        out, err = process.communicate(timeout=PATIENCE)
        assert (process.returncode, err) == (0, "")
        found = [json.loads(line) for line in out.splitlines()]
        assert [line["event"] for line in found] == [
            {"price": 12, "symbol": "ACME"},
            {"price": 20, "symbol": "B"},
            {"price": 30},
        ]
        assert all(line["timely"] and 0 <= line["age_bound"] < 60 for line in found)
    finally:
        process.kill()
        process.communicate()
    result = invoke("sub", "price >> 10", "--url", url)
    assert (result.exit_code, result.stderr) == (2, "tamis: expected a value, found '>' (at character 8)\n")
    result = invoke("pub", "--url", url, stdin='{"x": 1}\n[2]\n')
    assert result.exit_code == 2
    assert "line 2 is no JSON object" in result.stderr
    assert threading.active_count() < 20


@pytest.mark.parametrize(
    ("arguments", "why"),
    [
        (["--host", "0.0.0.0"], "--insecure"),  # noqa: S104 - it is refused
        (["--strategy", "none"], "there is no strategy 'none'"),
        (["--option", "max_degree=3"], "max_degree"),
        (["--option", "x"], "NAME=VALUE"),
        (["--join", "a:b"], "no address"),
    ],
)
def test_serve_refuses_what_is_wrong(invoke: Any, arguments: list[str], why: str) -> None:
    result = invoke("serve", *arguments)
    assert result.exit_code == 2
    assert why in result.stderr


def test_where_there_is_no_broker_the_command_says_so(invoke: Any) -> None:
    result = invoke("pub", "x=1", "--url", "tamis://127.0.0.1:1")
    assert result.exit_code == 1
    assert "no broker at 127.0.0.1:1" in result.stderr
    assert invoke("sub", "--slow", "never").exit_code == 2
