"""Notifications reach a real PostgreSQL once, however often a batch is repeated."""

from pathlib import Path

import psycopg
import pytest
from pyspark.sql import DataFrame, SparkSession

from tamis.pipeline.connectors.identified import identified
from tamis.pipeline.connectors.postgres import write_postgres
from tamis.pipeline.job.reaching import table_columns

TABLE = """
create table alerts (
    notification_id text primary key, batch_id bigint, n bigint, subscription_id text, tags text[], deep jsonb,
    at timestamptz, subscription_version bigint
)
"""


def rows(dsn: str) -> list[tuple[int, str, int]]:
    with psycopg.connect(dsn) as connection:
        return connection.execute("select n, subscription_id, batch_id from alerts order by 1, 2").fetchall()


def test_a_batch_that_is_repeated_leaves_no_row_twice(spark: SparkSession, dsn: str) -> None:
    with psycopg.connect(dsn) as connection:
        connection.execute(TABLE)
    answers = spark.sql(
        "select id as n, array('x', null, 'a,b') as tags, named_struct('k', 'v') as deep, "
        "timestamp '2026-01-01' as at, explode(array('a', 'b')) as subscription_id, 1L as subscription_version "
        "from range(0, 3, 1, 2)"
    )
    named = identified(answers, "job-0")
    assert write_postgres(named, 0, dsn, "public.alerts") == 6
    # The first try got half of its way, say: the rest comes, and what is there stays.
    with psycopg.connect(dsn) as connection:
        connection.execute("delete from alerts where n = 1")
    assert write_postgres(named, 0, dsn, "alerts") == 2
    assert write_postgres(named, 0, dsn, "alerts") == 0
    assert rows(dsn) == [(n, id, 0) for n in range(3) for id in ("a", "b")]
    assert write_postgres(identified(answers.limit(1), "job-1"), 1, dsn, "alerts") == 1
    with psycopg.connect(dsn) as connection:
        found = connection.execute("select tags, deep, at at time zone 'UTC' from alerts limit 1").fetchone()
    assert found is not None
    assert (found[0], found[1], found[2].isoformat()) == (["x", None, "a,b"], {"k": "v"}, "2026-01-01T00:00:00")


def test_with_a_key_ids_depend_on_the_event_alone(spark: SparkSession) -> None:
    answers = spark.sql("select id as n, string(id % 2) as subscription_id, rand() as x from range(6)")

    def ids(frame: DataFrame) -> dict[tuple[int, str], str]:
        return {(row.n, row.subscription_id): row.notification_id for row in frame.collect()}

    first = ids(identified(answers, "a", ["n"]))
    again = ids(identified(answers.orderBy("x"), "b", ["n"]))
    assert first == again
    assert len(set(first.values())) == 6
    # Null is no empty text.
    odd = spark.sql("select * from values (null, '1'), ('', '1') as t(n, subscription_id)")
    assert len({row.notification_id for row in identified(odd, "a", ["n"]).collect()}) == 2
    with pytest.raises(ValueError, match="the key has a column 'm', but the answers have"):
        identified(answers, "a", ["m"])


def test_a_table_that_cannot_be_reached_is_told(dsn: str, tmp_path: Path) -> None:
    with pytest.raises(ValueError, match='PostgreSQL: relation "nothing" does not exist'):
        table_columns(dsn, "nothing")
    with pytest.raises(ValueError, match="PostgreSQL: connection"):
        table_columns(f"postgresql://nobody@/none?host={tmp_path}", "alerts")
