"""An event log as a Spark source, whose offset carries the version of the subscriptions.

Spark writes the offset of a micro-batch to the checkpoint before it runs: so a batch that is repeated after a failure
is matched against the version of the first time, and the next one against the version that is in use by then.
"""

from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Final

import numpy as np
import pyarrow as pa
from pyspark.sql import DataFrame, SparkSession
from pyspark.sql.datasource import DataSource, DataSourceReader, DataSourceStreamReader, InputPartition
from pyspark.sql.pandas.types import from_arrow_schema
from pyspark.sql.streaming.datasource import (
    ReadAllAvailable,
    ReadLimit,
    ReadMaxFiles,
    SupportsTriggerAvailableNow,
)
from pyspark.sql.types import StructType

from tamis.pipeline.connectors.rejects import Rejects, Writer
from tamis.pipeline.log import EventLog, Refused
from tamis.pipeline.schema import VERSION
from tamis.pipeline.store import Store

FORMAT: Final = "tamis-log"
#: What may be set, as Spark calls it: where the log is, whose versions it carries, and how much a batch takes at most.
PATH: Final = "path"
SUBSCRIPTIONS: Final = "subscriptions"
MOST: Final = "maxFilesPerTrigger"
#: And where segments that cannot be read are told, beside the log itself.
REJECTS: Final = "rejects"

Offset = dict[str, int]


def read_events(
    spark: SparkSession,
    log: str | Path,
    subscriptions: str | Path,
    most_segments: int | None = None,
    rejects: str | Path | None = None,
) -> DataFrame:
    """Return the events of a log as a stream, each with the version of the subscriptions that it is to meet.

    A micro-batch takes what is there, or `most_segments`. Segments that cannot be read are told by `EventLog.refused`,
    and with `rejects`, a folder, there too, by the number of the batch.
    """
    spark.dataSource.register(LogSource)
    reader = spark.readStream.format(FORMAT).option(SUBSCRIPTIONS, str(subscriptions))
    if most_segments is not None:
        reader = reader.option(MOST, str(most_segments))
    if rejects is not None:
        reader = reader.option(REJECTS, str(rejects))
    return reader.load(str(log))


class LogSource(DataSource):  # type: ignore[misc]  # it publishes no types
    """`format("tamis-log")`, batch or stream, after `spark.dataSource.register(LogSource)`."""

    @classmethod
    def name(cls) -> str:
        return FORMAT

    def schema(self) -> StructType:
        return from_arrow_schema(columns_of(self.options))

    def reader(self, schema: StructType) -> DataSourceReader:
        return _BatchReader(self.options, schema)

    def streamReader(self, schema: StructType) -> DataSourceStreamReader:  # noqa: N802 - Spark's name
        return StreamReader(self.options, schema)


class _Segment(InputPartition):  # type: ignore[misc]
    def __init__(self, number: int, version: int) -> None:
        super().__init__((number, version))
        self.number = number
        self.version = version


class _Segments:
    """What both readers do with a segment."""

    def __init__(self, options: Mapping[str, str], schema: StructType) -> None:
        self._log = EventLog(_option(options, PATH))
        self._store = Store(options[SUBSCRIPTIONS]) if SUBSCRIPTIONS in options else None
        columns = columns_of(options)
        self._columns = pa.schema([columns.field(name) for name in schema.names])
        self._most = int(options[MOST]) if MOST in options else None
        self._rejects = options.get(REJECTS)

    def version(self) -> int:
        return 0 if self._store is None else self._store.current()

    def read(self, partition: _Segment) -> Iterator[pa.RecordBatch]:
        wanted = pa.schema([field for field in self._columns if field.name != VERSION])
        for batch in self._log.read(partition.number, wanted, self._refuse):
            columns = dict(zip(wanted.names, batch.columns, strict=True))
            columns[VERSION] = pa.array(np.full(batch.num_rows, partition.version, np.int64))
            yield pa.RecordBatch.from_arrays([columns[name] for name in self._columns.names], schema=self._columns)

    def _refuse(self, refused: Refused) -> None:
        if self._rejects is not None:
            place = str(self._log.segment(refused.segment))
            Writer(Rejects(self._rejects)).write([place], [None], [refused.reason])


class _BatchReader(_Segments, DataSourceReader):  # type: ignore[misc]
    def partitions(self) -> Sequence[InputPartition]:
        first, version = self._log.first(), self.version()
        return [_Segment(number, version) for number in range(first, self._log.last(first) + 1)] if first else []


class StreamReader(_Segments, DataSourceStreamReader, SupportsTriggerAvailableNow):  # type: ignore[misc]
    """Offsets name the last segment that is done, and the version it was matched against."""

    _end: int | None = None

    def initialOffset(self) -> Offset:  # noqa: N802 - Spark's name
        return {"segment": max(0, self._log.first() - 1), "version": 0}

    def getDefaultReadLimit(self) -> ReadLimit:  # noqa: N802
        return ReadAllAvailable() if self._most is None else ReadMaxFiles(self._most)

    def prepareForTriggerAvailableNow(self) -> None:  # noqa: N802
        self._end = self._log.last()

    def latestOffset(self, start: Offset, limit: ReadLimit) -> Offset:  # noqa: N802
        last = self._log.last(start["segment"])
        if self._end is not None:
            last = min(last, self._end)
        if isinstance(limit, ReadMaxFiles):
            last = min(last, start["segment"] + limit.max_files)
        # A newer version alone is no reason for a batch.
        return {"segment": last, "version": self.version()} if last > start["segment"] else start

    def partitions(self, start: Offset, end: Offset) -> Sequence[InputPartition]:
        return [_Segment(number, end["version"]) for number in range(start["segment"] + 1, end["segment"] + 1)]


def columns_of(options: Mapping[str, str]) -> pa.Schema:
    """Return the columns of an event log that a query reads, with that of the version if it is pinned."""
    columns = EventLog(_option(options, PATH)).schema()
    if SUBSCRIPTIONS not in options:
        return columns
    if VERSION in columns.names:
        raise ValueError(f"the events have a column {VERSION!r} of their own: rename it")
    return columns.append(pa.field(VERSION, pa.int64()))


def _option(options: Mapping[str, str], name: str) -> str:
    if name not in options:
        raise ValueError(f"the option {name!r} is missing: it tells where the events are")
    return options[name]
