"""The work behind `tamis sim --chaos`: plans, promises that hold or not, and the shortest plan that breaks one."""

import os
from collections.abc import Iterator
from concurrent.futures import ProcessPoolExecutor, as_completed
from pathlib import Path
from shlex import join
from time import perf_counter
from typing import Final

import msgspec
from rich.table import Table

from tamis.cli.errors import InputError
from tamis.cli.output import Bar, progress_bars, remark, stdout
from tamis.cli.settings import ProgressMode
from tamis.cli.sim_run import refusals_are_bad_input
from tamis.simulation.chaos import Outcome, Plan, planned, profiles, run, shrunk

_FILE: Final = ".json"


class Asked(msgspec.Struct, frozen=True, kw_only=True):
    """What is asked for: a profile or a file with a plan, of which cast, which seeds, and for how long."""

    chaos: str
    cast: str | None
    seed: int
    seeds: int
    hours: float


class ChaosRun(msgspec.Struct, frozen=True, kw_only=True):
    """What came of one seed, and the command that does it again."""

    cast: str
    seed: int
    command: str
    outcome: Outcome


class ChaosResult(msgspec.Struct, frozen=True, kw_only=True):
    """What came of all seeds. `seconds` is wall time."""

    chaos: str
    kept_promises: bool
    seconds: float
    runs: tuple[ChaosRun, ...]


def chaos(asked: Asked, progress: ProgressMode) -> ChaosResult:
    """Run all seeds, several at a time if there are several."""
    started = perf_counter()
    plans = _plans(asked)
    with progress_bars(progress) as start_bar, refusals_are_bad_input():
        bar = start_bar("Chaos")
        runs = [_run_alone(plans[0], asked, bar)] if len(plans) == 1 else list(_run_all(plans, asked, bar))
    runs.sort(key=lambda each: each.seed)
    return ChaosResult(
        chaos=asked.chaos,
        kept_promises=not any(each.outcome.broken for each in runs),
        seconds=perf_counter() - started,
        runs=tuple(runs),
    )


def shrink(asked: Asked, path: Path, progress: ProgressMode) -> None:
    """Write the shortest plan that breaks the same promise as the first seed that breaks one."""
    plan = next((plan for plan in _plans(asked) if run(plan).broken), None)
    if plan is None:
        raise InputError("no promise is broken, so there is nothing to shrink")
    with progress_bars(progress) as start_bar, refusals_are_bad_input():
        bar = start_bar("Shrinking, steps left")
        shortest = shrunk(plan, lambda left: bar(left, len(plan.steps)))
        shortest.save(path)
    remark(f"written: {path}, {len(shortest.steps):,} steps of {len(plan.steps):,}")
    remark(f"again: {join(['tamis', 'sim', '--chaos', str(path)])}")


def print_chaos(result: ChaosResult) -> None:
    """Print a table with a row for each cast, and what broke."""
    table = Table("cast", "seeds", "hours", "storms", "events after storms", "deliveries", "broken")
    for cast in sorted({each.cast for each in result.runs}):
        those = [each.outcome for each in result.runs if each.cast == cast]
        table.add_row(
            cast,
            f"{len(those):,}",
            f"{sum(each.virtual_seconds for each in those) / 3600:,.1f}",
            f"{sum(each.calms for each in those):,}",
            f"{sum(each.probes for each in those):,}",
            f"{sum(each.deliveries for each in those):,}",
            f"{sum(bool(each.broken) for each in those):,}",
        )
    console = stdout()
    console.print(table)
    hours = sum(each.outcome.virtual_seconds for each in result.runs) / 3600
    verdict = "All promises were kept" if result.kept_promises else "Promises were broken"
    console.print(f"{verdict} in {hours:,.1f} h of virtual time ({result.seconds:.1f} s).", markup=False)
    for each in result.runs:
        for broken in each.outcome.broken:
            console.print(f"{each.cast}, seed {each.seed}, at {broken.at:g} s: {broken.promise}: {broken.what}")
            console.print(f"  again: {each.command}", markup=False, soft_wrap=True)


def _plans(asked: Asked) -> list[Plan]:
    with refusals_are_bad_input():
        if asked.chaos.endswith(_FILE):
            return [Plan.load(Path(asked.chaos))]
        if asked.chaos not in profiles():
            raise InputError(f"--chaos {asked.chaos}: a profile ({', '.join(profiles())}) or a plan, a file {_FILE}")
        seeds = range(asked.seed, asked.seed + asked.seeds)
        return [planned(asked.chaos, asked.cast, seed, asked.hours) for seed in seeds]


def _run_alone(plan: Plan, asked: Asked, bar: Bar) -> ChaosRun:
    return _noted(plan, asked, run(plan, progress=bar))


def _run_all(plans: list[Plan], asked: Asked, bar: Bar) -> Iterator[ChaosRun]:
    bar(0, len(plans))
    with ProcessPoolExecutor(max_workers=os.cpu_count()) as pool:
        running = {pool.submit(run, plan): plan for plan in plans}
        for done, future in enumerate(as_completed(running), 1):
            bar(done, len(plans))
            yield _noted(running[future], asked, future.result())


def _noted(plan: Plan, asked: Asked, outcome: Outcome) -> ChaosRun:
    command = ["tamis", "sim", "--chaos", asked.chaos]
    if not asked.chaos.endswith(_FILE):
        command += ["--cast", plan.cast, "--seed", str(plan.seed), "--hours", f"{asked.hours:g}"]
    return ChaosRun(cast=plan.cast, seed=plan.seed, command=join(command), outcome=outcome)
