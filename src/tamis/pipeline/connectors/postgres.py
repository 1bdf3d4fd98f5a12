"""Notifications in a table of PostgreSQL, each once, however often a batch is repeated."""

from typing import Any

import pyarrow as pa
from pyspark.sql import DataFrame

from tamis.pipeline.connectors.identified import NOTIFICATION
from tamis.pipeline.connectors.present import need_psycopg
from tamis.pipeline.workers import Batches, by_workers


def write_postgres(notifications: DataFrame, batch: int, dsn: str, table: str) -> int:
    """Insert rows that are not there yet, and return how many that were. For `foreachBatch`:

        events.writeStream.foreachBatch(
            lambda frame, batch: write_postgres(identified(frame, f"alerts-{batch}"), batch, dsn, "alerts")
        )

    The table has the columns of the notifications; `notification_id` is its primary key, or unique; `batch_id` is
    added. `dsn` is as psycopg takes it. Every partition is one transaction.
    """
    need_psycopg()
    if NOTIFICATION not in notifications.columns:
        raise ValueError(f"notifications need a column {NOTIFICATION!r}: see identified")
    names = [*notifications.columns, "batch_id"]

    def insert(batches: Batches) -> Batches:
        yield pa.record_batch({"rows": pa.array([_inserted(dsn, table, names, batch, batches)], pa.int64())})

    inserted = notifications.mapInArrow(by_workers(insert, f"insert notifications into {table}"), "rows long")
    return sum(row.rows for row in inserted.collect())


def _inserted(dsn: str, table: str, names: list[str], batch: int, batches: Batches) -> int:
    import psycopg
    from psycopg import sql

    target = sql.Identifier(*table.split("."))
    columns = sql.SQL(", ").join(map(sql.Identifier, names))
    with psycopg.connect(dsn) as connection, connection.cursor() as cursor:
        # By way of a table without keys: COPY is quick, but it knows no conflicts.
        cursor.execute(
            sql.SQL("create temporary table arrived on commit drop as select {} from {} with no data").format(
                columns, target
            )
        )
        with cursor.copy(sql.SQL("copy arrived ({}) from stdin").format(columns)) as copy:
            for each in batches:
                for row in zip(*(column.to_pylist() for column in each.columns), strict=True):
                    copy.write_row([*map(_value, row), batch])
        cursor.execute(
            sql.SQL("insert into {} ({}) select {} from arrived on conflict ({}) do nothing").format(
                target, columns, columns, sql.Identifier(NOTIFICATION)
            )
        )
        return cursor.rowcount


def _value(value: Any) -> Any:
    if isinstance(value, dict):
        from psycopg.types.json import Jsonb

        return Jsonb(value)
    return value
