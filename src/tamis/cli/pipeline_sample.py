"""The sample of `tamis pipeline init`, run from beginning to end: for the demonstration."""

import tempfile
import threading
from collections.abc import Callable
from typing import TYPE_CHECKING

from tamis.cli.errors import InputError
from tamis.cli.pipeline import need_spark

if TYPE_CHECKING:
    from tamis.pipeline.job.running import Summary


def run_sample(echo: Callable[[str], None]) -> "Summary | None":
    """Run the sample on a Spark of its own in a temporary folder, and return what it did.

    None, with a remark, if PySpark or Java is not there. It takes about 20 seconds, most of them for Java to start.
    """
    try:
        need_spark()
    except InputError as error:
        echo(f"left out: {error}")
        return None
    from tamis.pipeline.job.moment import Moment
    from tamis.pipeline.job.running import Watcher, run
    from tamis.pipeline.job.sample import write_sample
    from tamis.pipeline.job.session import start
    from tamis.pipeline.job.settings import load

    class Echo(Watcher):
        def say(self, text: str) -> None:
            echo(text)

        def show(self, moment: Moment) -> None:
            echo(str(moment))

    with tempfile.TemporaryDirectory(prefix="tamis-", ignore_cleanup_errors=True) as folder:
        write_sample(folder)
        settings = load(folder)
        spark = start(settings, brief=True)
        try:
            return run(spark, settings, Echo(), threading.Event())
        finally:
            spark.stop()
