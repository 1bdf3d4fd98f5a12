"""The entry point of the `tamis` command."""

import importlib.metadata
from typing import Annotated, Final

import typer

from tamis.cli import bench, config, lab, pipeline, sim, token
from tamis.cli.cover import cover
from tamis.cli.demo import demo
from tamis.cli.explain import explain
from tamis.cli.match import match
from tamis.cli.parse import parse
from tamis.cli.replay import replay
from tamis.cli.serve import pub, serve, sub
from tamis.cli.top import top

FIRST: Final = "See it work"
DAILY: Final = "Match events"
BROKER: Final = "Run a broker"
MEASURE: Final = "Measure"
MANAGE: Final = "Settings"

app = typer.Typer(
    name="tamis",
    no_args_is_help=True,
    rich_markup_mode="markdown",
    # An unexpected failure is a defect of ours: the plain traceback is what a report needs.
    pretty_exceptions_enable=False,
    context_settings={"help_option_names": ["-h", "--help"]},
)


def _print_version(wanted: bool) -> None:
    if wanted:
        typer.echo(f"tamis {importlib.metadata.version('tamis')}")
        raise typer.Exit


@app.callback()
def tamis(
    version: Annotated[
        bool,
        typer.Option("--version", callback=_print_version, is_eager=True, help="Print the version and exit."),
    ] = False,
) -> None:
    """Tamis is a fine sieve for events: every event reaches exactly the subscribers whose condition it meets.

    A condition is what SQL has after WHERE: **symbol = 'ACME' and price between 10 and 20**.

    Results go to standard output, progress and remarks to standard error. Every command that prints a table
    prints JSON with **--json**.

    Exit codes: **0** the command ran, whether or not anything matched; **1** it ran and found itself
    wrong, or was aborted; **2** bad input, one line on standard error, nothing written.

    `$ tamis demo`

    `$ tamis match --subscriptions rules.csv --events day.parquet --out alerts.parquet`
    """


app.command(rich_help_panel=FIRST)(demo)
app.command(rich_help_panel=FIRST)(parse)
app.command(rich_help_panel=FIRST)(explain)
app.command(rich_help_panel=DAILY)(match)
app.command(rich_help_panel=DAILY)(replay)
pipeline.app.command()(cover)
app.add_typer(pipeline.app, name="pipeline", rich_help_panel=DAILY)
app.command(rich_help_panel=BROKER)(serve)
app.command(rich_help_panel=BROKER)(pub)
app.command(rich_help_panel=BROKER)(sub)
app.command(rich_help_panel=BROKER)(top)
app.add_typer(bench.app, name="bench", rich_help_panel=MEASURE)
app.add_typer(token.app, name="token", rich_help_panel=BROKER)
app.add_typer(sim.app, name="sim", rich_help_panel=MEASURE)
app.add_typer(lab.app, name="lab", rich_help_panel=MEASURE)
app.add_typer(config.app, name="config", rich_help_panel=MANAGE)


def run() -> None:
    """Run the command line."""
    app()
