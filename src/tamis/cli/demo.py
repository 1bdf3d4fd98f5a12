"""`tamis demo`: market alerts, from conditions to one match explained, in one index and through five brokers."""

from typing import Annotated, Final

import msgspec
import typer
from rich.console import Console
from rich.table import Table
from rich.text import Text

from tamis.cli import options
from tamis.cli.demo_overlay import OverlayResult
from tamis.cli.demo_run import Demo, DemoResult, Example
from tamis.cli.demo_show import LiveShow, PlainShow, Show
from tamis.cli.errors import EXIT_WRONG, bad_input_reported
from tamis.cli.output import print_json, remark, stdout
from tamis.cli.pipeline_sample import run_sample
from tamis.cli.settings import ProgressMode, load
from tamis.lab.experiment import DEFAULT_SEED

#: Small enough for a few seconds with the slowest engine, and for half a minute with brokers.
SUBSCRIPTIONS: Final = 2_000
EVENTS: Final = 4_000


def demo(
    subscriptions: Annotated[int, typer.Option(min=1, help="Alert conditions.")] = SUBSCRIPTIONS,
    events: Annotated[int, typer.Option(min=1, help="Market events.")] = EVENTS,
    seed: Annotated[int, typer.Option(min=0, help="The same seed gives the same market.")] = DEFAULT_SEED,
    overlay: Annotated[
        bool, typer.Option("--overlay/--no-overlay", help="Send the events through five brokers as well.")
    ] = True,
    spark: Annotated[bool, typer.Option("--spark", help="Run the sample pipeline on a local Spark as well.")] = False,
    engine: options.Engine = None,
    progress: options.Progress = None,
    as_json: options.Json = False,
) -> None:
    """Watch a market: thousands of alert conditions, a stream of events, every match found and one explained.

    First one index in this process finds all matches. Then five brokers are started, each a process, with links
    between them; alerts are placed at all five, events are published at all five, and every alert is delivered to
    where it was placed. In addition some subscribers are told only when a price has moved by half since they were
    told last. With **--spark**, the sample of `tamis pipeline init` runs on Spark, too.

    A sample of the answers is checked against the reference, and all deliveries against the index; a wrong one makes
    the exit code 1. Everything that was started is stopped at the end.
    """
    with bad_input_reported():
        settings = load(engine=engine, progress=options.progress_mode(progress))
        made = Demo(subscriptions, events, seed, settings)
        result = made.run()
        if overlay:
            result = made.through_brokers(result, _show(as_json, settings.progress))
        if spark:
            result = msgspec.structs.replace(result, pipeline=run_sample(remark))
    if as_json:
        print_json(result)
    else:
        _print(result)
    if result.wrong_events:
        remark(f"tamis: {result.wrong_events} of {result.checked_events} checked answers are wrong")
        raise typer.Exit(EXIT_WRONG)
    if result.overlay is not None and (result.overlay.missing or result.overlay.extra):
        remark(f"tamis: {result.overlay.missing} deliveries are missing, {result.overlay.extra} are wrong")
        raise typer.Exit(EXIT_WRONG)


def _show(as_json: bool, progress: ProgressMode) -> Show:
    console = stdout()
    if as_json:
        return Show()
    return LiveShow(console) if console.is_terminal and progress != "never" else PlainShow(console)


def _print(result: DemoResult) -> None:
    console = stdout()
    console.print(
        f"[bold]{result.events:,}[/] market events met [bold]{result.subscriptions:,}[/] alert conditions: "
        f"[bold]{result.matches:,}[/] matches in {result.seconds:.1f} s, "
        f"[bold]{result.events_per_second:,.0f}[/] events/s (engine {result.engine})."
    )
    console.print(
        f"{result.checked_events - result.wrong_events} of {result.checked_events} sampled events got exactly "
        "the answer of the reference evaluator."
    )
    if result.overlay is not None:
        _print_overlay(console, result.overlay)
    if result.pipeline is not None:
        done = result.pipeline
        console.print(
            f"On Spark, the sample pipeline had [bold]{done.answers:,}[/] answers for [bold]{done.events:,}[/] events "
            f"and {done.subscriptions:,} conditions, in {done.batches:,} batches."
        )
    console.print()
    table = Table("alert", "condition", title="Busiest alerts", title_justify="left")
    table.add_column("matches", justify="right")
    for alert in result.busiest:
        table.add_row(Text(str(alert.id)), Text(alert.condition), f"{alert.matches:,}")
    console.print(table)
    if result.example is not None:
        _print_example(console, result.example)


def _print_overlay(console: Console, overlay: OverlayResult) -> None:
    right = "exactly those of the index" if not (overlay.missing or overlay.extra) else "[bold red]not[/] those"
    console.print(
        f"Through [bold]{overlay.brokers}[/] brokers with {overlay.links} links, the same events made "
        f"[bold]{overlay.deliveries:,}[/] deliveries in {overlay.seconds:.1f} s "
        f"({overlay.deliveries / overlay.seconds:,.0f}/s): {right}."
    )
    console.print(
        f"Watchers of five sectors were told [bold]{overlay.notifications:,}[/] times of {overlay.watched:,} prices: "
        "whenever one had moved by half."
    )


def _print_example(console: Console, example: Example) -> None:
    event = msgspec.json.encode(example.event).decode()
    console.print("\n[bold]Why one of them matched[/]")
    for line in (f"event  {event}", f"alert  {example.id}: {example.condition}", example.explained):
        console.print(line, markup=False, soft_wrap=True)
