"""The Spark of `tamis lab`: on this machine, a cluster's, or a Connect server's."""

import os
import re
import socket
import sys
from collections.abc import Iterator
from contextlib import AbstractContextManager, contextmanager, nullcontext
from typing import TYPE_CHECKING, Annotated, Final
from urllib.parse import urlsplit

import typer

from tamis.cli.errors import InputError
from tamis.cli.errors import one_line as said
from tamis.cli.local_spark import MEMORY, local_spark
from tamis.cli.pipeline import need_spark
from tamis.cli.settings import ProgressMode

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

    from tamis.cli.local_spark import Watched

OnSpark = Annotated[bool, typer.Option("--spark", help="Run it on Spark.")]
Master = Annotated[
    str | None,
    typer.Option(
        metavar="URL",
        help="Which Spark: local[4], spark://… or, for Connect, sc://… Default: local[*]. Goes with --spark.",
        show_default=False,
    ),
]

#: All cores of this machine.
HERE: Final = "local[*]"
#: Where servers of Connect listen, and seconds in which one answers.
_PORT: Final = 15002
_PATIENCE: Final = 10.0
_LOCAL: Final = re.compile(r"local(?:\[(\d+|\*)\])?")


class Session:
    """A Spark and, where it tells, how far its jobs are."""

    def __init__(self, watched: "Watched", tells: bool) -> None:
        self._watched = watched
        self._tells = tells

    @property
    def spark(self) -> "SparkSession":
        """The session."""
        return self._watched.spark

    def shown(self, text: str, things: int | None = None, unit: str = "") -> AbstractContextManager[None]:
        """Show how far the jobs of a block are."""
        return self._watched.shown(text, things, unit) if self._tells else nullcontext()


@contextmanager
def spark_of(name: str, master: str, progress: ProgressMode) -> Iterator[Session]:
    """Give the Spark of a command, and stop it afterwards; what goes wrong in it is one line, as in `local_spark`."""
    need_spark()
    if local := _LOCAL.fullmatch(master):
        cores = None if local[1] == "*" else int(local[1] or 1)
        with local_spark(name, cores, MEMORY, progress) as watched:
            yield Session(watched, tells=True)
        return
    is_client = master.startswith("sc://")
    session = _joined(name, master, is_client)
    try:
        # It takes the session that is there.
        with local_spark(name, None, MEMORY, progress) as watched:
            yield Session(watched, tells=not is_client)
    finally:
        session.stop()


def _joined(name: str, master: str, is_client: bool) -> "SparkSession":
    from pyspark.sql import SparkSession

    from tamis.pipeline.job.failures import FAILURES, one_line

    if is_client:
        _reach(master)
    # Workers run the first python3 on the path unless this tells otherwise.
    os.environ.setdefault("PYSPARK_PYTHON", sys.executable)
    builder = SparkSession.builder.appName(f"tamis {name}").config("spark.sql.session.timeZone", "UTC")
    try:
        return (builder.remote(master) if is_client else builder.master(master)).getOrCreate()
    except FAILURES as error:
        raise InputError(f"{master}: {one_line(error)}") from None


def _reach(url: str) -> None:
    """See that somebody listens: a client of Connect would try for minutes, and say nothing."""
    place = urlsplit(url)
    try:
        socket.create_connection((place.hostname or "", place.port or _PORT), _PATIENCE).close()
    except (OSError, ValueError) as error:
        raise InputError(f"{url}: cannot be reached: {said(error)}") from None
