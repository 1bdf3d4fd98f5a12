"""`tamis replay`: what would a condition have given?"""

from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

import tamis
from tamis.cli import options
from tamis.cli.errors import InputError, bad_input_reported
from tamis.cli.local_spark import MEMORY, Cores, Memory, Watched, local_spark, read_subscribed, read_table
from tamis.cli.output import print_json, remark
from tamis.cli.replay_plot import plot_difference, plot_replay
from tamis.cli.replay_show import Differences, Replayed, print_differences, print_replayed
from tamis.cli.settings import load
from tamis.cli.tables.source import Format, format_by_suffix

if TYPE_CHECKING:
    from pyspark.sql import DataFrame


def replay(
    condition: Annotated[str | None, typer.Argument(metavar="CONDITION", help="One condition.")] = None,
    events: Annotated[
        list[str] | None,
        typer.Option("--events", "-e", metavar="FILE", help="The history: files or folders; may be repeated."),
    ] = None,
    events_format: Annotated[
        Format | None,
        typer.Option(metavar="FORMAT", help="csv, jsonl or parquet. Default: by suffix.", show_default=False),
    ] = None,
    subscriptions: Annotated[
        str | None,
        typer.Option("--subscriptions", "-s", metavar="FILE", help="A whole set of candidates instead of one."),
    ] = None,
    diff: Annotated[
        tuple[str, str] | None,
        typer.Option(metavar="OLD NEW", help="Who gains and who loses what from one set to another."),
    ] = None,
    time: Annotated[
        str | None, typer.Option(metavar="COLUMN", help="The column that says when: matches are counted by day.")
    ] = None,
    against: Annotated[
        str | None, typer.Option(metavar="FILE", help="Existing subscriptions: who gets the same events already?")
    ] = None,
    examples: Annotated[int, typer.Option(min=0, help="Events shown of each condition.")] = 3,
    top: Annotated[int, typer.Option(min=1, help="Existing subscriptions shown of each condition.")] = 10,
    plot: Annotated[Path | None, typer.Option(metavar="FILE", help="Draw the days into an .svg file.")] = None,
    cores: Cores = None,
    memory: Memory = MEMORY,
    progress: options.Progress = None,
    as_json: options.Json = False,
) -> None:
    """Match a history of events against conditions that do not exist yet, and say what they would have given.

    For each condition: how many events on each day, some of them, and which existing subscriptions get the same ones.
    Subscriptions are .csv, .jsonl or .parquet tables with **id** and **condition**, or the path of compiled ones. It
    runs on Spark on this machine.

    `$ tamis replay "price > 10" --events year.parquet --time ts --against rules.csv --plot days.svg`

    `$ tamis replay --subscriptions candidates.csv --events 2026/ --json`

    `$ tamis replay --diff rules.csv new-rules.csv --events year.parquet`
    """
    with bad_input_reported():
        _check(condition, events, subscriptions, diff, against, time, plot)
        assert events is not None
        mode = load(progress=options.progress_mode(progress)).progress
        with local_spark("replay", cores, memory, mode) as watched:
            history = read_table(watched.spark, events, events_format)
            count = _counted(watched, history, events, events_format)
            if diff is not None:
                _diff(watched, history, count, diff, time, examples, plot, as_json)
                return
            from tamis.pipeline.replaying import replay as run

            given = condition if condition is not None else read_subscribed(watched.spark, str(subscriptions))
            existing = None if against is None else read_subscribed(watched.spark, against)
            with watched.shown("replay", count, "events"):
                found = run(history, given, time=time, against=existing, examples=examples, top=top)
                told = Replayed.of(found)
            if found.rejected:
                remark(f"{found.rejected:,} conditions are refused: tamis match --rejects tells why")
            if plot is not None:
                plot.write_bytes(plot_replay(told))
                remark(f"wrote {plot}")
            if as_json:
                print_json(told)
            else:
                print_replayed(told)


def _diff(
    watched: Watched,
    history: "DataFrame",
    count: int | None,
    sets: tuple[str, str],
    time: str | None,
    examples: int,
    plot: Path | None,
    as_json: bool,
) -> None:
    from tamis.pipeline.differing import diff as run

    old, new = (read_subscribed(watched.spark, each) for each in sets)
    with watched.shown("diff", count, "events"):
        told = Differences.of(run(old, new, history, time=time, examples=examples))
    if plot is not None:
        plot.write_bytes(plot_difference(told))
        remark(f"wrote {plot}")
    if as_json:
        print_json(told)
    else:
        print_differences(told)


def _check(
    condition: str | None,
    events: list[str] | None,
    subscriptions: str | None,
    diff: tuple[str, str] | None,
    against: str | None,
    time: str | None,
    plot: Path | None,
) -> None:
    if [condition, subscriptions, diff].count(None) != 2:
        raise InputError("give one condition, or --subscriptions FILE, or --diff OLD NEW")
    if not events:
        raise InputError("give the history with --events FILE")
    if diff is not None and against is not None:
        raise InputError("--against is for conditions that do not exist yet, not for --diff")
    if condition is not None:
        try:
            tamis.parse(condition)
        except tamis.ExpressionError as error:
            raise InputError(f"the condition: {error.message}, at character {error.position + 1}") from None
    if plot is not None:
        if plot.suffix.lower() != ".svg":
            raise InputError(f"{plot}: a chart is an .svg file")
        if time is None:
            raise InputError("a chart shows days: name the column that says when with --time COLUMN")


def _counted(watched: Watched, history: "DataFrame", files: list[str], given: Format | None) -> int | None:
    """Return how many events there are, where that costs nothing."""
    is_parquet = given is Format.PARQUET or (
        given is None and all(Path(file).is_dir() or format_by_suffix(file) is Format.PARQUET for file in files)
    )
    if not is_parquet:
        return None
    with watched.shown("count"):
        return int(history.count())
