"""A job from its beginning to its end, or until it is asked to stop."""

import secrets
import threading
from time import perf_counter
from typing import Any, Final

import msgspec
from pyspark.sql import DataFrame, Observation, SparkSession
from pyspark.sql import functions as F  # noqa: N812 - as everybody writes it
from pyspark.sql.streaming import StreamingQuery

from tamis.pipeline.connectors.rejects import Rejects
from tamis.pipeline.job.compiled import Compiled
from tamis.pipeline.job.delivering import Deliver, StoppedError, checkpoint, observed
from tamis.pipeline.job.failures import FAILURES, one_line
from tamis.pipeline.job.moment import Moment, lag
from tamis.pipeline.job.notes import Notes
from tamis.pipeline.job.settings import Settings
from tamis.pipeline.job.sinks import write
from tamis.pipeline.job.sources import read_changes, read_events_of
from tamis.pipeline.job.steps import answered
from tamis.pipeline.manifests import Manifest
from tamis.pipeline.schema import VERSION
from tamis.pipeline.store import Store
from tamis.pipeline.updating import update

#: How often it is looked how a stream is doing, in seconds.
_POLL: Final = 0.2
#: So many refused records are shown at the end.
_SHOWN: Final = 5
#: The name under which Spark counts rows.
_OBSERVED: Final = "tamis"


class Summary(msgspec.Struct, frozen=True):
    """What a run did."""

    name: str
    mode: str
    #: `end`, if there was no more to do, or `stopped`.
    ended: str
    batches: int
    events: int
    answers: int
    rejected: int
    #: What some of these were, and why they are refused.
    refused: list[str]
    subscriptions: int
    #: Of the version in use: how many rows were refused.
    rejected_subscriptions: int
    version: int
    seconds: float
    events_per_second: float


class Watcher:
    """Who is told how a job is doing; does nothing by itself."""

    def say(self, text: str) -> None:
        """Take a remark."""

    def show(self, moment: Moment) -> None:
        """Take how the stream is doing after a batch."""


def run(spark: SparkSession, settings: Settings, watcher: Watcher, stop: threading.Event) -> Summary:
    """Run a job. When `stop` is set, or a file `batches/stop` is in its folder, it ends after the batch it is in."""
    started = perf_counter()
    compiled = Compiled(spark, settings)
    made = compiled.refresh()
    if made is not None:
        watcher.say(_told(made))
    counts = (
        _batch(spark, settings)
        if settings.job.mode == "batch"
        else _Stream(spark, settings, watcher, stop).run(compiled)
    )
    seconds = perf_counter() - started
    manifest = Store(settings.store).manifest()
    return Summary(
        name=settings.job.name,
        mode=settings.job.mode,
        ended="stopped" if counts.stopped else "end",
        batches=counts.batches,
        events=counts.events,
        answers=counts.answers,
        rejected=counts.rejected,
        refused=counts.refused,
        subscriptions=manifest.subscriptions,
        rejected_subscriptions=manifest.counts.rejected,
        version=manifest.version,
        seconds=seconds,
        events_per_second=counts.events / seconds,
    )


class _Counts(msgspec.Struct):
    batches: int = 0
    events: int = 0
    answers: int = 0
    rejected: int = 0
    version: int | None = None
    stopped: bool = False
    refused: list[str] = []


def _batch(spark: SparkSession, settings: Settings) -> _Counts:
    """All events at once. A run that is repeated replaces its files; elsewhere ids tell it, if there is a key."""
    rejects = Rejects(settings.state("rejects"))
    rejects.forget(0)
    seen, counted = Observation(), Observation()
    events = read_events_of(spark, settings, rejects.path)
    events = events.observe(seen, F.count(F.lit(1)).alias("events"))
    answers = observed(answered(events, settings), counted)
    known = write(answers, settings, secrets.token_hex(8), None)
    rejected, refused = rejects.count(0), rejects.told(0, _SHOWN)
    if known is not None:
        count = read_events_of(spark, settings, rejects.path).count()
        return _Counts(1, count + rejected, known, rejected, refused=refused)
    found = counted.get
    events_seen = seen.get.get("events", 0) + rejected
    return _Counts(1, events_seen, found.get("answers", 0), rejected, found.get("version"), refused=refused)


class _Stream:
    """A job that goes on, or catches up."""

    def __init__(self, spark: SparkSession, settings: Settings, watcher: Watcher, stop: threading.Event) -> None:
        self._spark = spark
        self._settings = settings
        self._watcher = watcher
        self._stop = stop
        self._notes = Notes(settings.state("batches"))
        self._rejects = Rejects(settings.state("rejects"))
        self._bad_changes = Rejects(settings.state("changes-rejects"))
        self._known_changes = self._bad_changes.batches()
        self._counts = _Counts()
        self._shown = -1
        self._told = ""

    def run(self, compiled: Compiled) -> _Counts:
        """Start the queries and watch over them."""
        self._notes.open()
        feed = self._feed()
        query = self._query()
        try:
            self._watch(query, feed, compiled)
        finally:
            for each in (query, feed):
                if each is not None and each.isActive:
                    each.stop()
        self._take(query)
        for each in (query, feed):
            error = each.exception() if each is not None else None
            if error is not None and not (self._counts.stopped and StoppedError.__name__ in str(error)):
                raise error
        return self._counts

    def _query(self) -> StreamingQuery:
        settings = self._settings
        events = read_events_of(self._spark, settings, self._rejects.path)
        if settings.events.format == "parquet":
            # To Spark the rows of this source are files.
            events = events.observe(_OBSERVED, F.count(F.lit(1)).alias("events"))
        # State is kept by Spark between batches, and not by what is done with one of them.
        carried = VERSION in events.columns or settings.notify is not None
        if settings.notify is not None and VERSION not in events.columns:
            self._watcher.say(
                f"{settings.events.format} cannot carry the version of the subscriptions: with [notify] they are "
                "those of the start of this run"
            )
        frame = answered(events, settings) if carried else events
        writer = frame.writeStream.foreachBatch(Deliver(settings, carried))
        writer = writer.queryName(f"{settings.job.name}: match {settings.events.format} to {settings.sink.format}")
        return self._started(writer, str(checkpoint(settings)))

    def _feed(self) -> StreamingQuery | None:
        changes = self._settings.subscriptions.changes
        if changes is None:
            return None
        store = str(self._settings.store)

        def fold_changes_in(frame: DataFrame, _batch: int) -> None:
            if not frame.isEmpty():
                update(frame, store)

        frame = read_changes(self._spark, changes, Store(store).manifest().ids, self._bad_changes.path)
        writer = frame.writeStream.foreachBatch(fold_changes_in)
        writer = writer.queryName(f"{self._settings.job.name}: changes of subscriptions")
        feed = self._started(writer, str(self._settings.state("changes-checkpoint")))
        if self._settings.job.mode == "catch-up":
            # Events meet the subscriptions as all changes have left them.
            feed.awaitTermination()
        return feed

    def _started(self, writer: Any, where: str) -> StreamingQuery:
        job = self._settings.job
        if job.mode == "catch-up":
            writer = writer.trigger(availableNow=True)
        elif job.every:
            writer = writer.trigger(processingTime=f"{job.every:g} seconds")
        query: StreamingQuery = writer.option("checkpointLocation", where).start()
        return query

    def _watch(self, query: StreamingQuery, feed: StreamingQuery | None, compiled: Compiled) -> None:
        while query.isActive:
            self._stop.wait(_POLL)
            self._take(query)
            if self._stop.is_set() or self._notes.stops():
                self._counts.stopped = True
                self._notes.ask_to_stop()
                if not self._is_busy():
                    return
                # The event is set and would not wait.
                threading.Event().wait(_POLL)
            elif feed is not None and feed.exception() is not None:
                return
            elif self._settings.job.mode == "stream" and compiled.is_due():
                self._refresh(compiled)

    def _is_busy(self) -> bool:
        """Say whether a batch is being done: it was begun, and Spark has not noted its end."""
        begun = self._notes.begun()
        return begun is not None and not (checkpoint(self._settings) / "commits" / str(begun)).exists()

    def _refresh(self, compiled: Compiled) -> None:
        try:
            made = compiled.refresh()
        except FAILURES as error:
            # The stream goes on with what it has; whoever changed the table is told, once.
            text = f"the subscriptions have changed, but cannot be compiled: {one_line(error)}"
            if text != self._told:
                self._watcher.say(text)
            self._told = text
            return
        if made is not None:
            self._watcher.say(_told(made))

    def _take(self, query: StreamingQuery) -> None:
        """Count the batches that were done since the last look, and show the last."""
        for number in sorted(self._bad_changes.batches() - self._known_changes):
            self._known_changes.add(number)
            for line in self._bad_changes.told(number, _SHOWN):
                self._watcher.say(f"changes of subscriptions that cannot be read: {line}")
        last: Moment | None = None
        for progress in query.recentProgress:
            batch = progress["batchId"]
            note = self._notes.of(batch)
            if batch <= self._shown or note is None:
                continue
            self._shown = batch
            counts = self._counts
            counts.batches += 1
            observed_rows = (progress["observedMetrics"] or {}).get(_OBSERVED)
            # Through Connect the sum is missing, but not what it is of.
            given = sum(source["numInputRows"] for source in progress["sources"])
            events = given if observed_rows is None else _seen(observed_rows) + note.rejected
            seconds = progress["durationMs"].get("triggerExecution", 0) / 1000
            counts.events += events
            counts.answers += note.answers
            counts.rejected += note.rejected
            if note.rejected:
                counts.refused += self._rejects.told(batch, _SHOWN - len(counts.refused))
            counts.version = note.version if note.version is not None else counts.version
            behind, unit = lag(progress, self._settings)
            last = Moment(
                batch=batch,
                events=counts.events,
                answers=counts.answers,
                rejected=counts.rejected,
                rate=events / seconds if seconds else 0.0,
                seconds=seconds,
                version=counts.version,
                behind=behind,
                unit=unit,
            )
        if last is not None:
            self._watcher.show(last)


def _seen(observed: Any) -> int:
    """Return how many events were observed; through Connect one gets a row of values and their schema."""
    return int(observed["values"][0] if "values" in observed else observed["events"])


def _told(made: Manifest) -> str:
    bad = f", {made.counts.rejected:,} refused" if made.counts.rejected else ""
    return f"version {made.version}: {made.subscriptions:,} subscriptions{bad}"
