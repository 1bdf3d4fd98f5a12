"""Who gains and who loses what, if one set of subscriptions takes the place of another?"""

from collections.abc import Sequence
from pathlib import Path

from pyspark.sql import DataFrame
from pyspark.sql import functions as F  # noqa: N812 - as everybody writes it

from tamis.pipeline.history import Compiled, counted, stored
from tamis.pipeline.replaying import EXAMPLES, first_of
from tamis.pipeline.tally import BOTH, EVENTS, GAINED, LOST

_CHANGES = {GAINED: "gained", LOST: "lost", BOTH: "both"}


class Difference:
    """What `diff` has found, as tables, which Spark keeps until `release`."""

    def __init__(self, counts: DataFrame, compiled: Sequence[Compiled], examples: int) -> None:
        self._counts = counts
        self._compiled = compiled
        self._examples = examples
        sums = dict(counts.groupBy("kind").agg(F.sum("rows")).collect())
        #: How many events the history has, and how many matches are gained, lost, and as before.
        self.events, self.gained, self.lost, self.both = (
            int(sums.get(kind, 0)) for kind in (EVENTS, GAINED, LOST, BOTH)
        )

    @property
    def changes(self) -> DataFrame:
        """For each subscription with a change: `id`, and how many events it has `gained`, `lost` and `both`."""
        found = self._by("id")
        return found.where((F.col("gained") > 0) | (F.col("lost") > 0))

    @property
    def volume(self) -> DataFrame:
        """The same by `day`, over all subscriptions."""
        return self._by("day")

    @property
    def examples(self) -> DataFrame:
        """For each subscription some events as JSON, with the `change`: gained or lost."""
        found = [
            first_of(self._counts, kind, self._examples).select("id", F.lit(_CHANGES[kind]).alias("change"), "event")
            for kind in (GAINED, LOST)
        ]
        return found[0].unionByName(found[1])

    def release(self) -> None:
        """Let Spark forget the tables, and remove what was compiled for them."""
        self._counts.unpersist()
        for each in self._compiled:
            each.remove()

    def _by(self, column: str) -> DataFrame:
        sums = [
            F.sum(F.when(F.col("kind") == kind, F.col("rows")).otherwise(0)).alias(name)
            for kind, name in _CHANGES.items()
        ]
        return self._counts.where(F.col("kind").isin(*_CHANGES)).groupBy(column).agg(*sums)


def diff(
    old: DataFrame | Path,
    new: DataFrame | Path,
    history: DataFrame,
    *,
    time: str | None = None,
    examples: int = EXAMPLES,
    columns: Sequence[str] | None = None,
) -> Difference:
    """Match a history once against two sets of subscriptions, tables or paths, and count what differs by id.

    A subscription that is in one of them only gains or loses all that it matches. `time` and `columns` are those of
    `replay`.
    """
    before, now = stored(history, old), stored(history, new)
    if before.manifest.ids != now.manifest.ids:
        raise ValueError(f"the old ids are of type {before.manifest.ids}, the new ones {now.manifest.ids}")
    counts = counted(history, now, before=before, time=time, columns=columns, examples=examples)
    return Difference(counts, [before, now], examples)
