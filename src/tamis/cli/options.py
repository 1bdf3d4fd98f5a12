"""Options that several commands share."""

from typing import Annotated

import typer

from tamis.cli.settings import MAX_BATCH_ROWS

Engine = Annotated[str | None, typer.Option("--engine", metavar="NAME", help="Matching engine, or auto.")]
BatchRows = Annotated[
    int | None, typer.Option("--batch-rows", min=1, max=MAX_BATCH_ROWS, help="Events matched at a time.")
]
Progress = Annotated[
    bool | None,
    typer.Option(
        "--progress/--no-progress",
        help="Always or never draw progress bars. Default: on a terminal.",
        show_default=False,
    ),
]
Json = Annotated[bool, typer.Option("--json", help="Print JSON instead of a table.")]


def progress_mode(forced: bool | None) -> str | None:
    """Return the setting that the --progress flag stands for."""
    return None if forced is None else "always" if forced else "never"
