"""The same functions on real clusters and through Spark Connect, with processes killed in the middle of jobs."""

import json
import os
import signal
import subprocess
import sys
import time
from pathlib import Path
from typing import Any

import pyarrow as pa
import pytest

import tamis
from support import pipeline_job
from support.pipeline_job import EVENTS, SUBSCRIPTIONS

#: A cluster starts six processes; on a busy machine that takes long.
PATIENCE = 600.0
CLUSTER = "local-cluster[2,1,512]"


def expected() -> list[int]:
    """Return what an index says of the same subscriptions and events."""
    index = tamis.Index()
    ids = range(SUBSCRIPTIONS)
    index.add_many(ids, [f"x between {id % 997} and {id % 997 + 5} and y = {id % 3}" for id in ids])
    events = pa.table({"x": [(n * 7919) % 1009 for n in range(EVENTS)], "y": [n % 3 for n in range(EVENTS)]})
    found = index.match_batch(events).to_table()
    n, id = found["row"].to_numpy(), found["id"].to_numpy()
    return [len(n), int(n.sum()), int(id.sum()), int((n * id).sum())]


def of_session(leader: int) -> list[int]:
    """Return the processes that a program and those that it started have left."""
    found = []
    for folder in Path("/proc").glob("[0-9]*"):
        try:
            fields = (folder / "stat").read_text().rpartition(")")[2].split()
        except OSError:
            continue
        if int(fields[3]) == leader and fields[0] != "Z":
            found.append(int(folder.name))
    return found


def run(folder: Path, master: str, *more: str) -> dict[str, Any]:
    """Run the job in a session of its own, and see that it leaves no process behind."""
    command = [sys.executable, str(Path(pipeline_job.__file__)), master, str(folder), *more]
    with (folder / "stderr").open("wb") as errors:
        job = subprocess.Popen(command, stdout=subprocess.PIPE, stderr=errors, start_new_session=True)
        try:
            printed, _ = job.communicate(timeout=PATIENCE)
            end = time.monotonic() + 60
            while (left := of_session(job.pid)) and time.monotonic() < end:
                time.sleep(0.1)
        finally:
            for process in of_session(job.pid):
                os.kill(process, signal.SIGKILL)
    assert job.returncode == 0, (folder / "stderr").read_text()[-5_000:]
    assert not left
    found: dict[str, Any] = json.loads(printed.splitlines()[-1])
    return found


@pytest.mark.slow
@pytest.mark.parametrize(("master", "more"), [(CLUSTER, ["kill"]), ("connect", [])], ids=["cluster", "connect"])
def test_answers_are_those_of_an_index_whoever_is_killed(tmp_path: Path, master: str, more: list[str]) -> None:
    found = run(tmp_path, master, *more)
    assert found["matches"] == expected()
    assert (found["rejected"], found["reasons"]) == (1, [str(SUBSCRIPTIONS)])
    assert found["stream"] == [[0, 0, 2], [1, 0, 2]]
    # Tasks that were run twice leave nothing in what is published.
    shards = {each.name for each in (tmp_path / "store" / "version-0000000001").glob("shard-*")}
    assert len(shards) == 1
