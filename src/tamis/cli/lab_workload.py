"""`tamis lab workload`: a workload as Parquet files."""

from pathlib import Path
from typing import Annotated, Final

import msgspec
import typer

from tamis.cli import options
from tamis.cli.errors import InputError, bad_input_reported, one_line, unknown
from tamis.cli.lab_spark import HERE, Master, OnSpark, spark_of
from tamis.cli.output import progress_bars, remark
from tamis.cli.settings import Settings, load
from tamis.lab.experiment import DEFAULT_SEED
from tamis.lab.workloads import WorkloadSpec, workloads
from tamis.lab.workloads.blocks import blocks, event_schema
from tamis.lab.workloads.writing import EVENT_FILE, SUBSCRIPTION_FILE, write_workload

#: Files into which Spark writes a table, at most.
_FILES: Final = 32


def workload(
    name: Annotated[str, typer.Argument(metavar="NAME", help="A workload of the lab, such as market.")],
    out: Annotated[Path, typer.Option(metavar="DIR", help="Where to write; made if it is not there.")],
    subscriptions: Annotated[int, typer.Option("--subscriptions", "-n", min=1, help="How many.")] = 10_000,
    events: Annotated[int, typer.Option("--events", "-e", min=1, help="How many.")] = 10_000,
    seed: Annotated[int, typer.Option(min=0, help="The same seed gives the same workload.")] = DEFAULT_SEED,
    on_spark: OnSpark = False,
    master: Master = None,
    progress: options.Progress = None,
) -> None:
    """Write a workload: DIR/subscriptions.parquet with **id** and **condition**, DIR/events.parquet with **event_id**.

    It is drawn in blocks with seeds of their own, so it may be of any size, and Spark draws the same rows on many
    machines; there, both are folders.

    `$ tamis lab workload market --out market --subscriptions 1000000 --events 10000000 --spark`
    """
    with bad_input_reported():
        settings = load(progress=options.progress_mode(progress))
        specs = workloads()
        if name not in specs:
            raise unknown("workload", name, specs)
        spec = msgspec.structs.replace(specs[name], subscriptions=subscriptions, events=events)
        paths = out / SUBSCRIPTION_FILE, out / EVENT_FILE
        for path in paths:
            if path.exists():
                raise InputError(f"{path}: is there already")
        try:
            event_schema(spec, seed)
        except ValueError as error:
            raise InputError(f"workload {name!r}: {error}") from None
        try:
            if on_spark or master is not None:
                _write_on_spark(spec, seed, paths, master or HERE, settings)
            else:
                with progress_bars(settings.progress) as bars:
                    write_workload(spec, seed, out, bars(name))
        except OSError as error:
            raise InputError(f"{out}: cannot be written: {one_line(error)}") from None
    remark(f"written: {', '.join(map(str, paths))}")


def _write_on_spark(spec: WorkloadSpec, seed: int, paths: tuple[Path, Path], master: str, settings: Settings) -> None:
    with spark_of("lab workload", master, settings.progress) as session:
        from tamis.lab.spark.tables import event_table, subscription_table

        makers = (subscription_table, spec.subscriptions), (event_table, spec.events)
        for path, (make, count), unit in zip(paths, makers, ("subscriptions", "events"), strict=True):
            table = make(session.spark, spec, seed, min(_FILES, blocks(count)))
            with session.shown(unit, count, unit):
                # Java keeps the folder that it was started in.
                table.write.parquet(str(path.absolute()))
