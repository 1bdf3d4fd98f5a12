"""A check finds what is wrong with a job before it runs, leaves nothing behind, and finds the sample fine."""

from pathlib import Path

from pyspark.sql import SparkSession

from support.jobs import settled
from tamis.pipeline.job.checking import Checked, check_job
from tamis.pipeline.job.sample import write_sample


def checked(spark: SparkSession, folder: Path, **changes: object) -> tuple[Checked, str]:
    found = check_job(settled(folder / "pipeline.toml", **changes), lambda: spark)
    return found, "\n".join(f"{each.level} {each.section}: {each.text}" for each in found.findings)


def test_the_sample_is_fine_and_its_slip_is_told(spark: SparkSession, tmp_path: Path) -> None:
    write_sample(tmp_path)
    found, told = checked(spark, tmp_path)
    assert found.is_fine
    assert "ok subscriptions: 6 conditions, 1 switched off" in told
    assert "warning subscriptions: slip, character 8: expected a value, found the end in 'price > '" in told
    assert "ok events: columns: struct<n:bigint,symbol:string,price:double,volume:bigint,at:timestamp>" in told
    assert not any((tmp_path / "state").iterdir())


def test_what_is_wrong_is_told_at_once(spark: SparkSession, tmp_path: Path) -> None:
    write_sample(tmp_path)
    (tmp_path / "subscriptions.csv").write_text("id,condition\na,symbl = 'ACME' and price = 'high'\n")
    found, told = checked(spark, tmp_path, match={"columns": ["nothing"]})
    assert not found.is_fine
    assert "error events: there is no column 'nothing' to keep; there are: n, symbol" in told
    _, told = checked(spark, tmp_path, events={"schema": "n long, symbol"})
    assert "error events: [events] schema 'n long, symbol' is none" in told
    _, told = checked(spark, tmp_path)
    assert "warning match: no column for symbl (1): these predicates are never true" in told
    assert "column price is double, but is compared with string in 1 predicates" in told
    (tmp_path / "subscriptions.csv").write_text("name,condition\n")
    found, told = checked(spark, tmp_path)
    assert "error subscriptions: subscriptions need a column 'id'; there are: condition" in told
    # Without files Spark is not even asked.
    found = check_job(settled(tmp_path / "pipeline.toml", events={"path": str(tmp_path / "none")}), lambda: 1 / 0)
    assert [each.level for each in found.findings if each.section == "events"] == ["error"]


def test_a_sink_that_does_not_answer_is_told(spark: SparkSession, tmp_path: Path) -> None:
    write_sample(tmp_path)
    nobody = {"format": "postgres", "options": {"dsn": f"postgresql:///x?host={tmp_path}", "table": "alerts"}}
    _, told = checked(spark, tmp_path, sink=nobody)
    assert "error sink: PostgreSQL: connection" in told
    _, told = checked(spark, tmp_path, sink={"format": "tamis", "options": {"url": "tamis://127.0.0.1:9"}})
    assert "error sink: no broker at 127.0.0.1:9" in told
