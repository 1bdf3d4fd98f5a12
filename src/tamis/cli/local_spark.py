"""A Spark on this machine for one command, and how far its jobs are."""

import tempfile
import threading
import time
import warnings
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, Final

import typer

from tamis.cli.errors import EXIT_WRONG, InputError
from tamis.cli.output import Bar, progress_bars, remark
from tamis.cli.pipeline import need_spark
from tamis.cli.settings import ProgressMode
from tamis.cli.tables.source import Format, format_by_suffix

if TYPE_CHECKING:
    from pyspark.sql import DataFrame, SparkSession

Cores = Annotated[int | None, typer.Option("--cores", min=1, help="Cores that Spark uses. Default: all.")]
Memory = Annotated[str, typer.Option("--memory", metavar="SIZE", help="Memory that Java may use.")]

#: Java's memory unless told otherwise.
MEMORY: Final = "4g"
#: Bytes of a file that one task reads: few enough for a bar that moves.
_TASK_BYTES: Final = 16 << 20
#: Tasks of a stage that does not read files: Spark's 200 are for clusters, and each has its price.
_TASKS: Final = 8
#: Seconds between two looks at how far Spark is.
_INTERVAL: Final = 0.5


@contextmanager
def local_spark(name: str, cores: int | None, memory: str, progress: ProgressMode) -> Iterator["Watched"]:
    """Start Spark for a command, and stop it afterwards; what goes wrong in it is one line and exit code 1.

    What is wrong with the input, which Tamis raises as a `ValueError` or because a file is not there, is bad input.
    """
    need_spark()
    from pyspark.errors import AnalysisException
    from pyspark.sql import SparkSession

    from tamis.pipeline.job.failures import FAILURES, one_line
    from tamis.pipeline.job.session import hushed
    from tamis.pipeline.session import decorated

    # What stands in a source file is of no interest to whoever reads a warning here.
    warnings.formatwarning = lambda message, *_, **__: f"{message}\n"
    with tempfile.TemporaryDirectory(prefix="tamis-", ignore_cleanup_errors=True) as folder:
        builder = SparkSession.builder.master(f"local[{cores or '*'}]").appName(f"tamis {name}")
        options = {
            "spark.driver.memory": memory,
            "spark.sql.files.maxPartitionBytes": str(_TASK_BYTES),
            "spark.sql.shuffle.partitions": str(_TASKS),
        }
        running = SparkSession.getActiveSession()
        spark = running or decorated(builder, folder, options=hushed(Path(folder), brief=False) | options).getOrCreate()
        try:
            with progress_bars(progress) as bars:
                yield Watched(spark, bars)
        except AnalysisException as error:
            raise InputError(one_line(error)) from None
        except InputError:
            raise
        except (ValueError, FileNotFoundError) as error:
            raise InputError(str(error)) from None
        except FAILURES as error:
            remark(f"tamis: {one_line(error)}")
            raise typer.Exit(EXIT_WRONG) from None
        finally:
            if running is None:
                spark.stop()


class Watched:
    """Spark, and bars for what it does."""

    def __init__(self, spark: "SparkSession", bars: Any) -> None:
        self.spark = spark
        self._bars = bars

    @contextmanager
    def shown(self, text: str, things: int | None = None, unit: str = "") -> Iterator[None]:
        """Show how far the jobs of this block are: tasks, and things a second where it is known how many there are.

        Rates are of the stage with most tasks: that is the one which reads.
        """
        bar = self._bars(text)
        done = threading.Event()
        watcher = threading.Thread(target=self._watch, args=(bar, done, text, things, unit), daemon=True)
        watcher.start()
        try:
            yield
        finally:
            done.set()
            watcher.join()
        bar(1, 1)

    def _watch(self, bar: Bar, done: threading.Event, text: str, things: int | None, unit: str) -> None:
        tracker = self.spark.sparkContext.statusTracker()
        started: dict[int, float] = {}
        while not done.wait(_INTERVAL):
            stages = [tracker.getStageInfo(stage) for stage in tracker.getActiveStageIds()]
            known = [stage for stage in stages if stage is not None]
            if not known:
                continue
            largest = max(known, key=lambda stage: stage.numTasks)
            begun = started.setdefault(largest.stageId, time.monotonic())
            bar(largest.numCompletedTasks, largest.numTasks)
            elapsed = time.monotonic() - begun
            # What a stage did before it was seen first took nobody knows how long.
            if things is not None and largest.numCompletedTasks and elapsed >= _INTERVAL:
                share = largest.numCompletedTasks / largest.numTasks
                bar.describe(f"{text}, {things * share / elapsed:,.0f} {unit}/s")


def read_table(spark: "SparkSession", files: list[str], given: Format | None) -> "DataFrame":
    """Read events from files or folders: CSV with a header, JSON lines, or Parquet, which a folder is unless told."""
    formats = {given or _format(file) for file in files}
    if len(formats) != 1:
        raise InputError(f"files are of one format, not {' and '.join(sorted(formats))}")
    for file in files:
        if "://" not in file and not Path(file).exists() and not any(mark in file for mark in "*?["):
            raise InputError(f"{file}: there is no such file")
    # Java keeps the folder that it was started in.
    files = [file if "://" in file else str(Path(file).absolute()) for file in files]
    match formats.pop():
        case Format.CSV:
            return spark.read.options(header=True, inferSchema=True, escape='"').csv(files)
        case Format.JSONL:
            return spark.read.json(files)
    return spark.read.parquet(*files)


def read_subscribed(spark: "SparkSession", file: str) -> "DataFrame | Path":
    """Return subscriptions of a file, or the path of compiled ones."""
    from tamis.pipeline.job.settings import Subscriptions
    from tamis.pipeline.job.sources import read_subscriptions
    from tamis.pipeline.store import Store

    path = Path(file)
    if path.is_dir():
        try:
            Store(path).current()
        except FileNotFoundError:
            pass
        else:
            return path
    if not path.exists():
        raise InputError(f"{file}: there is no such file")
    format_ = _format(file)
    named = "json" if format_ is Format.JSONL else str(format_)
    return read_subscriptions(spark, Subscriptions(named, str(path.absolute())))


def _format(file: str) -> Format:
    return Format.PARQUET if Path(file).is_dir() else format_by_suffix(file)
