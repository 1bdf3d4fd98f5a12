"""A Tamis broker as a Spark data source, in both directions: `format("tamis")`.

Reading is a durable subscription. The driver appends what it receives to an event log on disk, and acknowledges it only
then; offsets are those of the log, so that a query that is restarted neither loses nor repeats. Writing is publishing,
with the ids in `notification_id`: a batch that is repeated repeats them, and brokers deliver an id once. From the
address of a broker's HTTP a table is read: its subscriptions.
"""

from collections.abc import Mapping
from pathlib import Path
from typing import Final

from pyspark.sql import DataFrame, SparkSession
from pyspark.sql import functions as F  # noqa: N812 - as everybody writes it
from pyspark.sql.datasource import (
    DataSource,
    DataSourceArrowWriter,
    DataSourceReader,
    DataSourceStreamArrowWriter,
    DataSourceStreamReader,
)
from pyspark.sql.pandas.types import from_arrow_schema
from pyspark.sql.streaming.datasource import ReadLimit
from pyspark.sql.types import StructType

from tamis.pipeline.connectors import broker_options as named
from tamis.pipeline.connectors.broker_sink import BatchWriter, StreamWriter
from tamis.pipeline.connectors.broker_subscriptions import COLUMNS as SUBSCRIPTION_COLUMNS
from tamis.pipeline.connectors.broker_subscriptions import SubscriptionsReader, is_http
from tamis.pipeline.connectors.decoding import PLACE, VALUE, decoded
from tamis.pipeline.connectors.receiving import ID, prepared, receiver
from tamis.pipeline.log import EventLog
from tamis.pipeline.schema import VERSION
from tamis.pipeline.source import PATH, REJECTS, SUBSCRIPTIONS, Offset, StreamReader, columns_of

FORMAT: Final = "tamis"
#: The column with the id that the broker knows an event by.
EVENT_ID: Final = "event_id"
#: So many segments of the log are kept behind those that are done: more than a repeated batch can ask for.
_KEPT: Final = 1_000


def read_broker(
    spark: SparkSession,
    log: str | Path,
    schema: StructType,
    options: Mapping[str, str],
    subscriptions: str | Path,
    rejects: str | Path,
) -> DataFrame:
    """Return the events of a durable subscription as a stream, with the columns of a schema and `event_id`.

    `log` is the folder in which they are kept, `options` has `url` and `durable`, the name of the subscription, and if
    you like `condition`, `token`, `ca` and `maxFilesPerTrigger`. Each row has the version of `subscriptions`.
    """
    spark.dataSource.register(BrokerSource)
    reader = spark.readStream.format(FORMAT).options(**options).option(SUBSCRIPTIONS, str(subscriptions))
    records = reader.option(REJECTS, str(rejects)).load(str(log))
    told = [F.col(ID).alias(EVENT_ID), F.col(VERSION)]
    return decoded(records.select(VALUE, F.col(ID).alias(PLACE), *told), schema, rejects)


class BrokerSource(DataSource):  # type: ignore[misc]  # it publishes no types
    """`format("tamis")` after `spark.dataSource.register(BrokerSource)`: streams are read, streams and tables written.

    Events are read as JSON in the column `value`, with their `id`. From an address that begins with `http://` or
    `https://` a table is read: what the broker keeps for the token, with `id`, `condition` and `name`.
    """

    @classmethod
    def name(cls) -> str:
        return FORMAT

    def schema(self) -> StructType:
        if is_http(self.options):
            return from_arrow_schema(SUBSCRIPTION_COLUMNS)
        named.check_reading(self.options)
        prepared(self.options[PATH])
        return from_arrow_schema(columns_of(self.options))

    def reader(self, schema: StructType) -> DataSourceReader:  # noqa: ARG002 - the columns are always the same
        if not is_http(self.options):
            raise ValueError("a broker has no table of events, but a stream; subscriptions are at its http:// address")
        return SubscriptionsReader(self.options)

    def streamReader(self, schema: StructType) -> DataSourceStreamReader:  # noqa: N802 - Spark's name
        if is_http(self.options):
            raise ValueError("the subscriptions of a broker are a table, no stream; events are at its tamis:// address")
        return _Reader(self.options, schema)

    def writer(self, schema: StructType, overwrite: bool) -> DataSourceArrowWriter:  # noqa: ARG002
        return BatchWriter(self.options, schema)

    def streamWriter(self, schema: StructType, overwrite: bool) -> DataSourceStreamArrowWriter:  # noqa: ARG002, N802
        return StreamWriter(self.options, schema)


class _Reader(StreamReader):
    """The log's reader, which fills the log before it looks how long it is."""

    def __init__(self, options: Mapping[str, str], schema: StructType) -> None:
        super().__init__(options, schema)
        self._options = options

    def prepareForTriggerAvailableNow(self) -> None:  # noqa: N802
        receiver(self._options).receive_all()
        super().prepareForTriggerAvailableNow()

    def latestOffset(self, start: Offset, limit: ReadLimit) -> Offset:  # noqa: N802
        if self._end is None:
            receiver(self._options).receive()
        return super().latestOffset(start, limit)

    def commit(self, end: Offset) -> None:
        log = EventLog(self._options[PATH])
        for number in range(log.first(), end["segment"] - _KEPT):
            log.segment(number).unlink(missing_ok=True)
