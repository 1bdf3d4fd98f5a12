"""The same functions on a real cluster and through Spark Connect, with processes killed in the middle of jobs."""

import os
import signal
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from contextlib import suppress
from pathlib import Path
from typing import Any, cast

import msgspec
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

import tamis
from support import pipeline_job
from support.pipeline_job import CHANGED, CLAUSE, EVENTS, PLACES, SEGMENT, SEGMENTS, SUBSCRIPTIONS, parent
from support.spark import CLUSTER, apart, connect_server, spark_home
from support.stores import stored
from support.told import Oracle
from tamis.pipeline import EventLog

#: A cluster starts six processes; on a busy machine that takes long.
PATIENCE = 600.0
SUPPORT = Path(pipeline_job.__file__).parents[1]

#: The number of the event, the subscription, and the version.
Answer = tuple[int, int, int]


class Program:
    """The program in a session of processes of its own, by which all that it starts are known."""

    def __init__(self, folder: Path, master: str, *steps: str) -> None:
        self._said = folder / f"stderr-{len(list(folder.glob('stderr-*')))}"
        # What is killed cleans nothing up: it may leave things behind only here.
        temporary = folder / "tmp"
        temporary.mkdir(exist_ok=True)
        places = {"TMPDIR": str(temporary), "JAVA_TOOL_OPTIONS": f"-Djava.io.tmpdir={temporary}"}
        command = [sys.executable, str(Path(pipeline_job.__file__)), master, str(folder), *steps]
        with self._said.open("wb") as errors:
            self._process = subprocess.Popen(
                command,
                stdout=errors,
                stderr=errors,
                start_new_session=True,
                env={**apart(), **places, "SPARK_HOME": str(spark_home(folder)), "PYTHONPATH": str(SUPPORT)},
            )

    def awaits(self, place: Path) -> None:
        """Wait until it has stopped at a place."""
        end = time.monotonic() + PATIENCE
        while not list(place.glob("pid-*")):
            assert self._process.poll() is None, self._said.read_text()[-5_000:]
            assert time.monotonic() < end
            time.sleep(0.05)

    def ends(self) -> None:
        """Wait until it has done everything."""
        assert self._process.wait(PATIENCE) == 0, self._said.read_text()[-5_000:]

    def kill(self, *, whole: bool) -> None:
        """Kill the driver, which is this program and Java below it, or with `whole` its executors and workers too."""
        mine = self._process.pid
        for process in self.left():
            if whole or process == mine or parent(process) == mine:
                _kill(process)
        assert self._process.wait(PATIENCE) == -signal.SIGKILL

    def left(self) -> list[int]:
        """Return the processes of the session that there are."""
        found = []
        for folder in Path("/proc").glob("[0-9]*"):
            try:
                fields = (folder / "stat").read_text().rpartition(")")[2].split()
            except OSError:
                continue
            if int(fields[3]) == self._process.pid and fields[0] != "Z":
                found.append(int(folder.name))
        return found


@pytest.fixture
def start(tmp_path: Path) -> Iterator[Callable[..., Program]]:
    """Start programs, and see that they leave no process behind."""
    started: list[Program] = []

    def begin(master: str, *steps: str) -> Program:
        started.append(Program(tmp_path, master, *steps))
        return started[-1]

    yield begin
    end = time.monotonic() + 60
    while (left := [each for program in started for each in program.left()]) and time.monotonic() < end:
        time.sleep(0.1)
    for process in left:
        _kill(process)
    assert not left


def _kill(process: int) -> None:
    """Kill a process, unless it has ended since it was looked for."""
    with suppress(ProcessLookupError):
        os.kill(process, signal.SIGKILL)


def version(number: int) -> dict[int, tuple[str, str]]:
    """Return the conditions and clauses of a version."""
    found = {
        id: (f"x between {id % 997} and {id % 997 + 5} and y = {id % 3}", CLAUSE if id % 2 == 0 else "")
        for id in range(SUBSCRIPTIONS)
    }
    if number > 1:
        found[CHANGED[0]] = CHANGED[1], ""
    # Some lose their clause, some come, and others match more from then on.
    if number > 2:
        found |= {id: (found[id][0], "") for id in range(0, 900, 3)} | {SUBSCRIPTIONS + 1: ("x < 20", CLAUSE)}
    if number > 3:
        found |= dict.fromkeys(range(1, 40), ("x >= 1000", "notify x moves 2"))
    return found


def publish(folder: Path, number: int) -> None:
    """Make a version without Spark."""
    texts = {id: " ".join(each) for id, each in version(number).items()}
    assert stored(folder / "store", [texts]).version == number


def events(first: int, count: int) -> pa.Table:
    """Return what happens."""
    numbers = range(first, first + count)
    return pa.table({"n": numbers, "x": [n * 7919 % 1009 for n in numbers], "y": [n % 3 for n in numbers]})


def matched(number: int, happened: pa.Table) -> list[tuple[int, dict[str, Any], list[int]]]:
    """Return for each event which subscriptions of a version an index says it meets."""
    index = tamis.Index()
    known = version(number)
    index.add_many(list(known), [condition for condition, _ in known.values()])
    found = index.match_batch(happened)
    return [(event["n"], event, [int(id) for id in found.row(row)]) for row, event in enumerate(happened.to_pylist())]


def told(batches: list[tuple[int, pa.Table]]) -> list[Answer]:
    """Return what one gate lets pass of events, each batch with its version."""
    newest = max(number for number, _ in batches)
    texts = [{id: " ".join(each) for id, each in version(number + 1).items()} for number in range(newest)]
    oracle = Oracle(cast(Any, texts))
    found: list[Answer] = []
    for number, happened in batches:
        matches = ((n, number, ids, event) for n, event, ids in matched(number, happened))
        said = oracle.says(cast(Any, matches))
        assert {outcome for _, _, outcome in said} == {"told"}
        found += [(cast(int, n), cast(int, id), number) for n, id, _ in said]
    return sorted(found)


def answers(folder: Path) -> list[Answer]:
    """Return what was written."""
    table = pq.read_table(folder, columns=["n", "subscription_id", "subscription_version"])
    return sorted(zip(*(column.to_pylist() for column in table.columns), strict=True))


def check_work(folder: Path) -> None:
    assert msgspec.json.decode((folder / "found.json").read_bytes()) == {
        "rejected": 1,
        "reasons": [str(SUBSCRIPTIONS)],
    }
    # Tasks that were run twice leave nothing in what is published.
    assert len(list((folder / "store" / "version-0000000001").glob("shard-*"))) == 1
    happened = events(0, EVENTS)
    assert answers(folder / "matches") == sorted((n, id, 1) for n, _, ids in matched(1, happened) for id in ids)
    right = told([(1, happened)])
    assert answers(folder / "told") == right
    # It was held back, but not everything.
    assert SUBSCRIPTIONS < len(right) < len(answers(folder / "matches"))


def check_stream(folder: Path, versions: list[int]) -> None:
    """See that each batch was answered once, and met the version that was in use when it was begun first."""
    batches = [(number, events(at * SEGMENT, SEGMENT)) for at, number in enumerate(versions)]
    assert answers(folder / "answers") == told(batches)
    ids = pq.read_table(folder / "answers", columns=["notification_id"])["notification_id"]
    assert len(ids.unique()) == len(ids)


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    log = EventLog(tmp_path / "log")
    for number in range(SEGMENTS):
        log.append(events(number * SEGMENT, SEGMENT))
    for name in PLACES.values():
        (tmp_path / name).mkdir()
    return tmp_path


@pytest.mark.slow
def test_nothing_is_lost_and_nothing_comes_twice_whoever_is_killed(folder: Path, start: Callable[..., Program]) -> None:
    halfway, written = folder / "halfway", folder / "written"
    first = start(CLUSTER, "work", "stream", "kill")
    first.awaits(halfway)
    # Its executors find out by themselves that they work for nobody, while the next driver begins.
    first.kill(whole=False)
    (halfway / "go").touch()
    publish(folder, 3)
    second = start(CLUSTER, "stream")
    second.awaits(written)
    second.kill(whole=True)
    (written / "go").touch()
    publish(folder, 4)
    start("local[2]", "stream").ends()
    check_work(folder)
    check_stream(folder, [2, 2, 2, 2, 3, 3, 4, 4])


@pytest.mark.slow
def test_answers_through_connect_are_the_same(folder: Path, start: Callable[..., Program]) -> None:
    for name in PLACES.values():
        (folder / name / "go").touch()
    (folder / "server").mkdir()
    with connect_server(folder / "server") as url:
        start(url, "work", "stream").ends()
    check_work(folder)
    check_stream(folder, [2] * SEGMENTS)
