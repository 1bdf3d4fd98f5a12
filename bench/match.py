"""How fast does `tamis.Index` match, build, change and open, against the yardstick and packages one can install?

    python bench/match.py [batch steps single arbitrary threads build open updates growth peers engines]
    python bench/match.py batch single --scale full --json figures.json

Everything is compared in one run: ratios carry from machine to machine, rates do not. Rates are events per CPU second
of one core, batches as a user hands them over, the best of several passes; latencies are wall time. Answers are
compared with brute force and with the C++ probe (compiled where there is g++); a wrong one ends the run with an error.
"""

import argparse
import datetime as dt
import sys
from collections.abc import Mapping
from contextlib import AbstractContextManager, nullcontext
from pathlib import Path
from time import perf_counter
from typing import Final

import msgspec
from rich.console import Console
from rich.progress import Progress, SpinnerColumn, TextColumn, TimeElapsedColumn

import tamis
from harness.context import Context, Section
from harness.figures import Figure, Shown, listing, shown, table
from harness.scale import SIZES, Scale
from sections import arbitrary, batch, build, engines, growth, opening, peers, single, steps, threads, updates
from tamis.lab.machine import Machine, this_machine
from yardstick.probe import compiled

SECTIONS: Final[Mapping[str, Section]] = {
    "batch": batch.run,
    "steps": steps.run,
    "single": single.run,
    "arbitrary": arbitrary.run,
    "threads": threads.run,
    "build": build.run,
    "open": opening.run,
    "updates": updates.run,
    "growth": growth.run,
    "peers": peers.run,
    "engines": engines.run,
}
#: Tables are as wide as they need to be where they go to a file.
_FILE_WIDTH: Final = 220


class Run(msgspec.Struct, frozen=True):
    """A run as JSON."""

    command: list[str]
    date: str
    machine: Machine
    engine: str
    scale: Scale
    figures: list[Shown]
    remarks: list[str]


def main() -> None:
    """Run the chosen sections, print a table for each and one of all bars."""
    chosen = _arguments()
    console = Console(highlight=False, width=None if sys.stdout.isatty() else _FILE_WIDTH)
    bars = Console(stderr=True)
    progress = Progress(
        SpinnerColumn(), TextColumn("{task.description}"), TimeElapsedColumn(), console=bars, transient=True
    )
    task = progress.add_task("")
    figures: list[Figure] = []
    drawn: AbstractContextManager[object] = progress if bars.is_terminal else nullcontext()
    with compiled() as probe, drawn:

        def doing(text: str) -> None:
            progress.update(task, description=text)

        context = Context(chosen.engine, SIZES[Scale(chosen.scale)], probe, chosen.rule_engine_python, doing)
        for name in chosen.sections:
            start = perf_counter()
            found = list(SECTIONS[name](context))
            figures += found
            console.print(table(f"{name} ({perf_counter() - start:.0f} s)", found))
    barred = [each for each in figures if each.bar is not None]
    if barred:
        console.print(listing("What must be reached", barred))
    for remark in context.remarks:
        console.print(remark, markup=False)
    run = Run(
        sys.argv,
        dt.datetime.now(dt.UTC).date().isoformat(),
        this_machine(),
        chosen.engine,
        Scale(chosen.scale),
        [shown(each) for each in figures],
        context.remarks,
    )
    console.print(f"{run.machine}, {run.date}", markup=False)
    if chosen.json is not None:
        chosen.json.write_bytes(msgspec.json.format(msgspec.json.encode(run), indent=2) + b"\n")


def _arguments() -> argparse.Namespace:
    arguments = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    arguments.add_argument("sections", nargs="*", metavar="section", help=f"of {', '.join(SECTIONS)}; default: all")
    arguments.add_argument("--scale", choices=list(Scale), default=Scale.QUICK, help="tiny is for tests")
    arguments.add_argument("--engine", choices=["auto", *tamis.engines()], default="auto", help="the engine under test")
    arguments.add_argument("--json", type=Path, metavar="FILE", help="write all figures there")
    arguments.add_argument(
        "--rule-engine-python",
        default=sys.executable,
        metavar="PYTHON",
        help="a Python with the package rule-engine, if this one has it not",
    )
    chosen = arguments.parse_args()
    unknown = [name for name in chosen.sections if name not in SECTIONS]
    if unknown:
        arguments.error(f"there is no section {unknown[0]!r}; there are: {', '.join(SECTIONS)}")
    chosen.sections = chosen.sections or list(SECTIONS)
    return chosen


if __name__ == "__main__":
    main()
