"""The work behind `tamis demo`: build an index, stream events, count, check, explain; then the same through brokers."""

import asyncio
from time import perf_counter
from typing import Any, Final

import msgspec
import numpy as np
import pyarrow as pa

import tamis
from tamis.cli.demo_overlay import OverlayDemo, OverlayResult
from tamis.cli.demo_show import Show
from tamis.cli.output import Bar, progress_bars
from tamis.cli.reference import missed_or_extra
from tamis.cli.settings import Settings
from tamis.lab.workloads import Market, generate

#: Events matched at a time: few, so that the display moves.
BATCH_ROWS: Final = 1_000
#: Events of each batch whose answer is compared with the reference.
CHECKED_ROWS: Final = 8
BUSIEST: Final = 5


class Alert(msgspec.Struct, frozen=True):
    """A subscription and how often it matched."""

    id: int
    condition: str
    matches: int


class Example(msgspec.Struct, frozen=True):
    """One match, predicate by predicate."""

    id: int
    condition: str
    event: dict[str, Any]
    explained: str


class DemoResult(msgspec.Struct, frozen=True):
    """What the demonstration did and found."""

    engine: str
    subscriptions: int
    events: int
    matches: int
    build_seconds: float
    seconds: float
    events_per_second: float
    checked_events: int
    wrong_events: int
    busiest: list[Alert]
    example: Example | None
    #: None if no brokers were asked for.
    overlay: OverlayResult | None = None
    #: The `Summary` of the sample pipeline; None if Spark was not asked for, or is not there.
    pipeline: Any = None


class Demo:
    """One demonstration."""

    def __init__(self, subscriptions: int, events: int, seed: int, settings: Settings) -> None:
        self._workload = generate(Market(subscriptions=subscriptions, events=events), seed)
        self._settings = settings
        self._index = tamis.Index(engine=settings.engine)
        self._counts = np.zeros(subscriptions, dtype=np.int64)
        self._checked = self._wrong = 0
        #: Pairs of an event's number and an alert's that match.
        self._pairs: set[tuple[int, int]] = set()
        self._example: tuple[tamis.Expression, int, dict[str, Any]] | None = None

    def run(self) -> DemoResult:
        """Build the index, stream the events past it and sum up; the display is on standard error."""
        texts = self._workload.conditions.texts()
        with progress_bars(self._settings.progress) as start_bar:
            started = perf_counter()
            self._index.add_many(range(len(texts)), texts, progress=start_bar("Building the index"))
            built = perf_counter()
            seconds = self._stream(start_bar("Streaming events"))
        matches = int(self._counts.sum())
        busiest = np.argsort(-self._counts, kind="stable")[:BUSIEST].tolist()
        return DemoResult(
            engine=self._index.stats()["engine"],
            subscriptions=len(self._index),
            events=len(self._workload.events),
            matches=matches,
            build_seconds=built - started,
            seconds=seconds,
            events_per_second=len(self._workload.events) / seconds,
            checked_events=self._checked,
            wrong_events=self._wrong,
            busiest=[Alert(id_, str(self._index.condition(id_)), int(self._counts[id_])) for id_ in busiest],
            example=self._explained(),
        )

    def through_brokers(self, result: DemoResult, show: Show) -> DemoResult:
        """Send the same events through an overlay to the same alerts; return the result with what it did."""
        events = [
            {name: value for name, value in event.items() if value is not None}
            for event in self._workload.events.rows()
        ]
        overlay = OverlayDemo(self._workload.conditions.texts().to_pylist(), events, show)
        arguments = ["--option", f'engine="{self._settings.engine}"']
        return msgspec.structs.replace(result, overlay=asyncio.run(overlay.run(self._pairs, arguments)))

    def _stream(self, bar: Bar) -> float:
        """Match all events and return the seconds that matching took, without the checks."""
        conditions = {id_: self._index.condition(id_) for id_ in self._index}
        total = len(self._workload.events)
        seconds = 0.0
        done = 0
        for batch in self._workload.events.batches(BATCH_ROWS):
            started = perf_counter()
            matches = self._index.match_batch(batch)
            seconds += perf_counter() - started
            ids = matches.ids.dictionary_decode().to_numpy()
            self._counts += np.bincount(ids, minlength=len(self._counts))
            rows = done + np.repeat(np.arange(batch.num_rows), np.diff(matches.offsets))
            self._pairs.update(zip(rows.tolist(), ids.tolist(), strict=True))
            done += batch.num_rows
            for row in range(min(CHECKED_ROWS, batch.num_rows)):
                self._check(conditions, batch, matches, row)
            bar.describe(f"{done / seconds:,.0f} events/s, {self._counts.sum():,} matches")
            bar(done, total)
        return seconds

    def _check(
        self, conditions: dict[Any, tamis.Expression], batch: pa.RecordBatch, matches: tamis.Matches, row: int
    ) -> None:
        event = batch.slice(row, 1).to_pylist()[0]
        found = matches.row(row)
        self._checked += 1
        self._wrong += bool(missed_or_extra(conditions, event, found))
        for id_ in found:
            # The match with the most attributes has the most to explain.
            condition = conditions[id_]
            if self._example is None or len(condition.attributes) > len(self._example[0].attributes):
                self._example = condition, int(id_), event

    def _explained(self) -> Example | None:
        if self._example is None:
            return None
        condition, id_, event = self._example
        present = {name: value for name, value in event.items() if value is not None}
        return Example(id_, str(condition), present, str(self._index.explain(id_, event)))
