"""The C++ probe: compiled where there is g++, and run on the text files that it reads."""

import shutil
import subprocess
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Final

import msgspec
import pyarrow as pa
import pyarrow.compute as pc

from tamis.lab.workloads import Conjunctions, SparseEvents, Workload
from tamis.lab.workloads.draws import Ints

SOURCE: Final = Path(__file__).with_name("probe.cpp")
FLAGS: Final = ("-O3", "-march=native")
#: Subscriptions whose text is written at once.
_CHUNK: Final = 1 << 18


class ProbeError(RuntimeError):
    """The probe could not be compiled, or refused its input."""


class Probed(msgspec.Struct, frozen=True):
    """What a probe says: CPU seconds of building and of one pass, matches and the sum of the matched ids."""

    subscriptions: int
    events: int
    build_seconds: float
    match_seconds: float
    matches: int
    id_sum: int
    candidates: int
    resident_mebibytes: int = 0

    @property
    def events_per_second(self) -> float:
        """Events per CPU second."""
        return self.events / self.match_seconds


@contextmanager
def compiled() -> Iterator[Path | None]:
    """Give the path of the compiled program for as long as the context lasts; None where there is no g++."""
    compiler = shutil.which("g++")
    if compiler is None:
        yield None
        return
    with TemporaryDirectory(prefix="tamis-probe-") as folder:
        program = Path(folder) / "probe"
        _run([compiler, *FLAGS, "-o", str(program), str(SOURCE)])
        yield program


def run(program: Path, folder: Path, events: int) -> Probed:
    """Run the compiled probe on a folder with `subs.txt` and `events.txt`, of which it takes the first so many."""
    return msgspec.json.decode(_run([str(program), str(folder), str(events)]), type=Probed)


def write(workload: Workload, folder: Path) -> None:
    """Write `subs.txt` and `events.txt` of a workload of conjunctions of integer ranges."""
    conditions, events = workload.conditions, workload.events
    if not isinstance(conditions, Conjunctions) or not isinstance(events, SparseEvents):
        raise ProbeError("the probe takes conjunctions and sparse events only")
    asked = conditions.predicates
    _write(folder / "subs.txt", conditions.offsets, (conditions.codes, asked.low, asked.high))
    _write(folder / "events.txt", events.offsets, (events.codes, events.values))


def _write(path: Path, offsets: Ints, columns: tuple[Ints, ...]) -> None:
    with path.open("w") as file:
        for first in range(0, len(offsets) - 1, _CHUNK):
            some = offsets[first : first + _CHUNK + 1]
            texts = [pa.array(column[some[0] : some[-1]]).cast(pa.string()) for column in columns]
            tokens = pc.binary_join_element_wise(*texts, ":")
            lines = pc.binary_join(pa.ListArray.from_arrays(pa.array(some - some[0], pa.int32()), tokens), " ")
            file.write("\n".join(lines.to_pylist()) + "\n")


def _run(command: list[str]) -> bytes:
    done = subprocess.run(command, capture_output=True, check=False)  # noqa: S603 - our own program and the compiler
    if done.returncode:
        raise ProbeError(f"{Path(command[0]).name} failed: {done.stderr.decode(errors='replace').strip()}")
    return done.stdout
