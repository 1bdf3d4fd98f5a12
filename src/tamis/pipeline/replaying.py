"""What would conditions have given? One, or a whole set of candidates, over a history of events."""

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Final

from pyspark.sql import DataFrame, Window
from pyspark.sql import functions as F  # noqa: N812 - as everybody writes it

from tamis.pipeline.history import Compiled, counted, stored
from tamis.pipeline.keeping import subscriptions as listed
from tamis.pipeline.tally import ELSEWHERE, EVENTS, EXAMPLE, MATCHES, OVERLAP

#: Events that are shown, and existing subscriptions, for each condition, unless told otherwise.
EXAMPLES: Final = 3
TOP: Final = 10


class Replay:
    """What `replay` has found, as tables, which Spark keeps until `release`."""

    def __init__(
        self, counts: DataFrame, candidates: Compiled, existing: Compiled | None, examples: int, top: int
    ) -> None:
        self._counts = counts
        self._candidates = candidates
        self._existing = existing
        self._examples = examples
        self._top = top
        #: How many events the history has, and how many conditions; those that are none are `rejected`.
        self.events = int(counts.where(F.col("kind") == EVENTS).agg(F.sum("rows")).collect()[0][0] or 0)
        self.conditions = candidates.manifest.subscriptions
        self.rejected = candidates.manifest.counts.rejected if candidates.is_temporary else 0
        #: Whether there are existing subscriptions to share matches with.
        self.is_compared = existing is not None

    @property
    def totals(self) -> DataFrame:
        """For each condition `id`, `condition`, `matches`, and how many of them existing ones get too: `elsewhere`."""
        everyone = listed(self._counts.sparkSession, self._candidates.path, self._candidates.manifest.version)
        sums = self._counts.where(F.col("kind").isin(MATCHES, ELSEWHERE)).groupBy("id")
        found = sums.agg(
            F.sum(F.when(F.col("kind") == MATCHES, F.col("rows")).otherwise(0)).alias("matches"),
            F.sum(F.when(F.col("kind") == ELSEWHERE, F.col("rows")).otherwise(0)).alias("elsewhere"),
        )
        return everyone.select("id", "condition").join(found, "id", "left").fillna(0, ["matches", "elsewhere"])

    @property
    def volume(self) -> DataFrame:
        """For each condition and each `day` with matches, how many; null is the day of events without a time."""
        found = self._counts.where(F.col("kind") == MATCHES).groupBy("id", "day")
        return found.agg(F.sum("rows").alias("matches"))

    @property
    def days(self) -> DataFrame:
        """For each `day` the number of `events` in the history."""
        return self._counts.where(F.col("kind") == EVENTS).groupBy("day").agg(F.sum("rows").alias("events"))

    @property
    def examples(self) -> DataFrame:
        """For each condition some events as JSON, from the first days."""
        return first_of(self._counts, MATCHES, self._examples).select("id", "day", "event")

    @property
    def overlap(self) -> DataFrame:
        """For each condition the existing ones with which it shares most matches: `subscription_id`, `matches`."""
        shared = self._counts.where(F.col("kind") == OVERLAP).groupBy("id", "other").agg(F.sum("rows").alias("matches"))
        turn = F.row_number().over(Window.partitionBy("id").orderBy(F.desc("matches"), "other"))
        most = shared.withColumn("turn", turn).where(F.col("turn") <= self._top)
        return most.select("id", F.col("other").alias("subscription_id"), "matches")

    def release(self) -> None:
        """Let Spark forget the tables, and remove what was compiled for them."""
        self._counts.unpersist()
        self._candidates.remove()
        if self._existing is not None:
            self._existing.remove()


def replay(
    history: DataFrame,
    conditions: str | Mapping[str, str] | DataFrame | Path,
    *,
    time: str | None = None,
    against: DataFrame | Path | None = None,
    examples: int = EXAMPLES,
    columns: Sequence[str] | None = None,
    top: int = TOP,
) -> Replay:
    """Match a history once, and count: matches by condition and day, a few examples, and who else got the same events.

    `conditions` is the text of one, texts by id, a table of subscriptions, or the `Path` of compiled ones. `time` is
    the column of dates or times that says the day, in the session's time zone; without it no day is known. `against`
    are the existing subscriptions, as a table or a path. `columns` are those that examples show, by default all. What
    matches is exactly what `tamis.pipeline.match` says.
    """
    candidates = stored(history, conditions)
    existing = None if against is None else stored(history, against)
    counts = counted(history, candidates, against=existing, time=time, columns=columns, examples=examples)
    return Replay(counts, candidates, existing, examples, top)


def first_of(counts: DataFrame, kind: int, most: int) -> DataFrame:
    """Return the first examples of each subscription."""
    some = counts.where((F.col("kind") == EXAMPLE) & (F.col("of") == kind))
    turn = F.row_number().over(Window.partitionBy("id").orderBy("day", "event"))
    return some.withColumn("turn", turn).where(F.col("turn") <= most)
