"""`match` says what `tamis.Index` says and what Spark SQL says of the same conditions."""

import datetime as dt
import random
import warnings
from contextlib import redirect_stdout
from decimal import Decimal
from io import StringIO
from pathlib import Path
from typing import Any

import pyarrow as pa
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from pyspark.sql import DataFrame, SparkSession
from pyspark.sql import functions as F  # noqa: N812 - as everybody writes it
from pyspark.sql.types import StructType

import tamis
from support.judges import SCHEMA, Source
from support.stores import stored
from tamis.pipeline import AttributeWarning, check, compile, match  # noqa: A004 - it is one

CONDITIONS, EVENTS = 60, 40
#: What Spark has and the source of random events has not.
MORE = [
    "amount > 10.25",
    "amount = 3.5",
    "amount between -1 and 10.25",
    "amount not in (3.5, 99)",
    "small < 3",
    "small <> 0.5",
    "real >= 0.5 and real < 1e10",
    "deep.inner.level = 'x'",
    "deep.inner.level is null",
    "array_contains(deep.inner.codes, 2)",
    "not array_contains(deep.inner.codes, 2)",
    "local >= timestamp '2026-01-01 12:00:00'",
    "`odd name` = 1 and `a.b` > 2",
    "true",
    "false",
]


def more(seed: int) -> list[dict[str, Any]]:
    chance = random.Random(seed)
    return [
        {
            "number": number,
            "amount": chance.choice([None, Decimal("10.25"), Decimal("10.26"), Decimal("3.50"), Decimal("-7")]),
            "small": chance.choice([None, -1, 0, 2, 3]),
            "real": chance.choice([None, 0.5, 0.25, 1e12]),
            "deep": chance.choice(
                [
                    None,
                    {"inner": None},
                    {"inner": {"level": "x", "codes": [1, 2]}},
                    {"inner": {"level": None, "codes": [1, None]}},
                ]
            ),
            "local": chance.choice([None, dt.datetime(2026, 1, 1, 12), dt.datetime(2026, 1, 1, 11, 59)]),  # noqa: DTZ001
            "odd name": chance.choice([None, 1, 2]),
            "a.b": chance.choice([None, 2, 3]),
        }
        for number in range(EVENTS)
    ]


ALL = pa.schema(
    [
        *SCHEMA,
        ("number", pa.int64()),
        ("amount", pa.decimal128(12, 2)),
        ("small", pa.int8()),
        ("real", pa.float32()),
        ("deep", pa.struct({"inner": pa.struct({"level": pa.string(), "codes": pa.list_(pa.int32())})})),
        ("local", pa.timestamp("us")),
        ("odd name", pa.int32()),
        ("a.b", pa.int64()),
    ]
)


def table_of(seed: int) -> pa.Table:
    random_ones = Source(seed, null_elements=True).events(EVENTS)
    return pa.Table.from_pylist([one | two for one, two in zip(random_ones, more(seed), strict=True)], ALL)


def subscribed(spark: SparkSession, conditions: dict[int, str]) -> DataFrame:
    return spark.createDataFrame(list(conditions.items()), "id long, condition string")


def pairs(answer: DataFrame) -> set[tuple[int, int]]:
    found = [(row.number, row.subscription_id) for row in answer.select("number", "subscription_id").collect()]
    assert len(found) == len(set(found))
    return set(found)


@settings(max_examples=3, suppress_health_check=[HealthCheck.too_slow])
@given(seed=st.integers(0, 2**32))
def test_index_and_spark_sql_agree(spark: SparkSession, tmp_path_factory: pytest.TempPathFactory, seed: int) -> None:
    source = Source(seed, null_elements=True)
    conditions = dict(enumerate([*(str(source.condition()) for _ in range(CONDITIONS)), *MORE]))
    table = table_of(seed)
    events = spark.createDataFrame(table)
    path = tmp_path_factory.mktemp("store")
    assert compile(subscribed(spark, conditions), path).counts.rejected == 0
    found = pairs(match(events, path, output="pairs", columns=["number"]))
    index = tamis.Index()
    index.add_many(list(conditions), list(conditions.values()))
    answer = index.match_batch(table)
    assert found == {(number, int(id)) for number in range(EVENTS) for id in answer.row(number)}
    judged = events.select("number", *(F.expr(text).alias(f"c{id}") for id, text in conditions.items()))
    assert found == {(row[0], id) for row in judged.collect() for id in conditions if row[1 + id] is True}


@pytest.fixture
def store(tmp_path: Path) -> Path:
    stored(tmp_path / "s", [{"a": "price > 10", "b": "price < 5"}, {"c": "name = 'x'", "d": "price is null"}])
    return tmp_path / "s"


def some(spark: SparkSession) -> DataFrame:
    rows = [(1, 20.0, "x"), (2, 3.0, None), (3, float("nan"), "x"), (4, None, "y"), (5, 7.0, "y")]
    return spark.createDataFrame(rows, "n int, price double, name string")


EXPECTED = {1: ["a", "c"], 2: ["b"], 3: ["c", "d"], 4: ["d"], 5: []}


def lists(answer: DataFrame) -> dict[int, list[str]]:
    return {row.n: sorted(row.subscription_ids) for row in answer.collect()}


def test_lists_keep_every_event_and_all_columns(spark: SparkSession, store: Path) -> None:
    answer = match(some(spark), store)
    assert answer.columns == ["n", "price", "name", "subscription_ids", "subscription_version"]
    assert answer.schema["subscription_ids"].dataType.simpleString() == "array<string>"
    assert lists(answer) == EXPECTED
    assert {row.subscription_version for row in answer.collect()} == {1}


def test_columns_choose_what_is_kept_and_the_rest_is_not_even_read(spark: SparkSession, store: Path) -> None:
    answer = match(some(spark).withColumn("unused", F.expr("array(1, 2)")), store, columns=["n"])
    assert answer.columns == ["n", "subscription_ids", "subscription_version"]
    assert lists(answer) == EXPECTED


def test_an_index_that_is_dealt_out_answers_the_same(spark: SparkSession, store: Path) -> None:
    assert lists(match(some(spark), store, strategy="shard")) == EXPECTED
    answer = match(some(spark), store, strategy="shard", output="pairs")
    assert sorted((row.n, row.subscription_id) for row in answer.collect()) == [
        (n, id) for n, ids in EXPECTED.items() for id in ids
    ]


def plan(answer: DataFrame) -> str:
    with redirect_stdout(StringIO()) as said:
        answer.explain(extended=True)
    return said.getvalue()


def test_the_plan_tells_version_size_and_strategy(spark: SparkSession, store: Path) -> None:
    assert "match against version 1 (4 subscriptions, 0.0 MiB; index on every host)" in plan(match(some(spark), store))
    dealt = plan(match(some(spark), store, strategy="shard"))
    assert "index dealt to 2 slots, events sent to all" in dealt


def test_a_table_of_subscriptions_is_compiled_at_once(spark: SparkSession) -> None:
    table = spark.createDataFrame([("a", "price > 10"), ("z", "price >")], "id string, condition string")
    with pytest.warns(AttributeWarning, match="1 subscriptions are refused"):
        answer = match(some(spark), table, output="pairs")
    assert [(row.n, row.subscription_id) for row in answer.collect()] == [(1, "a")]


def test_an_older_version_can_be_asked(spark: SparkSession, store: Path) -> None:
    stored(store, [{"z": "price > 0"}])
    assert lists(match(some(spark), store))[1] == ["z"]
    assert lists(match(some(spark), store, version=1)) == EXPECTED
    carrying = some(spark).withColumn("subscription_version", F.expr("1L + n % 2"))
    assert lists(match(carrying, store)) == {1: ["z"], 2: ["b"], 3: [], 4: ["d"], 5: ["z"]}


def test_names_go_by_their_letters(spark: SparkSession, tmp_path: Path) -> None:
    stored(tmp_path, [{"a": "x = 1", "b": "X = 1", "c": "`a.b` = 1", "d": "a.b = 1", "e": "A.b = 1"}])
    frame = spark.createDataFrame([(1, 2, 1, (3,))], "x int, X int, `a.b` int, a struct<b: int>")
    with pytest.warns(AttributeWarning, match=r"no column for A\.b \(1\)"):
        answer = match(frame, tmp_path)
    assert answer.columns[:4] == ["x", "X", "a.b", "a"]
    assert [sorted(row[-2]) for row in answer.collect()] == [["a", "c"]]


def test_what_columns_cannot_give_is_told_and_never_true(spark: SparkSession, tmp_path: Path) -> None:
    stored(tmp_path, [{"a": "pricee > 1", "b": "price = 'x'", "c": "not (price = 'x')", "d": "price > 1"}])
    with pytest.warns(AttributeWarning) as caught:
        answer = match(some(spark), tmp_path, output="pairs")
    assert {row.subscription_id for row in answer.collect()} == {"d"}
    told = str(caught[0].message)
    assert "no column for pricee (1)" in told
    assert "column price is double, but is compared with string in 2 predicates" in told
    found = check(some(spark), tmp_path)
    assert (found.missing, found.mismatched) == ({"pricee": 1}, {"price": ("double", {"string": 2})})


def test_what_is_right_warns_of_nothing(spark: SparkSession, store: Path) -> None:
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        match(some(spark), store)


def test_mistakes_are_told_before_anything_runs(spark: SparkSession, store: Path, tmp_path: Path) -> None:
    frame = some(spark)
    with pytest.raises(FileNotFoundError, match="no compiled subscriptions"):
        match(frame, tmp_path / "nowhere")
    with pytest.raises(ValueError, match="no column 'm' to keep; there are: n, price, name"):
        match(frame, store, columns=["m"])
    with pytest.raises(ValueError, match="'n' twice"):
        match(frame.select("*", "n"), store)
    with pytest.raises(ValueError, match="rename that of the events"):
        match(frame.withColumnRenamed("n", "subscription_ids"), store)
    with pytest.raises(ValueError, match="'subscription_version' is bigint, not string"):
        match(frame.withColumn("subscription_version", F.lit("1")), store)
    with pytest.raises(ValueError, match="'lists' or 'pairs'"):
        match(frame, store, output="both")  # type: ignore[arg-type]


def test_a_stream_gives_the_answer_of_a_batch(spark: SparkSession, store: Path, tmp_path: Path) -> None:
    frame = some(spark)
    frame.write.parquet(str(tmp_path / "events"))
    schema: StructType = frame.schema
    stream = spark.readStream.schema(schema).option("maxFilesPerTrigger", 1).parquet(str(tmp_path / "events"))
    with pytest.raises(ValueError, match="gives no lists in a stream"):
        match(stream, store, strategy="shard")
    query = match(stream, store).writeStream.format("memory").queryName("answers").trigger(availableNow=True)
    query.option("checkpointLocation", str(tmp_path / "checkpoint")).start().awaitTermination()
    assert lists(spark.table("answers")) == EXPECTED
