"""`tamis match`: which subscriptions does each event of a file meet?"""

import sys
from enum import StrEnum
from pathlib import Path
from typing import Annotated

import typer

from tamis.cli import options
from tamis.cli.errors import InputError, bad_input_reported
from tamis.cli.match_job import MatchJob
from tamis.cli.output import remark
from tamis.cli.settings import load
from tamis.cli.tables.pairs import Destination
from tamis.cli.tables.rejects import Rejects
from tamis.cli.tables.source import Format, Source, format_by_suffix


class Shown(StrEnum):
    """How pairs are shown on standard output."""

    TABLE = "table"
    CSV = "csv"
    JSONL = "jsonl"


def match(
    subscriptions: Annotated[
        str,
        typer.Option("--subscriptions", "-s", metavar="FILE", help="Table with the columns id and condition."),
    ],
    events: Annotated[
        str, typer.Option("--events", "-e", metavar="FILE", help="Table of events; - is standard input.")
    ],
    subscriptions_format: Annotated[
        Format | None,
        typer.Option(metavar="FORMAT", help="csv, jsonl or parquet. Default: by suffix.", show_default=False),
    ] = None,
    events_format: Annotated[
        Format | None,
        typer.Option(metavar="FORMAT", help="As above. Default for standard input: jsonl.", show_default=False),
    ] = None,
    out: Annotated[
        Path | None,
        typer.Option("--out", "-o", metavar="FILE", help="Write the pairs to a .parquet, .csv or .jsonl file."),
    ] = None,
    shown: Annotated[
        Shown | None,
        typer.Option("--format", help="On standard output: a table on a terminal, otherwise csv.", show_default=False),
    ] = None,
    as_json: Annotated[bool, typer.Option("--json", help="The same as --format jsonl.")] = False,
    rejects: Annotated[
        Path | None,
        typer.Option(metavar="FILE", help="Where refused rows go, as JSON lines. Default: OUT.rejects.jsonl."),
    ] = None,
    strict: Annotated[bool, typer.Option("--strict", help="Let the first refused row end the command.")] = False,
    engine: options.Engine = None,
    batch_rows: options.BatchRows = None,
    progress: options.Progress = None,
) -> None:
    """Match a table of events against a table of conditions: one row of output per match.

    Tables are CSV, JSON lines or Parquet. Events have any columns. Subscriptions have an **id** (all
    integers or all strings) and a **condition**. The output pairs the **row** of the event, counted
    from 1 without the header, with the **id** of the subscription.

    A condition that does not parse, a subscription without id and an event that cannot be read are rejected:
    counted, kept in the rejects file with their reason, and the rest goes on. A file that is not what it
    should be ends the command with one line on standard error and exit code 2, and nothing is written.

    Types: CSV columns are typed by all their values, an empty field is null. JSON has no dates: its strings
    stay strings.

    `$ tamis match -s rules.csv -e day.parquet -o alerts.parquet`
    """
    with bad_input_reported():
        settings = load(engine=engine, batch_rows=batch_rows, progress=options.progress_mode(progress))
        job = MatchJob(
            subscriptions=Source.of(subscriptions, subscriptions_format),
            events=Source.of(events, events_format),
            destination=Destination(out, _format(out, shown, as_json), held_back=strict),
            rejects=Rejects(strict=strict),
            rejects_file=rejects,
            settings=settings,
        )
        if job.subscriptions.is_stdin and job.events.is_stdin:
            raise InputError("only one of --subscriptions and --events can be standard input")
        summary = job.run()
    for line in job.rejects.lines():
        remark(line)
    remark(str(summary))


def _format(out: Path | None, shown: Shown | None, as_json: bool) -> Format | None:
    """Return the format of the output; None is a table on the screen."""
    if out is not None:
        return format_by_suffix(str(out))
    if shown is None:
        shown = Shown.JSONL if as_json else Shown.TABLE if sys.stdout.isatty() else Shown.CSV
    return None if shown is Shown.TABLE else Format(shown.value)
