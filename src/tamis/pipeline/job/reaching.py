"""Whether those who are to be read or written answer."""

from collections.abc import Mapping
from importlib.util import find_spec
from typing import Final

from tamis.pipeline.connectors.kafka_options import SERVERS, client_options
from tamis.pipeline.connectors.present import need_psycopg

#: Seconds that an answer may take.
PATIENCE: Final = 10.0


def answering_kafka(options: Mapping[str, str], topics: str) -> None:
    """See that Kafka answers and has the topics that an option names; a `ValueError` tells what is not there."""
    if find_spec("confluent_kafka") is None:
        # The standard connector is used, and it will tell by itself.
        return
    from confluent_kafka import KafkaException
    from confluent_kafka.admin import AdminClient

    admin = AdminClient(client_options(options))
    try:
        there = admin.list_topics(timeout=PATIENCE).topics
    except KafkaException as error:
        raise ValueError(f"Kafka at {options[SERVERS]} does not answer: {error.args[0].str()}") from None
    missing = [name.strip() for name in options[topics].split(",") if name.strip() not in there]
    if missing:
        raise ValueError(f"Kafka at {options[SERVERS]} has no topic {', '.join(missing)}")


def table_columns(dsn: str, table: str) -> list[str]:
    """Return the columns of a table of PostgreSQL; a `ValueError` tells if it cannot be reached."""
    need_psycopg()
    import psycopg
    from psycopg import sql

    try:
        with psycopg.connect(dsn, connect_timeout=int(PATIENCE)) as connection:
            cursor = connection.execute(sql.SQL("select * from {} limit 0").format(sql.Identifier(*table.split("."))))
            return [column.name for column in cursor.description or ()]
    except psycopg.Error as error:
        raise ValueError(f"PostgreSQL: {str(error).strip().splitlines()[0]}") from None


def broker_answers(url: str) -> str:
    """Return the address of a broker that answers; a `ValueError` tells if none does."""
    from tamis.client import ClientError
    from tamis.client.blocking import connect

    try:
        with connect(url, timeout=PATIENCE):
            return url
    except ClientError as error:
        raise ValueError(str(error)) from None
