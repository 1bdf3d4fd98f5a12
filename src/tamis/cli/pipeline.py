"""`tamis pipeline`: match events against subscriptions on Spark, as a file tells."""

import os
import shutil
import signal
import threading
import warnings
from importlib.util import find_spec
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, Final

import typer
from rich.text import Text

from tamis.cli import options
from tamis.cli.errors import EXIT_WRONG, InputError, bad_input_reported
from tamis.cli.output import print_json, remark, stdout

if TYPE_CHECKING:
    from tamis.pipeline.job.checking import Finding
    from tamis.pipeline.job.running import Summary
    from tamis.pipeline.job.settings import Settings

app = typer.Typer(no_args_is_help=True, help="Match events against subscriptions on Spark, as a file tells.")

File = Annotated[Path, typer.Argument(metavar="FILE", help="The job, or the folder of its pipeline.toml.")]
_DEFAULT: Final = Path("pipeline.toml")
_MARKS: Final = {"ok": "green", "warning": "yellow", "error": "red"}


@app.callback()
def pipeline() -> None:
    """Match events against subscriptions on Spark, as a file tells.

    `$ tamis pipeline init alerts && cd alerts`

    `$ tamis pipeline check && tamis pipeline run`
    """


@app.command()
def init(
    folder: Annotated[Path, typer.Argument(metavar="DIR", help="Where to write; made if it is not there.")] = Path(),
) -> None:
    """Write a pipeline.toml that tells all that may be set, with small events and subscriptions: it runs as it is."""
    with bad_input_reported():
        need_spark()
        from tamis.pipeline.job.sample import write_sample

        try:
            files = write_sample(folder)
        except OSError as error:
            raise InputError(str(error)) from None
    for file in files:
        remark(f"wrote {file}")


@app.command()
def check(file: File = _DEFAULT, as_json: options.Json = False) -> None:
    """Say what is wrong with a job before anything runs; exit code 1 if it cannot run.

    Files, columns, conditions (with those that are refused), attributes that no column has, connectors, and whether the
    sink answers.
    """
    with bad_input_reported():
        settings = _loaded(file)
        from tamis.pipeline.job.checking import check_job
        from tamis.pipeline.job.session import start

        spark: list[Any] = []

        def started() -> Any:
            spark.append(start(settings, brief=True))
            return spark[0]

        try:
            checked = check_job(settings, started)
        finally:
            for each in spark:
                each.stop()
    if as_json:
        print_json({"fine": checked.is_fine, "findings": checked.findings})
    else:
        for finding in checked.findings:
            _print(finding)
    if not checked.is_fine:
        raise typer.Exit(EXIT_WRONG)


@app.command()
def run(file: File = _DEFAULT, progress: options.Progress = None, as_json: options.Json = False) -> None:
    """Run a job: all events at once, those that came since the last run, or a stream.

    A stream ends after the batch that it is in when it is told to stop (Ctrl-C, SIGTERM, or a file `batches/stop` in
    the job's folder), and goes on from there the next time.
    """
    with bad_input_reported():
        settings = _loaded(file)
        summary = _run(settings, options.progress_mode(progress) or "auto")
    if as_json:
        print_json(summary)
    else:
        _print_summary(summary)


@app.command()
def package(
    folder: Annotated[Path, typer.Argument(metavar="DIR", help="Where to write.")] = Path("dist"),
    file: Annotated[Path, typer.Option("--job", metavar="FILE", help="The job, for the command.")] = _DEFAULT,
) -> None:
    """Pack Tamis and what it needs for spark-submit, and print the command that runs a job with it.

    For clusters whose machines have the same platform and Python as this one, and nothing else but Spark.
    """
    with bad_input_reported():
        need_spark()
        from tamis.pipeline.job.packaging import package as pack
        from tamis.pipeline.job.packaging import submit_command

        try:
            files = pack(folder)
        except OSError as error:
            raise InputError(str(error)) from None
    for path in files:
        remark(f"wrote {path} ({path.stat().st_size / (1 << 20):,.1f} MiB)")
    typer.echo(submit_command(files, str(file)))


def need_spark() -> None:
    """See that Spark can run here."""
    if find_spec("pyspark") is None:
        raise InputError("the pipeline needs PySpark: pip install 'tamis[spark]'")
    if "JAVA_HOME" not in os.environ and shutil.which("java") is None:
        raise InputError("Spark needs Java 17: there is no java on the path, and JAVA_HOME is not set")


def _loaded(file: Path) -> "Settings":
    need_spark()
    from tamis.pipeline.job.settings import SettingsError, load

    try:
        return load(file)
    except SettingsError as error:
        raise InputError(str(error)) from None


def _run(settings: "Settings", progress: Any) -> "Summary":
    from tamis.cli.pipeline_progress import watching
    from tamis.pipeline.job.failures import FAILURES, one_line
    from tamis.pipeline.job.running import run as run_job
    from tamis.pipeline.job.session import start

    stop = threading.Event()
    # What stands in a source file is of no interest to whoever reads a warning here.
    warnings.formatwarning = lambda message, *_, **__: f"{message}\n"
    spark = start(settings)
    # Spark has a handler of its own for Ctrl-C, which would cancel the batch.
    for number in (signal.SIGINT, signal.SIGTERM):
        signal.signal(number, lambda *_: stop.set())
    try:
        with watching(progress) as watcher:
            return run_job(spark, settings, watcher, stop)
    except FAILURES as error:
        remark(f"tamis: {one_line(error)}")
        raise typer.Exit(EXIT_WRONG) from None
    finally:
        spark.stop()


def _print(finding: "Finding") -> None:
    line = Text.assemble((f"{finding.level:8}", _MARKS[finding.level]), f"{finding.section:14} {finding.text}")
    stdout().print(line, soft_wrap=True)


def _print_summary(summary: "Summary") -> None:
    console = stdout()
    ended = "has done all there is" if summary.ended == "end" else "was stopped"
    console.print(f"[bold]{summary.name}[/] {ended}: {summary.batches:,} batches in {summary.seconds:.1f} s.")
    console.print(
        f"[bold]{summary.events:,}[/] events met [bold]{summary.subscriptions:,}[/] subscriptions "
        f"(version {summary.version}): [bold]{summary.answers:,}[/] answers, {summary.events_per_second:,.0f} events/s."
    )
    if summary.rejected or summary.rejected_subscriptions:
        console.print(
            f"Refused and put aside with their reasons: {summary.rejected:,} records, "
            f"{summary.rejected_subscriptions:,} subscriptions."
        )
    for line in summary.refused:
        console.print(f"  {line}", markup=False, highlight=False, soft_wrap=True)
    if summary.rejected > len(summary.refused):
        console.print(f"  … and {summary.rejected - len(summary.refused):,} more")
