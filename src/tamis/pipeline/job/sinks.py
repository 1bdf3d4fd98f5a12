"""Where answers go: a batch that is repeated leaves the same as one."""

from collections.abc import Callable
from typing import Final

from pyspark.sql import DataFrame
from pyspark.sql import functions as F  # noqa: N812 - as everybody writes it

from tamis.pipeline.connectors.identified import NOTIFICATION, identified
from tamis.pipeline.connectors.present import STANDARD, kafka_format
from tamis.pipeline.job.settings import FILES, Settings
from tamis.pipeline.job.sources import KAFKA_KEY
from tamis.pipeline.schema import ID


def write(answers: DataFrame, settings: Settings, origin: str, batch: int | None) -> int | None:
    """Write the answers to a micro-batch, or to all events if it has no number.

    Files of a batch replace those of its first try. Kafka, brokers and databases get an id with each row, which is the
    same when it comes again. If rows cannot be observed on their way, it is returned how many they were.
    """
    sink = settings.sink
    if sink.format in FILES:
        assert sink.path is not None
        folder = sink.path if batch is None else f"{sink.path}/batch={batch}"
        answers.write.mode("overwrite").options(**sink.options).format(sink.format).save(folder)
        return None
    key = sink.key or (KAFKA_KEY if set(KAFKA_KEY) <= set(answers.columns) else [])
    named = identified(answers, origin if batch is None else f"{origin}-{batch}", key)
    return _SINKS[sink.format](named, settings, 0 if batch is None else batch)


def _kafka(rows: DataFrame, settings: Settings, _batch: int) -> int | None:
    format_ = kafka_format(rows.sparkSession, settings.sink.connector)
    own = [F.col(f"`{name}`") for name in rows.columns if name != NOTIFICATION]
    columns = [F.to_json(F.struct(*own)).alias("value")]
    if ID in rows.columns:
        columns.append(F.col(ID).cast("string").alias("key"))
    if format_ == STANDARD:
        header = F.struct(F.lit(NOTIFICATION).alias("key"), F.col(NOTIFICATION).cast("binary").alias("value"))
        columns.append(F.array(header).alias("headers"))
    else:
        columns.append(F.col(NOTIFICATION))
    records = rows.select(*columns)
    if format_ != STANDARD:
        _append(records, format_, settings)
        return None
    # Spark runs the plan of this sink out of sight: an observation would wait for ever.
    records = records.persist()
    try:
        count: int = records.count()
        _append(records, format_, settings)
    finally:
        records.unpersist()
    return count


def _append(rows: DataFrame, format_: str, settings: Settings) -> None:
    rows.write.format(format_).options(**settings.sink.options).mode("append").save()


def _tamis(rows: DataFrame, settings: Settings, _batch: int) -> int | None:
    from tamis.pipeline.connectors.broker import FORMAT, BrokerSource

    rows.sparkSession.dataSource.register(BrokerSource)
    _append(rows, FORMAT, settings)
    return None


def _postgres(rows: DataFrame, settings: Settings, batch: int) -> int | None:
    from tamis.pipeline.connectors.postgres import write_postgres

    write_postgres(rows, batch, settings.sink.options["dsn"], settings.sink.options["table"])
    return None


_SINKS: Final[dict[str, Callable[[DataFrame, Settings, int], int | None]]] = {
    "kafka": _kafka,
    "tamis": _tamis,
    "postgres": _postgres,
}
