"""`tamis lab`: run the papers' experiments."""

import importlib.util
from pathlib import Path
from typing import Annotated

import typer
from rich.table import Table

from tamis.cli import options
from tamis.cli.errors import InputError, bad_input_reported, one_line, unknown
from tamis.cli.lab_spark import HERE, Master, OnSpark, spark_of
from tamis.cli.lab_verify import verify
from tamis.cli.lab_workload import workload
from tamis.cli.output import print_json, progress_bars, remark, stdout
from tamis.cli.settings import Settings, load
from tamis.lab import report as reports
from tamis.lab.experiment import DEFAULT_SEED, Experiment, Scale
from tamis.lab.registry import all_experiments

app = typer.Typer(no_args_is_help=True, help="Run the papers' experiments: paper, ours, ratio, verdict.")
app.command()(workload)
app.command()(verify)


@app.command("list")
def list_experiments(as_json: options.Json = False) -> None:
    """List the experiments.

    Those with a grid, of what is counted or timed, can run on Spark.
    """
    experiments = all_experiments().values()
    if as_json:
        print_json(
            [{"id": each.id, "title": each.title, "source": each.source, "grid": each.grid} for each in experiments]
        )
        return
    table = Table("id", "title", "source", "grid")
    for each in experiments:
        table.add_row(each.id, each.title, each.source, each.grid or "-")
    stdout().print(table)


@app.command("run")
def run_experiment(
    experiment_id: Annotated[str, typer.Argument(metavar="ID", help="As in `tamis lab list`.")],
    scale: Annotated[Scale, typer.Option(help="How much of the paper's set-up is run.")] = Scale.QUICK,
    seed: Annotated[int, typer.Option(min=0, help="The same seed gives the same workload.")] = DEFAULT_SEED,
    out: Annotated[
        Path | None,
        typer.Option(metavar="DIR", help="Where the results go. Default: the setting results_dir."),
    ] = None,
    on_spark: OnSpark = False,
    master: Master = None,
    progress: options.Progress = None,
    as_json: options.Json = False,
) -> None:
    """Run an experiment and set its numbers beside the paper's.

    Writes ID.json, ID.md and the figure ID.svg; nothing is written when the run fails.

    With --spark, the points of its grid run as tasks of Spark. What is counted is the same there; of times, the result
    says how they were taken.

    `$ tamis lab run 000-density --scale quick`

    `$ tamis lab run 002-S7 --scale full --spark --master spark://host:7077`
    """
    with bad_input_reported():
        settings = load(results_dir=out, progress=options.progress_mode(progress))
        experiments = all_experiments()
        if experiment_id not in experiments:
            raise unknown("experiment", experiment_id, experiments)
        if importlib.util.find_spec("matplotlib") is None:
            raise InputError("the figure needs matplotlib: pip install 'tamis[lab]'")
        if on_spark or master is not None:
            report = _run_on_spark(experiments[experiment_id], scale, seed, master or HERE, settings)
        else:
            with progress_bars(settings.progress) as start_bar:
                report = reports.run(experiments[experiment_id], scale, seed, start_bar(experiment_id))
        try:
            written = reports.write(report, settings.results_dir)
        except OSError as error:
            raise InputError(f"{settings.results_dir}: cannot be written: {one_line(error)}") from None
    if as_json:
        print_json(report)
    else:
        _print(report)
    remark(f"written: {', '.join(str(path) for path in written)}")


def _run_on_spark(experiment: Experiment, scale: Scale, seed: int, master: str, settings: Settings) -> reports.Report:
    if experiment.grid is None:
        raise InputError(f"{experiment.id} has no grid, so it cannot run on Spark; `tamis lab list` tells which have")
    # The bar is of points, and there can be only one.
    with spark_of(f"lab run {experiment.id}", master, "never") as session, progress_bars(settings.progress) as bars:
        from tamis.lab.spark.grid import SparkSpread

        if experiment.grid == "timed":
            remark("tamis: points are timed while others run beside them; without --spark they run alone")
        return reports.run(experiment, scale, seed, bars(experiment.id), SparkSpread(session.spark, master))


def _print(report: reports.Report) -> None:
    table = Table(title=f"{report.experiment}: {report.title}")
    for column in ("", "paper", "ours", "ratio", "verdict"):
        table.add_column(column, justify="right" if column in ("paper", "ours", "ratio") else "left")
    for line in report.lines:
        table.add_row(
            line.label,
            reports.number(line.paper, line.unit),
            reports.number(line.ours, line.unit),
            reports.number(line.ratio),
            line.verdict,
        )
    console = stdout()
    console.print(table)
    for note in report.notes:
        console.print(f"- {note}", markup=False)
    console.print(f"{report.seconds:.1f} s on {report.machine}", markup=False)
