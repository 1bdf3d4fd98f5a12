"""Rows become records of Kafka: columns `value`, and if there are any `key`, `topic` and `notification_id`.

Kafka tells no record that it has from a new one: after a failure the records of a batch may be there twice. A header
with the notification's id, which is the same both times, lets a reader tell.
"""

from collections.abc import Iterator, Mapping
from typing import Any, Final

import pyarrow as pa
from confluent_kafka import KafkaException, Producer
from pyspark.sql.datasource import DataSourceArrowWriter, DataSourceStreamArrowWriter, WriterCommitMessage
from pyspark.sql.types import BinaryType, StringType, StructType

from tamis.pipeline.connectors import kafka_options as named
from tamis.pipeline.connectors.identified import NOTIFICATION

#: How long records may take to arrive.
_PATIENCE: Final = 120.0


class _Writer:
    def __init__(self, options: Mapping[str, str], schema: StructType) -> None:
        self._options = options
        named.client_options(options)
        kinds = {field.name: field.dataType for field in schema.fields}
        if not isinstance(kinds.get("value"), StringType | BinaryType):
            raise ValueError("Kafka is written the column 'value', a text or bytes: make one, with to_json for example")
        if "topic" not in kinds and named.TOPIC not in options:
            raise ValueError(f"the option {named.TOPIC!r} is missing, and there is no column of that name")

    def write(self, iterator: Iterator[pa.RecordBatch]) -> WriterCommitMessage:
        producer = Producer({"enable.idempotence": True} | named.client_options(self._options))
        failed: list[Any] = []

        def told(error: Any, _message: Any) -> None:
            if error is not None:
                failed.append(error)

        for batch in iterator:
            for record in _records(batch, self._options.get(named.TOPIC)):
                self._produce(producer, record, told)
        if producer.flush(_PATIENCE):
            raise TimeoutError(f"{len(producer):,} records did not reach Kafka within {_PATIENCE:g} s")
        if failed:
            raise KafkaException(failed[0])
        return WriterCommitMessage()

    @staticmethod
    def _produce(producer: Producer, record: dict[str, Any], told: Any) -> None:
        while True:
            try:
                producer.produce(**record, on_delivery=told)
            except BufferError:
                # So many are on their way that there is no room: some must arrive first.
                producer.poll(1.0)
            else:
                producer.poll(0)
                return


class BatchWriter(_Writer, DataSourceArrowWriter):  # type: ignore[misc]  # it publishes no types
    """For tables."""


class StreamWriter(_Writer, DataSourceStreamArrowWriter):  # type: ignore[misc]
    """For streams."""


def _records(batch: pa.RecordBatch, topic: str | None) -> Iterator[dict[str, Any]]:
    names = batch.schema.names
    columns = {
        name: batch.column(name).to_pylist() for name in ("value", "key", "topic", NOTIFICATION) if name in names
    }
    for row in range(batch.num_rows):
        record = {"value": columns["value"][row], "topic": columns["topic"][row] if "topic" in columns else topic}
        if "key" in columns:
            record["key"] = columns["key"][row]
        if NOTIFICATION in columns:
            record["headers"] = [(NOTIFICATION, columns[NOTIFICATION][row].encode())]
        yield record
