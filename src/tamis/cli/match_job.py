"""The work behind `tamis match`: read conditions, stream events, write pairs."""

from contextlib import ExitStack
from pathlib import Path
from time import perf_counter

import msgspec
import numpy as np
import pyarrow as pa

import tamis
from tamis.cli.output import Bar, progress_bars
from tamis.cli.settings import Settings
from tamis.cli.tables.events import read_events
from tamis.cli.tables.jsonlines import columns_of
from tamis.cli.tables.pairs import Destination, PairWriter, pair_schema
from tamis.cli.tables.rejects import Rejects
from tamis.cli.tables.source import Source
from tamis.cli.tables.subscriptions import Subscription, read_subscriptions
from tamis.cli.tables.table import Batch, Table


class Summary(msgspec.Struct, frozen=True):
    """What a run did. The seconds are those of the events; building the index is not in them."""

    subscriptions: int
    events: int
    matches: int
    rejects: int
    seconds: float

    def __str__(self) -> str:
        rate = self.events / self.seconds if self.seconds else 0.0
        return (
            f"{self.subscriptions:,} subscriptions, {self.events:,} events, {self.matches:,} matches, "
            f"{self.rejects:,} rejects, {self.seconds:.2f} s, {rate:,.0f} events/s"
        )


class MatchJob(msgspec.Struct):
    """One run of `tamis match`."""

    subscriptions: Source
    events: Source
    destination: Destination
    rejects: Rejects
    rejects_file: Path | None
    settings: Settings

    def run(self) -> Summary:
        """Match all events. Output and rejects appear when everything has gone well, or not at all."""
        with ExitStack() as stack:
            if self.rejects_file is not None:
                stack.enter_context(self.rejects.kept_in(self.rejects_file))
            elif self.destination.path is not None:
                stack.enter_context(self.rejects.kept_beside(self.destination.path))
            with progress_bars(self.settings.progress) as start_bar:
                subscriptions = read_subscriptions(self.subscriptions, self.rejects, start_bar("Reading conditions"))
                index = self._index(subscriptions, start_bar("Building the index"))
            id_type = pa.int64() if any(isinstance(each.id, int) for each in subscriptions) else pa.string()
            started = perf_counter()
            refused = self.rejects.count
            # Opened before the output, so that a file that cannot be read leaves standard output empty.
            table = read_events(self.events, self.settings.batch_rows, self.rejects)
            writer = stack.enter_context(self.destination.open(pair_schema(id_type)))
            # A bar would be drawn into pairs that run over the same screen.
            mode = "never" if self.destination.on_screen else self.settings.progress
            with progress_bars(mode) as start_bar:
                events, matches = _match(index, table, writer, start_bar("Matching events"))
            if not events and self.rejects.count > refused:
                raise self.events.bad("no usable event; is the format right?")
            seconds = perf_counter() - started
        return Summary(len(index), events, matches, self.rejects.count, seconds)

    def _index(self, subscriptions: list[Subscription], bar: Bar) -> tamis.Index:
        index = tamis.Index(engine=self.settings.engine)
        ids = [each.id for each in subscriptions]
        try:
            index.add_many(ids, [each.condition for each in subscriptions], progress=bar)
        except tamis.SubscriptionError:
            # The engine does not take one of the conditions. All or none were added, so look for it.
            for each in subscriptions:
                try:
                    index.add(each.id, each.condition)
                except tamis.SubscriptionError as error:
                    raise self.subscriptions.bad(str(error), each.row) from None
            raise
        return index


def _match(index: tamis.Index, table: Table, writer: PairWriter, bar: Bar) -> tuple[int, int]:
    """Match all events and return how many events and matches there were."""
    events = matches = 0
    for batch in table.batches:
        pairs = _pairs(index, batch, writer.schema)
        writer.write(pairs)
        events += len(batch.rows)
        matches += pairs.num_rows
        bar(events, table.total)
    return events, matches


def _pairs(index: tamis.Index, batch: Batch, schema: pa.Schema) -> pa.Table:
    columns = columns_of(batch.events) if isinstance(batch.events, list) else batch.events
    if columns is None:
        # A column of mixed types, such as 1 and "one": matched event by event, each value as what it is.
        found = [index.match(event) for event in batch.events]
        rows = np.repeat(batch.rows, [len(ids) for ids in found])
        ids = pa.array([id_ for ids in found for id_ in ids], schema.field("id").type)
    else:
        table = index.match_batch(columns).to_table()
        rows = batch.rows[table["row"].to_numpy()]
        ids = table["id"].cast(schema.field("id").type)
    return pa.Table.from_arrays([pa.array(rows), ids], schema=schema)
