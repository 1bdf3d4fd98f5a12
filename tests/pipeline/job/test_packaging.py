"""What is packed is all that Tamis needs but Spark, and runs where nothing is installed."""

import os
import subprocess
import sys
from pathlib import Path

import pyspark

from tamis.pipeline.job.packaging import contents, distributions, submit_command


def test_all_that_tamis_needs_is_packed_but_spark() -> None:
    found = distributions()
    assert {"numpy", "numba", "llvmlite", "pyarrow", "msgspec", "xxhash", "pandas"} <= set(found)
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


def test_what_is_packed_runs_where_only_spark_is(tmp_path: Path) -> None:
    for path, name in contents():
        (tmp_path / name).parent.mkdir(parents=True, exist_ok=True)
        (tmp_path / name).symlink_to(path)
    spark = sorted((Path(pyspark.__file__).parent / "python" / "lib").glob("*.zip"))
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


def test_the_command_names_what_was_packed() -> None:
    command = submit_command([Path("dist/a.tar.gz"), Path("dist/job.py")], "my.toml")
    assert "--archives dist/a.tar.gz#tamis_env " in command
    assert "spark.executorEnv.PYTHONPATH=tamis_env" in command
    assert command.endswith("dist/job.py my.toml")
