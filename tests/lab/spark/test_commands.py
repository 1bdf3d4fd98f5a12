"""`tamis lab` on Spark: grids, workloads and brute force; here, where there is one Spark for all of them."""

import json
import socket
import subprocess
import sys
from pathlib import Path
from typing import Any

import pyarrow.parquet as pq
import pytest
from typer.testing import CliRunner, Result

from support.spark import PATIENCE, connect_server
from tamis.cli import lab, pipeline
from tamis.cli.main import app
from tamis.lab import report

#: A program that has no Spark but that of a server.
CLIENT = """
import operator, sys
from pyspark.sql import SparkSession
from typer.testing import CliRunner
from tamis.cli.main import app
from tamis.lab import report
from tamis.lab.spark.grid import SparkSpread

master = sys.argv[1]
for line in (
    "lab workload market --out m --subscriptions 50 --events 40",
    "lab verify --events m/events.parquet --subscriptions m/subscriptions.parquet --sample 30",
    "lab run 004-E15 --out found",
):
    result = CliRunner().invoke(app, [*line.split(), "--master", master], catch_exceptions=False)
    assert result.exit_code == 0, (line, result.output)
    print(result.stdout)
steps = []
points = [(each, 2) for each in range(5)]
spark = SparkSession.builder.remote(master).getOrCreate()
found = SparkSpread(spark, master).run(operator.mul, points, lambda *step: steps.append(step))
assert found == [0, 2, 4, 6, 8], found
assert (steps[0], steps[-1]) == ((0, 5), (5, 5)) and steps == sorted(steps), steps
"""


@pytest.fixture(autouse=True)
def _clean_place(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Work in an empty folder on a screen of a known width."""
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("COLUMNS", "120")
    monkeypatch.setenv("NO_COLOR", "1")


def invoke(*arguments: str) -> Result:
    return CliRunner().invoke(app, arguments, catch_exceptions=False)


@pytest.mark.usefixtures("spark")
class TestRun:
    def test_a_grid_gives_the_same_files(self, tmp_path: Path) -> None:
        assert invoke("lab", "run", "004-E15", "--out", "alone").exit_code == 0
        result = invoke("lab", "run", "004-E15", "--out", "apart", "--spark")
        assert result.exit_code == 0, result.output
        alone, apart = (json.loads((tmp_path / each / "004-E15.json").read_text()) for each in ("alone", "apart"))
        assert apart.pop("command") == f"{alone.pop('command')} --spark --master 'local[*]'"
        assert alone.pop("seconds") > 0 < apart.pop("seconds")
        assert apart == alone
        assert (tmp_path / "apart" / "004-E15.svg").read_bytes() == (tmp_path / "alone" / "004-E15.svg").read_bytes()

    def test_times_are_warned_of(self, monkeypatch: pytest.MonkeyPatch) -> None:
        monkeypatch.setattr(report, "run", lambda *_: None)
        monkeypatch.setattr(report, "write", lambda *_: [])
        monkeypatch.setattr(lab, "_print", lambda _: None)
        result = invoke("lab", "run", "002-size", "--master", "local[2]")
        assert "points are timed while others run beside them" in result.stderr


@pytest.mark.usefixtures("spark")
class TestWorkload:
    def test_spark_and_this_process_write_the_same(self, tmp_path: Path) -> None:
        sizes = ["--subscriptions", "300", "--events", "200", "--seed", "5"]
        assert invoke("lab", "workload", "iot", "--out", "here", *sizes).exit_code == 0
        result = invoke("lab", "workload", "iot", "--out", "there", *sizes, "--spark")
        assert result.exit_code == 0, result.output
        assert result.stderr == "written: there/subscriptions.parquet, there/events.parquet\n"
        for name, key in (("subscriptions", "id"), ("events", "event_id")):
            here, there = (pq.read_table(tmp_path / each / f"{name}.parquet") for each in ("here", "there"))
            assert there.sort_by(key).cast(here.schema) == here
        again = invoke("lab", "workload", "iot", "--out", "there", *sizes, "--spark")
        assert (again.exit_code, again.stderr) == (2, "tamis: there/subscriptions.parquet: is there already\n")


@pytest.mark.usefixtures("spark")
class TestVerify:
    def test_wrong(self, monkeypatch: pytest.MonkeyPatch) -> None:
        from tamis.lab.spark import verifying

        def wrong(*_: Any) -> verifying.Verdict:
            return verifying.Verdict(1, 1, 2, 1, 1, 0, [verifying.Difference("ann", "price > 1", {"price": 2}, 0, 1)])

        monkeypatch.setattr(verifying, "verify", wrong)
        Path("e.csv").write_text("price\n2\n")
        Path("s.csv").write_text("id,condition\nann,price > 1\n")
        result = invoke("lab", "verify", "--events", "e.csv", "--subscriptions", "s.csv")
        assert result.exit_code == 1
        assert result.stdout.startswith(
            "1 events, 1 subscriptions, 1 matches, 2 conditions refused: the index misses 1, and finds 0 too many\n"
        )
        assert "price > 1" in result.stdout
        verdict = json.loads(invoke("lab", "verify", "--events", "e.csv", "--subscriptions", "s.csv", "--json").stdout)
        assert (verdict["missing"], verdict["differences"][0]["subscription_id"]) == (1, "ann")

    def test_a_file_that_is_not_there(self) -> None:
        result = invoke("lab", "verify", "--events", "none.csv", "--subscriptions", "none.csv")
        assert (result.exit_code, result.stderr) == (2, "tamis: none.csv: there is no such file\n")


def test_without_pyspark_the_extra_is_named(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(pipeline, "find_spec", lambda _: None)
    result = invoke("lab", "run", "004-E15", "--spark")
    assert (result.exit_code, result.stderr) == (2, "tamis: the pipeline needs PySpark: pip install 'tamis[spark]'\n")


def test_a_server_that_does_not_listen_is_told_at_once() -> None:
    with socket.socket() as taken:
        taken.bind(("127.0.0.1", 0))
        url = f"sc://127.0.0.1:{taken.getsockname()[1]}"
        result = invoke("lab", "run", "004-E15", "--master", url)
    assert (result.exit_code, result.stderr) == (2, f"tamis: {url}: cannot be reached: Connection refused\n")


@pytest.mark.elsewhere
def test_all_of_it_through_connect(tmp_path: Path) -> None:
    with connect_server(tmp_path) as url:
        command = [sys.executable, "-c", CLIENT, url]
        done = subprocess.run(command, cwd=tmp_path, capture_output=True, text=True, check=False, timeout=PATIENCE)
    assert done.returncode == 0, done.stderr[-5_000:]
    assert "30 events, 50 subscriptions, " in done.stdout
    assert " matches: the index finds all of them, and nothing else\n" in done.stdout
    assert json.loads((tmp_path / "found" / "004-E15.json").read_text())["command"].endswith(f"--master '{url}'")
