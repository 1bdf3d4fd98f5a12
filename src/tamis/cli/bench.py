"""`tamis bench`: how fast does an engine match a workload on this machine, and how fast is a broker?"""

from itertools import islice
from time import perf_counter
from typing import Annotated, Final

import msgspec
import typer
from rich.table import Table

import tamis
from tamis.cli import options
from tamis.cli.bench_broker import broker
from tamis.cli.errors import EXIT_WRONG, InputError, bad_input_reported, unknown
from tamis.cli.output import print_json, progress_bars, remark, stdout
from tamis.cli.reference import missed_or_extra
from tamis.cli.settings import Settings, load
from tamis.lab.experiment import DEFAULT_SEED
from tamis.lab.machine import Machine, this_machine
from tamis.lab.workloads import Workload, generate, workloads

#: Events matched one by one with `Index.match`.
SINGLE_EVENTS: Final = 200
#: Events whose answer is compared with the reference.
CHECKED_EVENTS: Final = 10


class Benchmark(msgspec.Struct, frozen=True):
    """What was measured. Rates are per second of wall time, one process."""

    workload: str
    engine: str
    subscriptions: int
    events: int
    matches: int
    build_seconds: float
    conditions_per_second: float
    batch_rows: int
    batch_seconds: float
    batch_events_per_second: float
    single_events_per_second: float
    checked_events: int
    wrong_events: int
    machine: Machine


app = typer.Typer(invoke_without_command=True)
app.command()(broker)


@app.callback()
def bench(
    context: typer.Context,
    workload: Annotated[str, typer.Option(metavar="NAME", help="A workload of the lab.")] = "market",
    subscriptions: Annotated[int, typer.Option(min=1, help="Conditions in the index.")] = 2_000,
    events: Annotated[int, typer.Option(min=1, help="Events matched.")] = 20_000,
    seed: Annotated[int, typer.Option(min=0, help="The same seed gives the same workload.")] = DEFAULT_SEED,
    engine: options.Engine = None,
    batch_rows: options.BatchRows = None,
    progress: options.Progress = None,
    as_json: options.Json = False,
) -> None:
    """Measure an engine on a workload: building, matching batches, matching single events; or a broker that runs.

    A sample of the answers is checked against the reference; a wrong one makes the exit code 1. Compare
    engines with each other in one session on one machine: absolute rates say little.

    `$ tamis bench --workload market --engine scan --json`

    `$ tamis bench broker tamis://localhost:7420`
    """
    if context.invoked_subcommand is not None:
        return
    with bad_input_reported():
        settings = load(engine=engine, batch_rows=batch_rows, progress=options.progress_mode(progress))
        made = _workload(workload, subscriptions, events, seed)
        result = _measure(workload, made, settings)
    if as_json:
        print_json(result)
    else:
        _print(result)
    if result.wrong_events:
        remark(f"tamis: {result.wrong_events} of {result.checked_events} checked answers are wrong")
        raise typer.Exit(EXIT_WRONG)


def _workload(name: str, subscriptions: int, events: int, seed: int) -> Workload:
    specs = workloads()
    if name not in specs:
        raise unknown("workload", name, specs)
    try:
        spec = msgspec.structs.replace(specs[name], subscriptions=subscriptions, events=events)
        return generate(spec, seed)
    except (TypeError, ValueError) as error:
        raise InputError(f"workload {name!r}: {error}") from None


def _measure(name: str, workload: Workload, settings: Settings) -> Benchmark:
    index = tamis.Index(engine=settings.engine)
    batches = list(workload.events.batches(settings.batch_rows))
    sample = list(islice(workload.events.rows(), SINGLE_EVENTS))
    texts = workload.conditions.texts()
    with progress_bars(settings.progress) as start_bar:
        started = perf_counter()
        index.add_many(range(len(texts)), texts, progress=start_bar("Building the index"))
        # The first event makes an engine finish what it put off; that is part of building.
        index.match(sample[0])
        build_seconds = perf_counter() - started
        bar = start_bar("Matching batches")
        matches = done = 0
        started = perf_counter()
        for batch in batches:
            matches += len(index.match_batch(batch))
            done += batch.num_rows
            bar(done, len(workload.events))
        batch_seconds = perf_counter() - started
    started = perf_counter()
    answers = [index.match(event) for event in sample]
    single_seconds = perf_counter() - started
    conditions = {id_: index.condition(id_) for id_ in index}
    in_batch = index.match_batch(batches[0])
    checked = min(CHECKED_EVENTS, batches[0].num_rows)
    wrong = [
        row
        for row, event in enumerate(sample[:checked])
        if missed_or_extra(conditions, event, answers[row]) or missed_or_extra(conditions, event, in_batch.row(row))
    ]
    return Benchmark(
        workload=name,
        engine=index.stats()["engine"],
        subscriptions=len(index),
        events=done,
        matches=matches,
        build_seconds=build_seconds,
        conditions_per_second=len(index) / build_seconds,
        batch_rows=settings.batch_rows,
        batch_seconds=batch_seconds,
        batch_events_per_second=done / batch_seconds,
        single_events_per_second=len(sample) / single_seconds,
        checked_events=checked,
        wrong_events=len(wrong),
        machine=this_machine(),
    )


def _print(result: Benchmark) -> None:
    table = Table(title=f"{result.workload} on engine {result.engine}", show_header=False)
    table.add_column()
    table.add_column(justify="right")
    table.add_row("conditions", f"{result.subscriptions:,}")
    table.add_row("events", f"{result.events:,}")
    table.add_row("matches", f"{result.matches:,} ({result.matches / result.events:.2f} per event)")
    table.add_row("building", f"{result.conditions_per_second:,.0f} conditions/s")
    table.add_row(f"batches of {result.batch_rows:,}", f"{result.batch_events_per_second:,.0f} events/s")
    table.add_row("single events", f"{result.single_events_per_second:,.0f} events/s")
    table.add_row("checked against the reference", f"{result.checked_events} events")
    console = stdout()
    console.print(table)
    console.print(f"{result.machine}", markup=False)
