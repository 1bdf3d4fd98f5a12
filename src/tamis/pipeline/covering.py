"""Which subscriptions of a table are needless: covered, repeated, never met, or to be merged with others?

Conditions meet in *buckets* of one attribute (the range join of specs/001 F13, on values instead of curves): a
condition is at home in the bucket in which its range of that attribute begins, and a guest in all others that its range
reaches, so that whoever covers a condition is in the bucket where that is at home.
"""

from collections.abc import Sequence
from pathlib import Path
from typing import Final

import msgspec
from pyspark.sql import Column, DataFrame, SparkSession
from pyspark.sql import functions as F  # noqa: N812 - as everybody writes it

from tamis.pipeline.compiling import NEEDED, id_type
from tamis.pipeline.coverers import coverers_in, groups_in, together_in
from tamis.pipeline.keeping import subscriptions as listed
from tamis.pipeline.outlines import NEVER, OPEN, REFUSED, SCHEMA, outlined
from tamis.pipeline.schema import declared
from tamis.pipeline.workers import by_workers

#: What may be said of a subscription.
KEPT, COVERED, DUPLICATE, UNSATISFIABLE = "kept", "covered", "duplicate", "unsatisfiable"
#: Buckets, from many to one: as many as leave a condition in no more than so many of them on the average.
BUCKETS: Final = (64, 32, 16, 8, 4, 2)
MOST_COPIES: Final = 4.0
#: Conditions that tell where buckets begin.
SAMPLE: Final = 10_000


class Report(msgspec.Struct, frozen=True):
    """By how much a table would shrink. Every subscription is one of the first five."""

    kept: int
    covered: int
    duplicate: int
    unsatisfiable: int
    refused: int
    #: Of those that are kept: about which not all could be decided.
    undecided: int
    #: Of those that are kept: how many could be merged, and into how many conditions.
    mergeable: int
    merged: int

    @property
    def subscriptions(self) -> int:
        """How many there are."""
        return self.kept + self.covered + self.duplicate + self.unsatisfiable + self.refused

    @property
    def least(self) -> int:
        """How many conditions would do for the same events: those that are kept, merged where they can be."""
        return self.kept - self.mergeable + self.merged


class Cover:
    """What `cover` has found, as tables, which Spark keeps until `release`."""

    def __init__(self, verdicts: DataFrame, mergeable: DataFrame, report: Report, kept: Sequence[DataFrame]) -> None:
        #: For each subscription `id` and `condition`; the `verdict`; `by`, one that is kept and covers it; `same_as`,
        #: the first one with the same normal form, if that is another; `undecided`; and the `reason` if it is refused.
        self.verdicts = verdicts
        #: Groups of subscriptions that are kept and together are one box: the `condition` for all, and their `ids`.
        self.mergeable = mergeable
        self.report = report
        self._kept = kept

    @property
    def covered(self) -> DataFrame:
        """Subscriptions that another one covers."""
        return self._those(COVERED).select("id", "condition", "by")

    @property
    def duplicates(self) -> DataFrame:
        """Subscriptions with the same normal form as an earlier one, which may be covered itself."""
        return self.verdicts.where(F.col("same_as").isNotNull()).select("id", "condition", "same_as")

    @property
    def unsatisfiable(self) -> DataFrame:
        """Subscriptions that no event can meet."""
        return self._those(UNSATISFIABLE).select("id", "condition")

    @property
    def refused(self) -> DataFrame:
        """Subscriptions that are none."""
        return self._those(REFUSED).select("id", "condition", "reason")

    def release(self) -> None:
        """Let Spark forget the tables."""
        for each in self._kept:
            each.unpersist()

    def _those(self, verdict: str) -> DataFrame:
        return self.verdicts.where(F.col("verdict") == verdict)


def cover(subscriptions: DataFrame | str | Path, *, version: int | None = None) -> Cover:
    """Find the needless ones in a table of subscriptions, or in a version at a path, by default the one in use.

    Every event that meets a covered subscription meets the one that is told as its coverer: nothing is claimed of which
    `tamis.covers` is not certain. All that is covered is found among conjunctions of comparisons, `between`, `in` and
    prefixes, unless more than `CANDIDATES` conditions with gaps (as `in` has) may cover the same one. What cannot be
    decided is kept and counted. Clauses, owners and tags are not looked at: that a condition is covered does not say
    that nobody needs its subscription, but that whoever asks for events upstream need not ask for it.
    """
    if isinstance(subscriptions, str | Path):
        subscriptions = listed(SparkSession.active(), subscriptions, version)
    elif version is not None:
        raise ValueError("a version is that of a path, not of a table")
    if subscriptions.isStreaming:
        raise ValueError("these subscriptions are a stream: cover takes a table")
    table = declared(subscriptions).select(*NEEDED)
    ids = id_type(table)
    # All rows of an id meet in one task, which therefore can tell which of them counts.
    outline = by_workers(outlined, "outline conditions")
    rows = table.repartition("id").mapInArrow(outline, f"id {ids}, {SCHEMA}").persist()
    distinct = _distinct(rows).persist()
    found = _covered(distinct, ids).persist()
    boxes = distinct.join(found.where(F.col("by").isNull()), "form").where("is_box").where(F.size("names") > 0)
    merging = boxes.select("id", "condition", "names", "ends").groupBy("names")
    groups = merging.applyInArrow(groups_in, f"id {ids}, condition string, first {ids}")
    members = groups.groupBy("first").agg(F.sort_array(F.collect_list(F.struct("id", "condition"))).alias("all"))
    lists = members.select("all.id", "all.condition")
    merge = by_workers(together_in, "merge conditions")
    mergeable = lists.mapInArrow(merge, f"condition string, ids array<{ids}>").persist()
    verdicts = _verdicts(rows, distinct, found)
    return Cover(verdicts, mergeable, _report(verdicts, mergeable), [rows, distinct, found, mergeable])


# --- inside ---------------------------------------------------------------------------------------------


def _distinct(rows: DataFrame) -> DataFrame:
    """Return one row for each normal form: that of the first id."""
    own = F.struct("id", "condition", "names", "ends", "is_box", "is_known")
    first = rows.where(F.col("state") == OPEN).groupBy("form").agg(F.min_by(own, "id").alias("own"))
    return first.select("form", "own.*")


def _covered(distinct: DataFrame, ids: str) -> DataFrame:
    """Return for each normal form the id that covers it, or null."""
    dealt = _dealt(distinct)
    found: DataFrame = dealt.groupBy("bucket").applyInArrow(coverers_in, f"form binary, by {ids}, undecided boolean")
    return found


def _dealt(distinct: DataFrame) -> DataFrame:
    """Send every condition to its buckets. Number 0 is the home of those that do not constrain the attribute."""
    counted = distinct.select(F.explode("names").alias("name")).groupBy("name").count()
    often = counted.orderBy(F.desc("count"), "name").limit(1).collect()
    if not often:
        return distinct.withColumns({"bucket": F.lit(0), "home": F.lit(True)})
    place = F.array_position("names", often[0].name).cast("int")
    low = F.when(place > 0, F.get("ends", 2 * place - 2))
    high = F.when(place > 0, F.get("ends", 2 * place - 1))
    share = min(1.0, 2.0 * SAMPLE / max(1, distinct.count()))
    drawn = distinct.select(low.alias("low"), high.alias("high")).sample(share, seed=1).limit(SAMPLE).collect()
    starts = _starts([(row.low and bytes(row.low), row.high and bytes(row.high)) for row in drawn])
    first = F.when(place > 0, _bucket(low, starts)).otherwise(0)
    last = F.when(place > 0, _bucket(high, starts)).otherwise(len(starts) + 1)
    several = distinct.withColumn("first", first).withColumn("bucket", F.explode(F.sequence(first, last)))
    return several.withColumn("home", F.col("bucket") == F.col("first")).drop("first")


def _starts(drawn: Sequence[tuple[bytes | None, bytes | None]]) -> list[bytes]:
    """Return where the buckets behind the first begin, so that conditions are in few of them."""
    lows = sorted(low for low, _ in drawn if low is not None)
    for count in BUCKETS:
        starts = sorted({lows[len(lows) * number // count] for number in range(1, count)}) if lows else []
        copies = sum(_copies(low, high, starts) for low, high in drawn)
        if copies <= MOST_COPIES * len(drawn):
            return starts
    return []


def _copies(low: bytes | None, high: bytes | None, starts: Sequence[bytes]) -> int:
    if low is None or high is None:
        return len(starts) + 2
    return 1 + sum(low < start <= high for start in starts)


def _bucket(end: Column, starts: Sequence[bytes]) -> Column:
    """Return in which bucket an end lies, from 1 on."""
    if not starts:
        return F.lit(1)
    every = F.array(*(F.lit(bytearray(start)) for start in starts))
    return 1 + F.size(F.filter(every, lambda start: start <= end))


def _verdicts(rows: DataFrame, distinct: DataFrame, found: DataFrame) -> DataFrame:
    forms = distinct.select("form", F.col("id").alias("speaker")).join(found, "form")
    told = rows.select("id", "condition", "state", "reason", "form").join(forms, "form", "left")
    again = F.col("speaker") != F.col("id")
    verdict = (
        F.when(F.col("state") == REFUSED, REFUSED)
        .when(F.col("state") == NEVER, UNSATISFIABLE)
        .when(F.col("by").isNotNull(), COVERED)
        .when(again, DUPLICATE)
        .otherwise(KEPT)
    )
    return told.select(
        "id",
        "condition",
        verdict.alias("verdict"),
        F.when(verdict.isin(COVERED, DUPLICATE), F.coalesce("by", "speaker")).alias("by"),
        F.when(again, F.col("speaker")).alias("same_as"),
        F.coalesce(F.col("undecided") & (verdict == KEPT), F.lit(False)).alias("undecided"),
        "reason",
    )


def _report(verdicts: DataFrame, mergeable: DataFrame) -> Report:
    counted = verdicts.groupBy("verdict").agg(F.count(F.lit(1)).alias("rows"), F.sum(F.col("undecided").cast("int")))
    counts = {row.verdict: (row[1], row[2]) for row in counted.collect()}
    merges = mergeable.agg(F.count(F.lit(1)), F.sum(F.size("ids"))).collect()[0]

    def number(verdict: str) -> int:
        return int(counts.get(verdict, (0, 0))[0])

    return Report(
        kept=number(KEPT),
        covered=number(COVERED),
        duplicate=number(DUPLICATE),
        unsatisfiable=number(UNSATISFIABLE),
        refused=number(REFUSED),
        undecided=int(counts.get(KEPT, (0, 0))[1] or 0),
        mergeable=int(merges[1] or 0),
        merged=int(merges[0]),
    )
