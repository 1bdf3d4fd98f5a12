"""From Kafka to Kafka: nothing is lost, nothing comes twice to what is idempotent, and bad records are put aside."""

import json
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from pyspark.sql import DataFrame, SparkSession

from support.jobs import PATIENCE, ran, settled
from support.kafka import CONNECTOR, Kafka, fetched, mock_kafka, real_kafka
from support.spark import apart
from tamis.pipeline.connectors.kafka import KafkaSource
from tamis.pipeline.connectors.rejects import Rejects
from tamis.pipeline.job import delivering
from tamis.pipeline.job.checking import check_job
from tamis.pipeline.job.sinks import write

SCHEMA = "n long, x double"


@pytest.fixture(scope="module")
def real(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Kafka]:
    with real_kafka(tmp_path_factory.mktemp("kafka")) as broker:
        yield broker


@pytest.fixture(scope="module", params=["mock", "real"])
def kafka(request: pytest.FixtureRequest) -> Iterator[Kafka]:
    if request.param == "real":
        yield request.getfixturevalue("real")
    else:
        with mock_kafka() as broker:
            yield broker


def job(folder: Path, servers: str, topics: str) -> Path:
    (folder / "subscriptions.csv").write_text("id,condition\nhigh,x > 10\nany,n >= 0\n")
    (folder / "pipeline.toml").write_text(
        f"""[job]
name = "kafka"
mode = "catch-up"
[subscriptions]
format = "csv"
path = "subscriptions.csv"
[events]
format = "kafka"
schema = "{SCHEMA}"
most = 4
[events.options]
"kafka.bootstrap.servers" = "{servers}"
subscribe = "{topics}"
startingOffsets = "earliest"
[sink]
format = "kafka"
[sink.options]
"kafka.bootstrap.servers" = "{servers}"
topic = "{topics}-out"
"""
    )
    return folder / "pipeline.toml"


def told(kafka: Kafka, topic: str) -> list[tuple[str, int, int]]:
    """Return what was sent: the subscription, the event, and the version."""
    found = []
    for record in kafka.records(topic):
        value = json.loads(record.value())
        assert record.key().decode() == value["subscription_id"]
        found.append((value["subscription_id"], value["n"], value["subscription_version"]))
    return sorted(found)


def test_from_topic_to_topic_with_bad_records_and_a_restart(
    spark: SparkSession, tmp_path: Path, kafka: Kafka, monkeypatch: pytest.MonkeyPatch
) -> None:
    kafka.put("quotes", b'{"n": 1, "x": 5}', b"nonsense", None, b'{"n": 2, "x": 50}')
    kafka.put("quotes", b'{"n": 3, "x": "high"}', partition=1)
    settings = settled(job(tmp_path, kafka.servers, "quotes"), sink={"connector": "python"})
    failed: list[int] = []

    def failing(frame: DataFrame, settings: Any, origin: str, batch: int | None) -> int | None:
        if batch == 1 and not failed:
            failed.append(batch)
            raise OSError("the sink is lost before its write")
        return write(frame, settings, origin, batch)

    monkeypatch.setattr(delivering, "write", failing)
    with pytest.raises(Exception, match="the sink is lost"):
        ran(spark, settings)
    # The batch that was begun meets the version that it was begun with; those after it the new one.
    (tmp_path / "subscriptions.csv").write_text("id,condition\nnew,n >= 0\n")
    kafka.put("quotes", b'{"n": 4, "x": 0}', partition=2)
    summary = ran(spark, settings)
    sent = told(kafka, "quotes-out")
    assert sorted((id, n) for id, n, _ in sent if n != 4) == [("any", 1), ("any", 2), ("high", 2)]
    assert [each for each in sent if each[1] == 4] == [("new", 4, 2)]
    rejects = Rejects(tmp_path / "state" / "rejects").table()
    assert sorted(rejects["place"].to_pylist()) == [
        "quotes partition 0 offset 1",
        "quotes partition 0 offset 2",
        "quotes partition 1 offset 0",
    ]
    assert summary.ended == "end"
    headers = [record.headers() for record in kafka.records("quotes-out")]
    assert len({header[0][1] for header in headers}) == len(sent)
    assert ran(spark, settings).batches == 0


def test_sparks_own_connector_gives_the_same(tmp_path: Path, real: Kafka) -> None:
    jars = fetched(tmp_path, *CONNECTOR, alone=True).glob("*.jar")
    real.put("trades", b'{"n": 1, "x": 5}', b"nonsense", None, b'{"n": 2, "x": 50}')
    file = job(tmp_path, real.servers, "trades")
    text = file.read_text().replace('format = "kafka"', 'format = "kafka"\nconnector = "spark"')
    file.write_text(f'{text}[spark.conf]\n"spark.jars" = "{",".join(map(str, jars))}"\n')
    assert completed(file) == {"events": 4, "rejected": 2, "answers": 3}
    (tmp_path / "subscriptions.csv").write_text("id,condition\nnew,n >= 0\n")
    real.put("trades", b'{"n": 4, "x": 0}', partition=2)
    assert completed(file) == {"events": 1, "rejected": 0, "answers": 1}
    assert told(real, "trades-out") == [("any", 1, 1), ("any", 2, 1), ("high", 2, 1), ("new", 4, 2)]
    rejects = Rejects(tmp_path / "state" / "rejects").table()
    assert sorted(rejects["place"].to_pylist()) == ["trades partition 0 offset 1", "trades partition 0 offset 2"]


def completed(file: Path) -> dict[str, int]:
    """Run a job in a Spark of its own, and return how much it did."""
    command = [str(Path(sys.executable).with_name("tamis")), "pipeline", "run", str(file), "--json"]
    done = subprocess.run(command, capture_output=True, text=True, timeout=PATIENCE, check=False, env=apart())
    assert done.returncode == 0, done.stderr[-3_000:]
    summary = json.loads(done.stdout)
    return {name: summary[name] for name in ("events", "rejected", "answers")}


def test_a_table_has_what_is_there_between_two_bounds(spark: SparkSession, kafka: Kafka) -> None:
    spark.dataSource.register(KafkaSource)
    kafka.put("table", *(str(number).encode() for number in range(5)))
    options = {"kafka.bootstrap.servers": kafka.servers, "subscribe": "table"}
    bounds = {"startingOffsets": '{"table": {"0": 1}}', "endingOffsets": '{"table": {"0": 3}}'}
    frame = spark.read.format("tamis-kafka").options(**options, **bounds).load()
    rows = frame.orderBy("offset").collect()
    assert [(bytes(row.value), row.partition, row.offset, row.timestampType) for row in rows] == [
        (b"1", 0, 1, 0),
        (b"2", 0, 2, 0),
    ]
    assert spark.read.format("tamis-kafka").options(**options).load().count() == 5


@pytest.mark.parametrize(
    ("options", "said"),
    [
        ({"subscribe": "nowhere"}, "Kafka has no topic 'nowhere' that can be read"),
        ({"subscribe": " , "}, "the option 'subscribe' is missing"),
        ({"subscribe": "table", "startingOffsets": "soon"}, "option 'startingOffsets' is earliest, latest, or JSON"),
    ],
)
def test_options_that_are_wrong_are_told(spark: SparkSession, kafka: Kafka, options: dict[str, str], said: str) -> None:
    spark.dataSource.register(KafkaSource)
    kafka.put("table", b"1")
    with pytest.raises(Exception, match=said):
        spark.read.format("tamis-kafka").option("kafka.bootstrap.servers", kafka.servers).options(
            **options
        ).load().count()


def test_a_check_says_whether_kafka_answers_and_has_the_topics(
    spark: SparkSession, tmp_path: Path, kafka: Kafka
) -> None:
    kafka.put("there", b"{}")
    settings = settled(job(tmp_path, kafka.servers, "there"))
    found = check_job(settings, lambda: spark).findings
    assert [(each.level, each.section) for each in found if "Kafka" in each.text] == [
        ("ok", "events"),
        ("error", "sink"),
    ]
    assert any("has no topic there-out" in each.text for each in found)
    without = settled(job(tmp_path, kafka.servers, "there"), events={"connector": "spark"})
    errors = [each.text for each in check_job(without, lambda: spark).findings if each.level == "error"]
    assert any("spark.jars.packages" in text and "spark-sql-kafka-0-10_2.13" in text for text in errors)
