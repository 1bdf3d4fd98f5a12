import json
import subprocess
import sys
import threading
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import httpx
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
        assert "broker.listening" in line
        assert "url=tamis://127.0.0.1:" in line
        yield file.read_text()
        process.terminate()
        assert process.wait(PATIENCE) == 0
        assert "broker.stopped" in process.stderr.read().splitlines()[-1]
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
        (["--tokens", "none.toml"], "none.toml: No such file"),
        (["--tls-cert", "cert.pem"], "--tls-key"),
        (["--tls-cert", "cert.pem", "--tls-key", "key.pem"], "cert.pem: No such file"),
        (["--join", "tamis+tls://localhost", "--ca", "ca.pem"], "ca.pem: No such file"),
        (["--max-rate", "0"], "rate"),
        (["--max-condition", "100000"], "65,536"),
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


def test_http_is_served_by_the_same_process_and_ends_with_it() -> None:
    command: list[str | Path] = [COMMAND, "serve", "--port", "0", "--http", "0", "--name", "b", "--log-json"]
    process = subprocess.Popen(command, stderr=subprocess.PIPE, text=True)
    try:
        assert process.stderr is not None
        first = json.loads(process.stderr.readline())
        assert (first["event"], first["broker"]) == ("broker.listening", "b")
        with httpx.Client(base_url=first["http"], timeout=PATIENCE) as http:
            assert http.get("/ready").json()["ok"] is True
            with http.stream("GET", "/subscribe", params={"condition": "x > 1"}) as stream:
                lines = stream.iter_lines()
                assert next(lines) == ": subscribed"
                http.post("/events", json=[{"x": 1}, {"x": 2}])
                data = next(line for line in lines if line.startswith("data: "))
                assert json.loads(data.removeprefix("data: "))["event"] == {"x": 2}
                process.terminate()
                assert "event: goodbye" in lines
        assert process.wait(PATIENCE) == 0
        (last,) = process.stderr.read().splitlines()
        assert json.loads(last)["event"] == "broker.stopped"
    finally:
        process.kill()
        process.wait()
        if process.stderr is not None:
            process.stderr.close()
