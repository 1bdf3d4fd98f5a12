"""Does the pipeline find exactly what conditions say? Some events, by the index and by brute force."""

import tempfile
from pathlib import Path
from typing import Any, Final

import msgspec
import numpy as np
import pyarrow as pa
from pyspark.sql import DataFrame
from pyspark.sql import functions as F  # noqa: N812 - as everybody writes it

from tamis.lab.spark.oracle import every_pair
from tamis.lab.workloads.spec import DEFAULT_SEED
from tamis.pipeline import compile as compile_
from tamis.pipeline import match
from tamis.pipeline import subscriptions as listed
from tamis.pipeline.schema import ID, declared

#: Events that are looked at unless told otherwise: brute force takes long.
SAMPLE: Final = 200
#: Differences that are shown.
_SHOWN: Final = 5
#: No event has an attribute of this name.
_EVENT: Final = "tamis event"
#: Below every version that a subscription may have.
_NONE: Final = -(1 << 63)


class Difference(msgspec.Struct, frozen=True):
    """A pair on which both do not agree: how often the index finds it, and how often it should."""

    subscription_id: str | int
    condition: str | None
    event: Any
    found: int
    expected: int


class Verdict(msgspec.Struct, frozen=True):
    """How many pairs there are, how many of them the index does not find, and how many it finds beside them."""

    events: int
    subscriptions: int
    rejected: int
    pairs: int
    missing: int
    extra: int
    differences: list[Difference]

    @property
    def is_right(self) -> bool:
        """Whether both agree on every pair."""
        return not self.missing and not self.extra


def verify(
    events: DataFrame, subscriptions: DataFrame | Path, sample: int = SAMPLE, seed: int = DEFAULT_SEED
) -> Verdict:
    """Match some events, drawn by chance, against all subscriptions, and ask every condition about each of them.

    `subscriptions` is a table, which is compiled into a temporary folder, or the path of compiled ones. Of a table, it
    is its own text that is asked. The events pass through the driver.
    """
    drawn = events.orderBy(F.rand(seed)).limit(sample).toArrow()
    told = drawn.append_column(_EVENT, pa.array(np.arange(drawn.num_rows)))
    spark = events.sparkSession
    with tempfile.TemporaryDirectory(prefix="tamis-", ignore_cleanup_errors=True) as folder:
        rejected, path = 0, subscriptions
        if isinstance(path, DataFrame):
            rejected, path = compile_(path, folder).counts.rejected, Path(folder)
        asked = listed(spark, path).select("id", "condition")
        if isinstance(subscriptions, DataFrame):
            asked = _own_texts(subscriptions, asked)
        return _compared(spark.createDataFrame(told), path, asked.persist(), drawn, rejected)


def _own_texts(subscriptions: DataFrame, accepted: DataFrame) -> DataFrame:
    """Return the newest text of each subscription that was accepted."""
    newest = F.max_by("condition", F.coalesce("version", F.lit(_NONE)))
    texts = declared(subscriptions).groupBy("id").agg(newest.alias("condition"))
    return texts.join(accepted, "id", "left_semi")


def _compared(events: DataFrame, path: Path, asked: DataFrame, drawn: pa.Table, rejected: int) -> Verdict:
    found = match(events, path, output="pairs", columns=[_EVENT]).select(F.col(f"`{_EVENT}`"), ID)
    expected = every_pair(events, asked, _EVENT)
    both = found.select("*", F.lit(1).alias("found"), F.lit(0).alias("expected")).unionAll(
        expected.select("*", F.lit(0), F.lit(1))
    )
    pairs = both.groupBy(f"`{_EVENT}`", ID).agg(F.sum("found").alias("found"), F.sum("expected").alias("expected"))
    pairs.persist()
    try:
        less, more = (F.greatest(F.lit(0), F.col(one) - F.col(other)) for one, other in _SIDES)
        sums = pairs.agg(F.sum("expected"), F.sum(less), F.sum(more)).collect()[0]
        total, missing, extra = (int(each or 0) for each in sums)
        differing = pairs.where("found <> expected").join(asked.withColumnRenamed("id", ID), ID, "left")
        rows = differing.orderBy(f"`{_EVENT}`", ID).limit(_SHOWN).collect() if missing or extra else []
        told = [
            Difference(
                row[ID], row["condition"], drawn.slice(row[_EVENT], 1).to_pylist()[0], row["found"], row["expected"]
            )
            for row in rows
        ]
        return Verdict(drawn.num_rows, asked.count(), rejected, total, missing, extra, told)
    finally:
        pairs.unpersist()
        asked.unpersist()


_SIDES: Final = (("expected", "found"), ("found", "expected"))
