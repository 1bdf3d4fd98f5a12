"""Opening a saved index: how long it takes, and what ten processes that share it take in memory."""

import os
from collections.abc import Iterator
from pathlib import Path
from tempfile import TemporaryDirectory
from time import perf_counter
from typing import Final

import pyarrow as pa

from harness.context import WARM_UP_SIZE, Context, Measured
from harness.figures import Figure, at_most
from harness.reader import Reader
from harness.subject import Subject, WrongAnswerError

SECTION: Final = "open"
SECONDS: Final = at_most(1.0)
#: What the index takes in all processes together, to what it takes in one alone.
SHARED: Final = at_most(1.5)
#: Below so many bytes, what else a process does with its memory hides the index.
LEAST_GROWN: Final = 10 * 2**20
#: Fresh processes that open the index one after the other; the median counts.
OPENINGS: Final = 3
_MEBIBYTE: Final = 2**20


def run(context: Context) -> Iterator[Figure]:
    """Measure W-A at its large size."""
    subject = context.subject("w-a", context.sizes.large)
    figure = Measured(SECTION, subject.name, subject.subscriptions)
    context.doing("w-a: building")
    index = subject.index(context.engine)
    expected, _ = subject.check(index, context.sizes.checked)
    with TemporaryDirectory(prefix="tamis-open-") as place:
        folder, small, events = Path(place) / "index", Path(place) / "small", Path(place) / "events.arrow"
        Subject(subject.name, WARM_UP_SIZE, 1).index(context.engine).save(small)
        context.doing("w-a: saving")
        start = perf_counter()
        index.save(folder)
        yield figure("save", perf_counter() - start, "s")
        del index
        _write_events(subject, events)
        yield figure("on disk", _size(folder) / _MEBIBYTE, "MiB")
        context.doing("w-a: opening")
        answers = []
        for _ in range(OPENINGS):
            grown, alone, answer = _grown(1, (folder, small, events), expected)
            answers.append(answer)
        middle = sorted(answers, key=lambda each: each["open"])[OPENINGS // 2]
        yield figure("open", middle["open"], "s", SECONDS)
        yield figure("first batch", middle["first"], "s")
        context.doing(f"w-a: opening in {context.sizes.processes} processes")
        together, shared, _ = _grown(context.sizes.processes, (folder, small, events), expected)
        for name, one, many in (("index", alone, shared), ("all memory", grown, together)):
            yield figure(f"{name}, one process", one / _MEBIBYTE, "MiB PSS more")
            yield figure(f"{name}, {context.sizes.processes} processes", many / _MEBIBYTE, "MiB PSS more")
        if alone >= LEAST_GROWN:
            yield figure("index, all to one", shared / alone, "times", SHARED)
        else:
            context.remark(f"{SECTION}: this index is too small to see in the memory of a process.")


def _grown(processes: int, files: tuple[Path, Path, Path], expected: int) -> tuple[int, int, dict[str, float]]:
    """Return by how much opening and matching made processes grow, all together, and an answer of the first.

    First all that they take, then what of it is the index.
    """
    readers: list[Reader] = []
    try:
        for _ in range(processes):
            readers.append(Reader(*files))
            # It answers when it is ready: where there is something to compile, the first does it for all.
            readers[-1].ask("pss")
        before = [reader.ask("pss")["bytes"] for reader in readers]
        answers = [reader.ask("open") for reader in readers]
        after = [reader.ask("pss") for reader in readers]
    finally:
        for reader in readers:
            reader.close()
    wrong = [each["matches"] for each in answers if each["matches"] != expected]
    if wrong:
        raise WrongAnswerError(f"an opened index found {wrong[0]:.0f} matches, not {expected}")
    grown = sum(each["bytes"] for each in after) - sum(before)
    return grown, sum(each["mapped"] for each in after), answers[0]


def _write_events(subject: Subject, path: Path) -> None:
    table = pa.Table.from_batches(subject.batches)
    with pa.OSFile(str(path), "wb") as file, pa.ipc.new_file(file, table.schema) as writer:
        writer.write_table(table)


def _size(folder: Path) -> int:
    files = folder.rglob("*") if folder.is_dir() else [folder]
    return sum(os.path.getsize(each) for each in files if each.is_file())  # noqa: PTH202 - a saved index may be a file
