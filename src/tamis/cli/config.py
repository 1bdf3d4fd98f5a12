"""`tamis config`: what is set, and by whom?"""

import typer
from rich.table import Table

from tamis.cli import options
from tamis.cli.errors import bad_input_reported
from tamis.cli.output import print_json, stdout
from tamis.cli.settings import Settings, explained

app = typer.Typer(no_args_is_help=True, help="Show the settings in force.")


@app.callback()
def config() -> None:
    """Show the settings in force."""


@app.command()
def show(
    engine: options.Engine = None,
    batch_rows: options.BatchRows = None,
    progress: options.Progress = None,
    as_json: options.Json = False,
) -> None:
    """Print every setting, its value and where the value came from.

    The file tamis.toml in the current folder is overridden by the environment (TAMIS_ENGINE,
    TAMIS_BATCH_ROWS, …), and that by flags.
    """
    with bad_input_reported():
        settings = explained(engine=engine, batch_rows=batch_rows, progress=options.progress_mode(progress))
    if as_json:
        print_json({setting.name: {"value": setting.value, "origin": setting.origin} for setting in settings})
        return
    table = Table("setting", "value", "from", "what it is")
    for setting in settings:
        description = Settings.model_fields[setting.name].description
        table.add_row(setting.name, str(setting.value), setting.origin, description)
    stdout().print(table)
