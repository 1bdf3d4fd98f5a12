"""What is packed is all that Tamis needs but Spark, and runs where nothing is installed."""

import json
import os
import re
import signal
import subprocess
import sys
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import pyspark
import pytest

from support.jobs import PATIENCE, answers, expected, index_of
from tamis.pipeline.job.packaging import contents, distributions, package, submit_command, write_program
from tamis.pipeline.job.sample import events, write_sample

SPARK = Path(pyspark.__file__).parent


def test_all_that_tamis_needs_is_packed_but_spark() -> None:
    found = distributions()
    assert {"numpy", "numba", "llvmlite", "pyarrow", "msgspec", "xxhash", "pandas", "structlog", "psycopg"} <= set(
        found
    )
    assert not {"pyspark", "py4j", "pytest", "ruff", "mypy"} & set(found)
    names = [name for _, name in contents()]
    assert len(names) == len(set(names))
    assert "tamis/pipeline/job/running.py" in names
    assert any(name.startswith("llvmlite/") and name.endswith(".so") for name in names)
    assert not [name for name in names if name.startswith(("/", "..")) or "__pycache__" in name]


#: What an executor does with it, on a Python that has nothing but Spark.
ALONE = """
import sys
import pyarrow as pa
import pyspark
from tamis.pipeline.connectors.decoding import decoded
from tamis.pipeline.connectors.shape import Shape
from tamis.pipeline.notifying import notify
from tamis.pipeline.sorting import sort_out
from tamis.pipeline.task import Task

import tamis

index = tamis.Index()
index.add("a", "x > 1")
rows = Shape(pa.schema({"x": pa.int64()})).of_json([b'{"x": 1}', b'{"x": 2}']).rows
print(index.match_batch(rows).to_table().to_pylist())
print(all(module.__file__.startswith(sys.argv[1]) for module in (tamis, pa)))
"""


def unpacked(folder: Path) -> Path:
    """Put what is packed in a folder, without packing it."""
    for path, name in contents():
        (folder / name).parent.mkdir(parents=True, exist_ok=True)
        (folder / name).symlink_to(path)
    return folder


def test_what_is_packed_runs_where_only_spark_is(tmp_path: Path) -> None:
    unpacked(tmp_path)
    spark = sorted((SPARK / "python" / "lib").glob("*.zip"))
    # Without its own packages (-S), as an executor with a bare Python.
    done = subprocess.run(
        [sys.executable, "-S", "-c", ALONE, str(tmp_path)],
        env={"PYTHONPATH": ":".join(map(str, [tmp_path, *spark])), "PATH": os.environ["PATH"]},
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 0, done.stderr
    assert done.stdout.splitlines() == ["[{'row': 1, 'id': 'a'}]", "True"]


@pytest.fixture(scope="module")
def bare() -> Path:
    """A Python of this version on which Tamis is not installed."""
    python = Path(sys.base_prefix) / "bin" / f"python{sys.version_info.major}.{sys.version_info.minor}"
    done = subprocess.run([python, "-c", "import tamis"], capture_output=True, check=False, cwd="/", env={})
    if done.returncode == 0:
        pytest.skip("Tamis is installed for all on this machine")
    return python


def environment(*folders: Path, **more: str) -> dict[str, str]:
    """Return what Spark needs to start, with the programs of some folders first."""
    kept = {name: os.environ[name] for name in ("JAVA_HOME", "HOME") if name in os.environ}
    path = ":".join([*map(str, folders), os.environ["PATH"]])
    return kept | {"PATH": path, "SPARK_HOME": str(SPARK), "SPARK_LOCAL_IP": "127.0.0.1"} | more


def submitted(folder: Path, command: str, environment: dict[str, str]) -> dict[str, Any]:
    """Run the sample in a folder with a command, and return its summary; its answers are right."""
    done = subprocess.run(  # noqa: S602 - as it is printed
        f"{command} --json",
        shell=True,
        cwd=folder,
        env=environment,
        capture_output=True,
        text=True,
        check=False,
        timeout=PATIENCE,
    )
    assert done.returncode == 0, done.stderr[-5_000:]
    assert answers(folder / "answers") == expected(index_of(folder / "subscriptions.csv"), list(events()))
    summary: dict[str, Any] = json.loads(done.stdout[done.stdout.index("{") :])
    return summary


@pytest.mark.elsewhere
def test_a_job_runs_from_what_is_packed_alone(tmp_path: Path, bare: Path) -> None:
    write_sample(tmp_path / "job")
    program = write_program(tmp_path)
    command = f"{SPARK}/bin/spark-submit --master 'local[1]' --driver-java-options '-Xss8m -XX:TieredStopAtLevel=1'"
    given = environment(PYSPARK_PYTHON=str(bare), PYTHONPATH=str(unpacked(tmp_path / "env")))
    summary = submitted(tmp_path / "job", f"{command} {program} pipeline.toml", given)
    assert (summary["events"], summary["rejected"], summary["ended"]) == (602, 2, "end")


def listening(process: subprocess.Popen[bytes], log: Path, pattern: str) -> str:
    """Return what a process says when it is ready."""
    end = time.monotonic() + PATIENCE
    while not (found := re.search(pattern, log.read_text())):
        assert process.poll() is None, log.read_text()
        assert time.monotonic() < end
        time.sleep(0.05)
    return found[1]


@contextmanager
def cluster(folder: Path, environment: dict[str, str]) -> Iterator[str]:
    """Run a standalone master and a worker, and give its address."""
    started: list[subprocess.Popen[bytes]] = []

    def start(name: str, *arguments: str) -> tuple[subprocess.Popen[bytes], Path]:
        command = [str(SPARK / "bin" / "spark-class"), f"org.apache.spark.deploy.{name.lower()}.{name}", *arguments]
        with (folder / name).open("wb") as log:
            process = subprocess.Popen(command, env=environment, stdout=log, stderr=log, start_new_session=True)
        started.append(process)
        return process, folder / name

    try:
        ports = ["--host", "127.0.0.1", "--port", "0", "--webui-port", "0"]
        url = listening(*start("Master", *ports), r"Starting Spark master at (spark://\S+)")
        work = ["-c", "1", "-m", "1G", "-d", str(folder / "work")]
        listening(*start("Worker", *ports, *work, url), r"(Successfully registered) with master")
        yield url
    finally:
        for process in reversed(started):
            # With those that it has started.
            os.killpg(process.pid, signal.SIGTERM)
            process.wait(PATIENCE)


@pytest.mark.elsewhere
def test_a_job_is_submitted_to_a_cluster_whose_machines_have_no_tamis(tmp_path: Path, bare: Path) -> None:
    write_sample(tmp_path / "job")
    files = package(tmp_path / "dist")
    with cluster(tmp_path, environment(bare.parent)) as url:
        where = f"spark-submit --master {url} --executor-memory 512m "
        command = submit_command(files).replace("spark-submit ", where)
        # The driver runs where Tamis is installed.
        given = environment(Path(sys.executable).parent, SPARK / "bin")
        summary = submitted(tmp_path / "job", command, given)
    assert (summary["events"], summary["rejected"], summary["ended"]) == (602, 2, "end")
    # An executor has unpacked it, and has run nothing else.
    [package_there] = (tmp_path / "work").glob("app-*/0/tamis_env/tamis/__init__.py")
    assert package_there.resolve().is_file()


def test_the_command_names_what_was_packed() -> None:
    command = submit_command([Path("dist/a.tar.gz"), Path("dist/job.py")], "my.toml")
    assert "--archives dist/a.tar.gz#tamis_env " in command
    assert "spark.executorEnv.PYTHONPATH=tamis_env" in command
    assert "--driver-java-options -Xss8m" in command
    assert command.endswith("dist/job.py my.toml")
