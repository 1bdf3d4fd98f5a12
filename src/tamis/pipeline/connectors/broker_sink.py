"""Rows become events of a broker, each under its `notification_id`."""

import asyncio
from collections.abc import Iterator, Mapping
from typing import Any, Final

import pyarrow as pa
from pyspark.sql.datasource import DataSourceArrowWriter, DataSourceStreamArrowWriter, WriterCommitMessage
from pyspark.sql.types import StringType, StructType

from tamis.client import connect
from tamis.pipeline.connectors import broker_options as named
from tamis.pipeline.connectors.identified import NOTIFICATION

#: Events on their way at a time: below a client's own limit.
_AT_ONCE: Final = 512


class _Writer:
    def __init__(self, options: Mapping[str, str], schema: StructType) -> None:
        self._options = options
        named.connection(options)
        kinds = {field.name: field.dataType for field in schema.fields}
        if not isinstance(kinds.get(NOTIFICATION), StringType):
            raise ValueError(f"a broker is written rows with a column {NOTIFICATION!r}, a text: see identified")

    def write(self, iterator: Iterator[pa.RecordBatch]) -> WriterCommitMessage:
        asyncio.run(self._published(iterator))
        return WriterCommitMessage()

    async def _published(self, batches: Iterator[pa.RecordBatch]) -> None:
        durable = self._options.get(named.DURABLE, "false").lower() == "true"
        async with connect(**named.connection(self._options)) as client:
            for batch in batches:
                for start in range(0, batch.num_rows, _AT_ONCE):
                    rows = batch.slice(start, _AT_ONCE).to_pylist()
                    await asyncio.gather(*(client.publish(*_event(row), durable=durable) for row in rows))


class BatchWriter(_Writer, DataSourceArrowWriter):  # type: ignore[misc]  # it publishes no types
    """For tables."""


class StreamWriter(_Writer, DataSourceStreamArrowWriter):  # type: ignore[misc]
    """For streams."""


def _event(row: dict[str, Any]) -> tuple[dict[str, Any], str]:
    """Return content and id. A missing attribute and null are the same to a condition: it is left out."""
    return {name: value for name, value in row.items() if value is not None and name != NOTIFICATION}, row[NOTIFICATION]
