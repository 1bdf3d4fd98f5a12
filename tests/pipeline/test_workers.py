"""What workers of Spark run, and what their garbage collector leaves alone."""

import gc
from contextlib import redirect_stdout
from io import StringIO

import pyarrow as pa
from pyspark.sql import SparkSession

from tamis.pipeline.workers import Batches, by_workers


def test_a_worker_has_everything_looked_at_only_once(spark: SparkSession) -> None:
    def frozen(batches: Batches) -> Batches:
        for _ in batches:
            pass
        yield pa.record_batch({"objects": [gc.get_freeze_count()]})

    before = gc.get_freeze_count()
    counts = spark.range(0, 1, 1, 1).mapInArrow(by_workers(frozen, "count what is frozen"), "objects long")
    for _ in range(8):
        # A task may be given to another worker than the one before.
        counts.collect()
    assert counts.collect()[0][0] > 1000
    assert gc.get_freeze_count() == before
    shown = StringIO()
    with redirect_stdout(shown):
        counts.explain()
    assert "count what is frozen" in shown.getvalue()
