"""The tables and streams that a `pipeline.toml` names."""

from pathlib import Path
from typing import Any, Final

from pyspark.errors import PySparkException
from pyspark.sql import DataFrame, SparkSession
from pyspark.sql import functions as F  # noqa: N812 - as everybody writes it
from pyspark.sql.types import LongType, StringType, StructField, StructType

from tamis.pipeline.connectors.database import read_database
from tamis.pipeline.connectors.decoding import CORRUPT, PLACE, VALUE, decoded, set_aside
from tamis.pipeline.connectors.files import files_in, first_readable, read_parquet
from tamis.pipeline.connectors.present import kafka_format
from tamis.pipeline.job.settings import FILES, Changes, Events, Settings, Subscriptions
from tamis.pipeline.schema import VERSION, subscription_schema
from tamis.pipeline.source import FORMAT, MOST, REJECTS, LogSource, read_events

#: What Kafka tells of a record, beside its value, as columns of the event.
KAFKA_COLUMNS: Final = {
    "key": "kafka_key",
    "topic": "kafka_topic",
    "partition": "kafka_partition",
    "offset": "kafka_offset",
    "timestamp": "kafka_timestamp",
}
#: What Spark calls the file that a row comes from.
_FILE: Final = "_metadata.file_path"
#: Those that tell a record from all others.
KAFKA_KEY: Final = ["kafka_topic", "kafka_partition", "kafka_offset"]


def read_subscriptions(spark: SparkSession, given: Subscriptions) -> DataFrame:
    """Return the table of subscriptions."""
    if given.format in FILES:
        assert given.path is not None
        return _table(spark, given.format, given.path, given.options)
    if given.format == "jdbc":
        return read_database(spark, given.options)
    if given.format == "tamis":
        from tamis.pipeline.connectors.broker import BrokerSource

        spark.dataSource.register(BrokerSource)
    reader = spark.read.format(given.format).options(**given.options)
    return reader.load(given.path) if given.path is not None else reader.load()


def read_changes(spark: SparkSession, given: Changes, ids: str, rejects: str | Path) -> DataFrame:
    """Return the feed of changes as a stream, with `ids` of type `string` or `long`.

    Files of Parquet that cannot be read go to the rejects.
    """
    Path(given.path).mkdir(parents=True, exist_ok=True)
    # The columns are those that are declared, because there may be no file yet.
    schema = subscription_schema(LongType() if ids == "long" else None)
    if given.format == "parquet":
        return read_parquet(spark.readStream, given.path, schema, rejects)
    return spark.readStream.schema(schema).format(given.format).load(given.path)


def read_events_of(spark: SparkSession, settings: Settings, rejects: str | Path) -> DataFrame:
    """Return the events: a table in mode `batch`, otherwise a stream. What is none of them goes to the rejects.

    Rows of sources whose offsets carry the version of the subscriptions have it in a column.
    """
    events, streams = settings.events, settings.job.mode != "batch"
    if events.format == "log":
        assert events.path is not None
        if streams:
            return read_events(spark, events.path, settings.store, events.most, rejects)
        spark.dataSource.register(LogSource)
        return spark.read.format(FORMAT).option(REJECTS, str(rejects)).load(events.path)
    if events.format == "kafka":
        return _kafka(spark, settings, streams, rejects)
    if events.format == "tamis":
        from tamis.pipeline.connectors.broker import read_broker

        assert events.path is not None
        options = events.options | ({} if events.most is None else {MOST: str(events.most)})
        return read_broker(spark, events.path, columns_of(events), options, settings.store, rejects)
    reader = spark.readStream if streams else spark.read
    if streams and events.most is not None:
        reader = reader.option("maxFilesPerTrigger", events.most)
    reader = reader.options(**events.options)
    if events.format == "parquet":
        assert events.path is not None
        schema = parquet_columns(spark, events)
        if streams:
            # It goes on behind a file that cannot be read.
            return read_parquet(reader, events.path, schema, rejects)
        found: DataFrame = reader.schema(schema).parquet(events.path)
        return found
    return _texts(spark, reader, events, rejects)


def columns_of(events: Events) -> StructType:
    """Return the declared columns of events; what is wrong with them is a `ValueError`."""
    assert events.schema is not None
    try:
        found = StructType.fromDDL(events.schema)
    except PySparkException as error:
        raise ValueError(f"[events] schema {events.schema!r} is none: {str(error).splitlines()[0]}") from None
    assert isinstance(found, StructType)
    return found


def parquet_columns(spark: SparkSession, events: Events) -> StructType:
    """Return the columns of events in Parquet: those that are declared, or of the first file that can be read."""
    assert events.path is not None
    if events.schema is not None:
        return columns_of(events)
    reader, file = spark.read.options(**events.options), first_readable(Path(events.path))
    # Spark would look at any one file, which may be a damaged one.
    known = reader.parquet(events.path) if file is None else reader.option("basePath", events.path).parquet(str(file))
    found: StructType = known.schema
    return found


def _texts(spark: SparkSession, reader: Any, events: Events, rejects: str | Path) -> DataFrame:
    path = events.path
    assert path is not None
    wanted = columns_of(events)
    if events.format == "json":
        lines = reader.text(path).where(F.length(F.trim(VALUE)) > 0).select("*", F.col(_FILE).alias(PLACE))
        return decoded(lines, wanted, rejects)
    lines = set_aside(_csv(spark, reader, path, wanted, events.options), rejects)
    there = {name: F.col(f"`{name}`") for name in lines.columns}
    return lines.select(
        *(there.get(field.name, F.lit(None).cast(field.dataType).alias(field.name)) for field in wanted.fields)
    )


def _kafka(spark: SparkSession, settings: Settings, streams: bool, rejects: str | Path) -> DataFrame:
    events = settings.events
    format_ = kafka_format(spark, events.connector)
    options = dict(events.options)
    if format_ != "kafka" and streams:
        options["subscriptions"] = str(settings.store)
    if events.most is not None and streams:
        options["maxOffsetsPerTrigger"] = str(events.most)
    reader = (spark.readStream if streams else spark.read).format(format_).options(**options)
    records = reader.load()
    place = F.concat_ws(" ", "topic", F.concat(F.lit("partition "), "partition"), F.concat(F.lit("offset "), "offset"))
    told = [F.col(name).alias(alias) for name, alias in KAFKA_COLUMNS.items()]
    version = [VERSION] if VERSION in records.columns else []
    return decoded(records.select(VALUE, place.alias(PLACE), *told, *version), columns_of(events), rejects)


def _table(spark: SparkSession, format_: str, path: str, options: dict[str, str]) -> DataFrame:
    """Read subscriptions from files, with the declared columns."""
    if format_ == "csv":
        # A condition has quotes and commas.
        return _csv(spark, spark.read, path, subscription_schema(flat=True), {"escape": '"'} | options)
    reader = spark.read.schema(subscription_schema()) if format_ == "json" else spark.read
    found: DataFrame = reader.options(**options).format(format_).load(path)
    return found


def _csv(spark: SparkSession, reader: Any, path: str, wanted: StructType, options: dict[str, str]) -> DataFrame:
    """Read those of the wanted columns that CSV has, by the names in its first line; a file with others is an error.

    Spark goes by the order of columns, and compares names only if there are as many: so the names are read before, from
    the first file by name. Spark would take any.
    """
    common = {"header": "true"} | options
    there = files_in(Path(path))
    names = spark.read.options(**common).csv(str(there[0]) if there else path).columns
    kinds = {field.name: field.dataType for field in wanted.fields}
    schema = StructType([StructField(name, kinds.get(name, StringType())) for name in names]).add(CORRUPT, StringType())
    # Lines are looked at as a whole, whichever columns are asked for.
    fixed = {"columnNameOfCorruptRecord": CORRUPT, "enforceSchema": "false", "columnPruning": "false"}
    found: DataFrame = reader.options(**common, **fixed).schema(schema).csv(path)
    return found.select(*(f"`{name}`" for name in names if name in kinds), CORRUPT, F.col(_FILE).alias(PLACE))
