"""Subscriptions in a database: by JDBC where Spark has the driver, PostgreSQL without, and told what is missing."""

import datetime as dt
from pathlib import Path

import psycopg
import pyarrow as pa
import pytest
from pyspark.sql import SparkSession

from support.jobs import answers, ran, settled
from tamis.pipeline import EventLog, compile, rejects  # noqa: A004 - it is one
from tamis.pipeline.connectors import database
from tamis.pipeline.connectors.database import read_database
from tamis.pipeline.connectors.present import MissingConnectorError

TABLE = """
create table rules (
    id varchar(20), condition text, notify text, owner uuid, tags text[], active boolean, version integer,
    price numeric, at timestamptz, sizes smallint[]
);
insert into rules values
    ('a', 'x > 1', null, '00000000-0000-0000-0000-000000000001', '{p,q,null}', true, 1, 1.50,
        '2026-01-01 00:00Z', '{1}'),
    ('b', 'x >', null, null, null, null, null, null, null, null),
    ('c', 'x < 0', 'x moves 2', null, '{}', false, 2, null, null, null)
"""


@pytest.fixture
def rules(dsn: str) -> str:
    with psycopg.connect(dsn) as connection:
        connection.execute("drop table if exists rules")
        connection.execute(TABLE)
    return f"jdbc:{dsn}"


def test_postgres_is_read_without_a_driver(spark: SparkSession, rules: str, tmp_path: Path) -> None:
    table = read_database(spark, {"url": rules, "dbtable": "public.rules"})
    assert table.schema.simpleString() == (
        "struct<id:string,condition:string,notify:string,owner:string,tags:array<string>,active:boolean,version:int,"
        "price:string,at:timestamp,sizes:array<smallint>>"
    )
    first, _, last = table.orderBy("id").collect()
    assert (first.owner[-1], first.tags, first.price, first.sizes) == ("1", ["p", "q", None], "1.50", [1])
    assert first["at"] == dt.datetime(2026, 1, 1)  # noqa: DTZ001 - as Spark gives it, in UTC
    assert (last.tags, last.active) == ([], False)
    made = compile(table, tmp_path)
    assert (made.counts.active, made.counts.rejected, made.counts.inactive) == (1, 1, 1)
    assert [row.id for row in rejects(spark, tmp_path).collect()] == ["b"]
    chosen = read_database(
        spark, {"url": rules, "query": "select id as n, 'x' as \"Odd name\" from rules where active"}
    )
    assert [tuple(row) for row in chosen.collect()] == [("a", "x")]
    assert chosen.columns == ["n", "Odd name"]


def test_many_rows_come_in_batches(spark: SparkSession, rules: str) -> None:
    query = "select id, 'x = ' || id as condition from generate_series(1, 25000) as id"
    table = read_database(spark, {"url": rules, "query": query})
    assert table.schema.simpleString() == "struct<id:int,condition:string>"
    assert table.selectExpr("count(*)", "sum(id)", "max(length(condition))").collect()[0][:] == (25_000, 312_512_500, 9)


def test_where_spark_has_a_driver_it_reads(spark: SparkSession, tmp_path: Path) -> None:
    # Derby comes with Spark.
    options = {"url": "jdbc:derby:memory:rules;create=true", "dbtable": "rules"}
    given = spark.createDataFrame(
        [(1, "x > 1", "p, q", True), (2, "x >", None, None)], "id long, condition string, tags string, active boolean"
    )
    given.write.format("jdbc").options(**options).mode("overwrite").save()
    table = read_database(spark, options | {"fetchsize": "10"})
    assert sorted(tuple(row) for row in table.collect()) == [(1, "x > 1", "p, q", True), (2, "x >", None, None)]
    made = compile(table, tmp_path)
    assert (made.ids, made.counts.active, made.counts.rejected) == ("long", 1, 1)


def test_a_job_follows_its_database(spark: SparkSession, rules: str, tmp_path: Path) -> None:
    (tmp_path / "pipeline.toml").write_text(
        f"""[job]
name = "rules"
mode = "catch-up"
[subscriptions]
format = "jdbc"
options = {{ url = "{rules}", dbtable = "rules" }}
[events]
format = "log"
path = "log"
[sink]
format = "json"
path = "answers"
"""
    )
    log, settings = EventLog(tmp_path / "log"), settled(tmp_path / "pipeline.toml")
    log.append(pa.table({"n": [1], "x": [2.0]}))
    first = ran(spark, settings)
    assert (first.subscriptions, first.rejected_subscriptions, first.version) == (1, 1, 1)
    assert ran(spark, settings).version == 1
    with psycopg.connect(rules.removeprefix("jdbc:")) as connection:
        connection.execute("update rules set condition = 'x = 3' where id = 'b'")
    log.append(pa.table({"n": [2], "x": [3.0]}))
    assert ran(spark, settings).version == 2
    assert answers(tmp_path / "answers") == [(1, "a"), (2, "a"), (2, "b")]


def test_what_is_missing_or_wrong_is_told(
    spark: SparkSession, rules: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    with pytest.raises(
        MissingConnectorError, match=r'no JDBC driver for jdbc:oracle:thin:@: name its file in .* "spark'
    ):
        read_database(spark, {"url": "jdbc:oracle:thin:@//host/x", "dbtable": "rules"})
    for more in ({"partitionColumn": "id"}, {"driver": "org.postgresql.Driver"}):
        with pytest.raises(MissingConnectorError, match=f"without one, '{next(iter(more))}' is no option"):
            read_database(spark, {"url": rules, "dbtable": "rules"} | more)
    with pytest.raises(ValueError, match="one of the options 'dbtable' and 'query' says what is read"):
        read_database(spark, {"url": rules})
    with pytest.raises(ValueError, match="an address such as jdbc:postgresql://host/database, not 'postgres://x'"):
        read_database(spark, {"url": "postgres://x", "dbtable": "rules"})
    with pytest.raises(Exception, match='PostgreSQL: relation "nothing" does not exist'):
        read_database(spark, {"url": rules, "dbtable": "nothing"}).schema  # noqa: B018
    with pytest.raises(Exception, match="PostgreSQL: connection"):
        read_database(spark, {"url": f"jdbc:postgresql:x?host={tmp_path}", "dbtable": "rules"}).schema  # noqa: B018
    monkeypatch.setattr(database, "find_spec", lambda _: None)
    with pytest.raises(
        MissingConnectorError, match=r"no JDBC driver for PostgreSQL: .*; or pip install 'tamis\[postgres\]'"
    ):
        read_database(spark, {"url": rules, "dbtable": "rules"})
