"""`tamis demo`: market alerts, from conditions to one match explained."""

from typing import Annotated, Final

import msgspec
import typer
from rich.console import Console
from rich.table import Table
from rich.text import Text

from tamis.cli import options
from tamis.cli.demo_run import Demo, DemoResult, Example
from tamis.cli.errors import EXIT_WRONG, bad_input_reported
from tamis.cli.output import print_json, remark, stdout
from tamis.cli.settings import load
from tamis.lab.experiment import DEFAULT_SEED

#: Small enough for a few seconds with the slowest engine.
SUBSCRIPTIONS: Final = 2_000
EVENTS: Final = 20_000


def demo(
    subscriptions: Annotated[int, typer.Option(min=1, help="Alert conditions.")] = SUBSCRIPTIONS,
    events: Annotated[int, typer.Option(min=1, help="Market events.")] = EVENTS,
    seed: Annotated[int, typer.Option(min=0, help="The same seed gives the same market.")] = DEFAULT_SEED,
    engine: options.Engine = None,
    progress: options.Progress = None,
    as_json: options.Json = False,
) -> None:
    """Watch a market: thousands of alert conditions, a stream of events, every match found and one explained.

    A sample of the answers is checked against the reference; a wrong one makes the exit code 1.
    """
    with bad_input_reported():
        settings = load(engine=engine, progress=options.progress_mode(progress))
        result = Demo(subscriptions, events, seed, settings).run()
    if as_json:
        print_json(result)
    else:
        _print(result)
    if result.wrong_events:
        remark(f"tamis: {result.wrong_events} of {result.checked_events} checked answers are wrong")
        raise typer.Exit(EXIT_WRONG)


def _print(result: DemoResult) -> None:
    console = stdout()
    console.print(
        f"[bold]{result.events:,}[/] market events met [bold]{result.subscriptions:,}[/] alert conditions: "
        f"[bold]{result.matches:,}[/] matches in {result.seconds:.1f} s, "
        f"[bold]{result.events_per_second:,.0f}[/] events/s (engine {result.engine})."
    )
    console.print(
        f"{result.checked_events - result.wrong_events} of {result.checked_events} sampled events got exactly "
        "the answer of the reference evaluator.\n"
    )
    table = Table("alert", "condition", title="Busiest alerts", title_justify="left")
    table.add_column("matches", justify="right")
    for alert in result.busiest:
        table.add_row(Text(str(alert.id)), Text(alert.condition), f"{alert.matches:,}")
    console.print(table)
    if result.example is not None:
        _print_example(console, result.example)


def _print_example(console: Console, example: Example) -> None:
    event = msgspec.json.encode(example.event).decode()
    console.print("\n[bold]Why one of them matched[/]")
    for line in (f"event  {event}", f"alert  {example.id}: {example.condition}", example.explained):
        console.print(line, markup=False, soft_wrap=True)
