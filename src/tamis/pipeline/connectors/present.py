"""Which connectors are there, and what to do where one is not."""

from importlib.util import find_spec
from typing import Final

import pyspark
from pyspark.errors import PySparkException
from pyspark.sql import SparkSession

#: Where the standard Kafka connector comes from.
KAFKA_PACKAGE: Final = "org.apache.spark:spark-sql-kafka-0-10_2.13"
STANDARD: Final = "kafka"
OURS: Final = "tamis-kafka"
_NEITHER: Final = (
    "there is no Kafka connector: install confluent-kafka (pip install 'tamis[kafka]'), or let Spark fetch its own "
    'with [spark.conf] "spark.jars.packages" = "{package}:{version}"'
)


class MissingConnectorError(ValueError):
    """A connector is not there. The message says what to install."""


def kafka_format(spark: SparkSession, wanted: str = "auto") -> str:
    """Return the format by which Kafka is read and written, ready for use: the standard one if it is there, or ours.

    `wanted` may be `spark` or `python` for one of them alone.
    """
    hint = _NEITHER.format(package=KAFKA_PACKAGE, version=pyspark.__version__)
    if wanted in ("auto", "spark") and has_standard_kafka(spark):
        return STANDARD
    if wanted == "spark":
        raise MissingConnectorError(f"Spark has no Kafka connector of its own here; {hint.partition(': ')[2]}")
    if find_spec("confluent_kafka") is None:
        raise MissingConnectorError(hint)
    from tamis.pipeline.connectors.kafka import KafkaSource

    spark.dataSource.register(KafkaSource)
    return OURS


def has_standard_kafka(spark: SparkSession) -> bool:
    """Say whether Spark finds its own Kafka connector. Nobody is called."""
    options = {"kafka.bootstrap.servers": "localhost:9", "subscribe": "none"}
    try:
        # Asking for the columns makes Spark look for it, also where the session is remote.
        spark.read.format(STANDARD).options(**options).load().schema  # noqa: B018
    except PySparkException:
        return False
    return True


def need_psycopg() -> None:
    """See that PostgreSQL can be written."""
    if find_spec("psycopg") is None:
        raise MissingConnectorError("there is no PostgreSQL client: pip install 'tamis[postgres]'")
