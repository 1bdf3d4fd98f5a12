"""From a broker to a broker: a restarted query neither loses nor repeats, and a repeated batch repeats its ids."""

import asyncio
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from pyspark.sql import DataFrame, SparkSession

from support.brokers import BrokerProcess
from support.jobs import answers, ran, settled
from tamis.client.blocking import BlockingClient, connect
from tamis.pipeline import EventLog
from tamis.pipeline.connectors.broker import FORMAT, BrokerSource
from tamis.pipeline.connectors.rejects import Rejects
from tamis.pipeline.job import delivering
from tamis.pipeline.job.sinks import write


@pytest.fixture
def client(tmp_path: Path) -> Iterator[BlockingClient]:
    broker = BrokerProcess(tmp_path, "b", "--store", str(tmp_path / "broker.db"))
    try:
        asyncio.run(broker.ready())
        (tmp_path / "url").write_text(broker.url)
        with connect(broker.url) as client:
            yield client
    finally:
        broker.stop()


def job(folder: Path, sink: str) -> Path:
    (folder / "subscriptions.csv").write_text("id,condition\nhigh,x > 10\nany,n >= 0\n")
    url = (folder / "url").read_text()
    (folder / "pipeline.toml").write_text(
        f"""[job]
name = "broker"
mode = "catch-up"
[subscriptions]
format = "csv"
path = "subscriptions.csv"
[events]
format = "tamis"
path = "received"
schema = "n long, x double, at timestamp"
most = 1
[events.options]
url = "{url}"
durable = "spark"
condition = "n < 100"
[sink]
{sink}
"""
    )
    return folder / "pipeline.toml"


def test_a_query_that_is_restarted_neither_loses_nor_repeats(
    spark: SparkSession, tmp_path: Path, client: BlockingClient, monkeypatch: pytest.MonkeyPatch
) -> None:
    settings = settled(job(tmp_path, 'format = "json"\npath = "answers"'))
    # The subscription is there from the first run on.
    assert ran(spark, settings).events == 0
    client.publish_many([{"n": n, "x": 3.0 * n} for n in range(6)], durable=True)
    client.publish_many([{"n": 200}, {"n": 7, "x": "high"}], durable=True)
    failed: list[int] = []

    def failing(frame: DataFrame, settings: Any, origin: str, batch: int | None) -> int | None:
        known = write(frame, settings, origin, batch)
        if not failed:
            failed.append(batch or 0)
            raise OSError("the sink is lost after its write")
        return known

    monkeypatch.setattr(delivering, "write", failing)
    with pytest.raises(Exception, match="the sink is lost"):
        ran(spark, settings)
    client.publish({"n": 50, "x": 0.0}, durable=True)
    ran(spark, settings)
    right = [(n, "any") for n in (*range(6), 50)] + [(n, "high") for n in (4, 5)]
    assert answers(tmp_path / "answers") == sorted(right)
    rejects = Rejects(tmp_path / "state" / "rejects").table()
    assert rejects["record"].to_pylist() == ['{"n":7,"x":"high"}']
    # The broker keeps nothing that the log has.
    assert ran(spark, settings).batches == 0
    log = EventLog(tmp_path / "received")
    kept = [
        row
        for number in range(1, log.last() + 1)
        for batch in log.read(number, log.schema())
        for row in batch.to_pylist()
    ]
    assert len({row["id"] for row in kept}) == len(kept) == 8


def test_a_batch_that_is_repeated_is_delivered_once(
    spark: SparkSession, tmp_path: Path, client: BlockingClient
) -> None:
    spark.dataSource.register(BrokerSource)
    url = (tmp_path / "url").read_text()
    rows = spark.sql(
        "select string(id) as notification_id, id as n, if(id = 2, null, timestamp '2026-01-01') as at from range(4)"
    )
    with client.subscribe("n >= 0") as received:
        for _ in range(2):
            rows.write.format(FORMAT).option("url", url).mode("append").save()
        client.publish({"n": 99})
        found = []
        while (event := received.take(60))["n"] != 99:
            found.append((event["n"], str(event.id), sorted(event)))
    assert sorted(found) == [(n, str(n), ["n"] if n == 2 else ["at", "n"]) for n in range(4)]


def test_what_is_missing_is_told(spark: SparkSession, tmp_path: Path) -> None:
    spark.dataSource.register(BrokerSource)
    with pytest.raises(Exception, match="the option 'durable' is missing: the name of the subscription"):
        spark.readStream.format(FORMAT).option("url", "tamis://localhost:9").load(str(tmp_path)).schema  # noqa: B018
    with pytest.raises(Exception, match="a broker is written rows with a column 'notification_id'"):
        spark.range(1).write.format(FORMAT).option("url", "tamis://localhost:9").mode("append").save()
