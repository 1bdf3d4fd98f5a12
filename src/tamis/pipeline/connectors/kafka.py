"""Kafka as a Spark source in Python, for where the standard connector is not: `format("tamis-kafka")`.

Options and columns are those of Spark's connector. Offsets are in the checkpoint and in no consumer group: so a query
that is restarted neither loses nor repeats. With the option `subscriptions` they carry the version of the subscriptions
too, as those of an event log do.
"""

from collections.abc import Iterator, Mapping, Sequence
from functools import lru_cache
from typing import Any, Final

import pyarrow as pa
from confluent_kafka import TIMESTAMP_NOT_AVAILABLE, Consumer, KafkaError, KafkaException, TopicPartition
from pyspark.sql.datasource import (
    DataSource,
    DataSourceArrowWriter,
    DataSourceReader,
    DataSourceStreamArrowWriter,
    DataSourceStreamReader,
    InputPartition,
)
from pyspark.sql.pandas.types import from_arrow_schema
from pyspark.sql.streaming.datasource import ReadAllAvailable, ReadLimit, ReadMaxRows, SupportsTriggerAvailableNow
from pyspark.sql.types import StructType

from tamis.pipeline.connectors import kafka_options as named
from tamis.pipeline.connectors.kafka_options import EARLIEST, LATEST, Offsets
from tamis.pipeline.connectors.kafka_sink import BatchWriter, StreamWriter
from tamis.pipeline.schema import VERSION
from tamis.pipeline.store import Store

FORMAT: Final = "tamis-kafka"
COLUMNS: Final = pa.schema(
    {
        "key": pa.binary(),
        "value": pa.binary(),
        "topic": pa.string(),
        "partition": pa.int32(),
        "offset": pa.int64(),
        "timestamp": pa.timestamp("us", "UTC"),
        "timestampType": pa.int32(),
    }
)
#: Records in one batch of columns, and how long one waits for a batch to become full.
_ROWS: Final = 10_000
_SECONDS: Final = 0.2
#: How long Kafka may take to answer a question.
_PATIENCE: Final = 30.0

Offset = dict[str, Any]


class KafkaSource(DataSource):  # type: ignore[misc]  # it publishes no types
    """`format("tamis-kafka")`, to read and to write, batch or stream, after `spark.dataSource.register`."""

    @classmethod
    def name(cls) -> str:
        return FORMAT

    def schema(self) -> StructType:
        return from_arrow_schema(_columns(self.options))

    def reader(self, schema: StructType) -> DataSourceReader:  # noqa: ARG002 - the columns are always the same
        return _BatchReader(self.options)

    def streamReader(self, schema: StructType) -> DataSourceStreamReader:  # noqa: ARG002, N802 - Spark's name
        return _StreamReader(self.options)

    def writer(self, schema: StructType, overwrite: bool) -> DataSourceArrowWriter:  # noqa: ARG002
        return BatchWriter(self.options, schema)

    def streamWriter(self, schema: StructType, overwrite: bool) -> DataSourceStreamArrowWriter:  # noqa: ARG002, N802
        return StreamWriter(self.options, schema)


class _Span(InputPartition):  # type: ignore[misc]
    """Records of a partition of Kafka, from an offset to before another."""

    def __init__(self, topic: str, partition: int, start: int, end: int, version: int) -> None:
        super().__init__((topic, partition, start, end, version))
        self.topic = topic
        self.partition = partition
        self.start = start
        self.end = end
        self.version = version


class _Records:
    """What both readers do."""

    def __init__(self, options: Mapping[str, str]) -> None:
        self._options = options
        named.topics(options)
        named.client_options(options)

    def version(self) -> int:
        store = self._options.get(named.SUBSCRIPTIONS)
        return 0 if store is None else Store(store).current()

    def spans(self, start: Offsets, end: Offsets, version: int) -> list[_Span]:
        """Return what lies between; a partition that came later begins at its beginning."""
        found = []
        for topic, partitions in end.items():
            for partition, last in partitions.items():
                first = start.get(topic, {}).get(partition)
                if first is None:
                    first = self.ends(topic, int(partition))[0]
                if first < last:
                    found.append(_Span(topic, int(partition), first, last, version))
        return found

    def resolved(self, where: int | Offsets) -> Offsets:
        """Return the offset of each partition for a bound."""
        found: Offsets = {}
        for topic, partitions in self.partitions_of_topics().items():
            for partition in partitions:
                wanted = where if isinstance(where, int) else where.get(topic, {}).get(str(partition), LATEST)
                low, high = self.ends(topic, partition)
                found.setdefault(topic, {})[str(partition)] = {EARLIEST: low, LATEST: high}.get(wanted, wanted)
        return found

    def partitions_of_topics(self) -> dict[str, list[int]]:
        consumer = self._asking()
        found = {}
        for topic in named.topics(self._options):
            answer = consumer.list_topics(topic, timeout=_PATIENCE).topics[topic]
            if answer.error is not None:
                raise ValueError(f"Kafka has no topic {topic!r} that can be read: {answer.error.str()}")
            found[topic] = sorted(answer.partitions)
        return found

    def ends(self, topic: str, partition: int) -> tuple[int, int]:
        """Return the first offset that is there, and the one that comes next."""
        low, high = self._asking().get_watermark_offsets(TopicPartition(topic, partition), timeout=_PATIENCE)
        return low, high

    def read(self, span: _Span) -> Iterator[pa.RecordBatch]:
        consumer = _consumer(self._options)
        try:
            for messages in self._messages(consumer, span):
                yield self._batch(messages, span.version)
        finally:
            consumer.close()

    def _messages(self, consumer: Consumer, span: _Span) -> Iterator[list[Any]]:
        low, _ = consumer.get_watermark_offsets(TopicPartition(span.topic, span.partition), timeout=_PATIENCE)
        if low > span.start and named.fails_on_loss(self._options):
            raise ValueError(
                f"Kafka has removed records {span.start} to {min(low, span.end) - 1} of {span.topic}-{span.partition} "
                f"before they were read; with the option {named.FAIL_ON_LOSS!r} false the rest is read all the same"
            )
        consumer.assign([TopicPartition(span.topic, span.partition, max(low, span.start))])
        silent, patience = 0.0, named.poll_seconds(self._options)
        at = max(low, span.start)
        while at < span.end:
            # For no more than there are, since otherwise it waits for those to come.
            got = consumer.consume(min(_ROWS, span.end - at), timeout=_SECONDS)
            messages = []
            for message in got:
                error, offset = message.error(), message.offset() or 0
                if error is None:
                    at = offset + 1
                    if offset < span.end:
                        messages.append(message)
                elif error.code() == KafkaError._PARTITION_EOF:
                    # The last offsets may be marks of transactions, or of records that were compacted away.
                    at = max(at, offset)
                else:
                    raise KafkaException(error)
            if messages:
                yield messages
            silent = 0.0 if got else silent + _SECONDS
            if silent > patience:
                raise TimeoutError(
                    f"{span.topic}-{span.partition} gave no record for {patience:g} s, although there are some from "
                    f"{at} to {span.end - 1}: option {named.POLL_MS!r}"
                )

    def _batch(self, messages: list[Any], version: int) -> pa.RecordBatch:
        times = [message.timestamp() for message in messages]
        columns = [
            [message.key() for message in messages],
            [message.value() for message in messages],
            [message.topic() for message in messages],
            [message.partition() for message in messages],
            [message.offset() for message in messages],
            [None if kind == TIMESTAMP_NOT_AVAILABLE else at * 1000 for kind, at in times],
            # Spark counts from the time of creation on.
            [kind - 1 for kind, _ in times],
        ]
        schema = _columns(self._options)
        if named.SUBSCRIPTIONS in self._options:
            columns.append([version] * len(messages))
        arrays = [pa.array(values, field.type) for values, field in zip(columns, schema, strict=True)]
        return pa.RecordBatch.from_arrays(arrays, schema=schema)

    def _asking(self) -> Consumer:
        return _kept_consumer(tuple(sorted(self._options.items())))


class _BatchReader(_Records, DataSourceReader):  # type: ignore[misc]
    def partitions(self) -> Sequence[InputPartition]:
        start = self.resolved(named.bound(self._options, named.STARTING, "earliest"))
        end = self.resolved(named.bound(self._options, named.ENDING, "latest"))
        return self.spans(start, end, self.version())


class _StreamReader(_Records, DataSourceStreamReader, SupportsTriggerAvailableNow):  # type: ignore[misc]
    """Offsets name the next record of each partition, and the version that the last ones were matched against."""

    _end: Offsets | None = None

    def initialOffset(self) -> Offset:  # noqa: N802 - Spark's name
        start = self.resolved(named.bound(self._options, named.STARTING, "latest"))
        return {"topics": start, "version": 0}

    def getDefaultReadLimit(self) -> ReadLimit:  # noqa: N802
        most = named.most(self._options)
        return ReadAllAvailable() if most is None else ReadMaxRows(most)

    def prepareForTriggerAvailableNow(self) -> None:  # noqa: N802
        self._end = self.resolved(LATEST)

    def reportLatestOffset(self) -> Offset:  # noqa: N802
        return {"topics": self.resolved(LATEST), "version": 0}

    def latestOffset(self, start: Offset, limit: ReadLimit) -> Offset:  # noqa: N802
        end = self.resolved(LATEST) if self._end is None else self._end
        spans = self.spans(start["topics"], end, 0)
        if not spans:
            return start
        reached: Offsets = {topic: dict(partitions) for topic, partitions in start["topics"].items()}
        behind = sum(span.end - span.start for span in spans)
        share = min(1.0, limit.max_rows / behind) if isinstance(limit, ReadMaxRows) else 1.0
        for span in spans:
            taken = max(1, int((span.end - span.start) * share))
            reached.setdefault(span.topic, {})[str(span.partition)] = span.start + taken
        # A newer version alone is no reason for a batch.
        return {"topics": reached, "version": self.version()}

    def partitions(self, start: Offset, end: Offset) -> Sequence[InputPartition]:
        return self.spans(start["topics"], end["topics"], end["version"])


def _columns(options: Mapping[str, str]) -> pa.Schema:
    return COLUMNS.append(pa.field(VERSION, pa.int64())) if named.SUBSCRIPTIONS in options else COLUMNS


def _consumer(options: Mapping[str, str]) -> Consumer:
    # It belongs to no group that would keep offsets, but librdkafka wants a name.
    own = {"enable.auto.commit": False, "enable.partition.eof": True, "auto.offset.reset": "error"}
    return Consumer({"group.id": "tamis"} | named.client_options(options) | own)


@lru_cache(maxsize=4)
def _kept_consumer(options: tuple[tuple[str, str], ...]) -> Consumer:
    """Return a consumer that is only asked where partitions end: in the driver, once for each query."""
    return _consumer(dict(options))
