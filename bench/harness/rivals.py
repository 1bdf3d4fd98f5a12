"""The index under test and the yardstick's probes, put to one subject on one core."""

from collections.abc import Callable, Mapping
from functools import partial
from pathlib import Path
from tempfile import TemporaryDirectory
from time import process_time
from typing import Final

import msgspec

import tamis
from harness.clock import best_seconds, on_cores
from harness.context import Context
from harness.subject import Subject
from yardstick import numpy_probe, probe
from yardstick.probe import Probed

CPP: Final = "C++ probe"
NUMPY: Final = "NumPy probe"


class Trial(msgspec.Struct, frozen=True):
    """What the index under test took: CPU seconds, and what it answered."""

    build_seconds: float
    match_seconds: float
    bytes: int
    candidates: float
    matches: int
    id_sum: int
    events: int

    @property
    def events_per_second(self) -> float:
        """Events per CPU second."""
        return self.events / self.match_seconds


def tried(context: Context, subject: Subject, engine: str | None = None, rounds: int | None = None) -> Trial:
    """Build an index, check it against brute force, and match all batches on one core."""
    return _contest(context, subject, engine or context.engine, {}, rounds or context.sizes.rounds)[0]


def contested(context: Context, subject: Subject, numpy: bool = True) -> tuple[Trial, dict[str, Probed]]:
    """Do the same in turns with the probes that there are; stop if one of them disagrees."""
    rivals: dict[str, Callable[[], Probed]] = {}
    with TemporaryDirectory(prefix="tamis-probe-") as folder:
        if context.probe is None:
            context.remark("There is no g++ here: no figures of the C++ probe.")
        else:
            probe.write(subject.workload, Path(folder))
            rivals[CPP] = partial(probe.run, context.probe, Path(folder), subject.events)
        if numpy:
            rivals[NUMPY] = numpy_probe.matcher(subject.workload)
        ours, theirs = _contest(context, subject, context.engine, rivals, context.sizes.rounds)
    for name, each in theirs.items():
        subject.agree(f"the {name}", (ours.matches, ours.id_sum), (each.matches, each.id_sum))
    return ours, theirs


def _contest(
    context: Context, subject: Subject, engine: str, rivals: Mapping[str, Callable[[], Probed]], rounds: int
) -> tuple[Trial, dict[str, Probed]]:
    what = f"{subject.name}, {subject.subscriptions:,} subscriptions"
    context.warm(engine)
    with on_cores(1):
        context.doing(f"{what}: building {engine}")
        build, index = _built(subject, engine)
        context.doing(f"{what}: checking {engine}")
        matches, id_sum = subject.check(index, context.sizes.checked)
        times: list[float] = []
        theirs: dict[str, Probed] = {}
        for _ in range(rounds):
            context.doing(f"{what}: matching with {engine}")
            times.append(best_seconds(partial(subject.match_all, index)))
            for name, run in rivals.items():
                context.doing(f"{what}: matching with the {name}")
                found = run()
                if name not in theirs or found.match_seconds < theirs[name].match_seconds:
                    theirs[name] = found
        stats = index.stats()
    candidates = float(stats["candidates_per_event"])
    return Trial(build, min(times), int(stats["bytes"]), candidates, matches, id_sum, subject.events), theirs


def _built(subject: Subject, engine: str) -> tuple[float, tamis.Index]:
    # What is built from is made beforehand: it is not the index that makes it.
    fill = subject.filler(engine)
    start = process_time()
    index = fill()
    return process_time() - start, index
