"""A small local Spark for tests: quick to start, quiet, without a port that others can reach."""

from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from pyspark import SparkContext
from pyspark.sql import SparkSession

from tamis.pipeline.session import decorated

OPTIONS = {"spark.sql.shuffle.partitions": "2", "spark.python.worker.reuse": "true"}


@contextmanager
def spark_session(folder: Path) -> Iterator[SparkSession]:
    """Start Spark with its files under a folder, and stop it and its JVM at the end.

    Where it runs already in this process, that one is given: there is one for all tests that want it.
    """
    running = SparkSession.getActiveSession()
    if running is not None:
        yield running
        return
    builder = SparkSession.builder.master("local[2]").appName("tamis tests")
    session = decorated(builder, folder, brief=True, options=OPTIONS).getOrCreate()
    session.sparkContext.setLogLevel("ERROR")
    gateway = session.sparkContext._gateway
    try:
        yield session
    finally:
        session.stop()
        gateway.shutdown()
        gateway.proc.stdin.close()
        gateway.proc.wait(timeout=60)
        # Otherwise a second session of this process would look for the first one's JVM.
        SparkContext._gateway = SparkContext._jvm = None
