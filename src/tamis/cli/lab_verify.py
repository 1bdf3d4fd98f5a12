"""`tamis lab verify`: does the index find exactly what conditions say?"""

from typing import TYPE_CHECKING, Annotated

import typer
from rich.table import Table

from tamis.cli import options
from tamis.cli.errors import EXIT_WRONG, bad_input_reported
from tamis.cli.lab_spark import HERE, Master, spark_of
from tamis.cli.local_spark import read_subscribed, read_table
from tamis.cli.output import print_json, stdout
from tamis.cli.settings import load
from tamis.cli.tables.source import Format
from tamis.lab.experiment import DEFAULT_SEED

if TYPE_CHECKING:
    from tamis.lab.spark.verifying import Verdict


def verify(
    events: Annotated[
        list[str], typer.Option("--events", "-e", metavar="FILE", help="Files or folders; may be repeated.")
    ],
    subscriptions: Annotated[
        str, typer.Option("--subscriptions", "-s", metavar="FILE", help="A table, or the path of compiled ones.")
    ],
    events_format: Annotated[
        Format | None,
        typer.Option(metavar="FORMAT", help="csv, jsonl or parquet. Default: by suffix.", show_default=False),
    ] = None,
    sample: Annotated[int, typer.Option(min=1, help="Events that are looked at, drawn by chance.")] = 200,
    seed: Annotated[int, typer.Option(min=0, help="The same seed draws the same events.")] = DEFAULT_SEED,
    master: Master = None,
    progress: options.Progress = None,
    as_json: options.Json = False,
) -> None:
    """Match some events on Spark, ask every condition about each of them by brute force, and compare; exit code 1 if
    both do not agree on every pair.

    `$ tamis lab verify --events day.parquet --subscriptions rules.csv --sample 500`
    """
    with bad_input_reported():
        mode = load(progress=options.progress_mode(progress)).progress
        with spark_of("lab verify", master or HERE, mode) as session:
            from tamis.lab.spark.verifying import verify as run

            told = read_table(session.spark, events, events_format)
            asked = read_subscribed(session.spark, subscriptions)
            with session.shown("verify"):
                verdict = run(told, asked, sample, seed)
    if as_json:
        print_json(verdict)
    else:
        _print(verdict)
    if not verdict.is_right:
        raise typer.Exit(EXIT_WRONG)


def _print(verdict: "Verdict") -> None:
    console = stdout()
    what = f"{verdict.events:,} events, {verdict.subscriptions:,} subscriptions, {verdict.pairs:,} matches"
    if verdict.rejected:
        what += f", {verdict.rejected:,} conditions refused"
    if verdict.is_right:
        console.print(f"{what}: the index finds all of them, and nothing else", markup=False)
        return
    console.print(f"{what}: the index misses {verdict.missing:,}, and finds {verdict.extra:,} too many", markup=False)
    table = Table("subscription", "condition", "event", "found", "expected")
    for each in verdict.differences:
        cells = (each.subscription_id, each.condition, each.event, each.found, each.expected)
        table.add_row(*(str(cell) for cell in cells))
    console.print(table)
