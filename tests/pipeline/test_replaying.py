"""`replay` and `diff` count what `tamis.Index` matches."""

import datetime as dt
import json
import random
from collections import Counter
from pathlib import Path
from typing import Any

import pytest
from pyspark.sql import DataFrame, SparkSession

import tamis
from support.judges import SCHEMA, Source
from support.stores import stored
from tamis.pipeline.differing import diff
from tamis.pipeline.errors import AttributeWarning
from tamis.pipeline.replaying import replay

EVENTS, CONDITIONS = 300, 40
DAYS = [dt.datetime(2026, 3, day, 12, tzinfo=dt.UTC) for day in (1, 2, 3)]


def history(spark: SparkSession, seed: int) -> tuple[DataFrame, list[dict[str, Any]]]:
    import pyarrow as pa

    chance = random.Random(seed)
    events = Source(seed, null_elements=True).events(EVENTS)
    for number, event in enumerate(events):
        event["number"] = number
        event["at"] = chance.choice([*DAYS, None])
    schema = pa.schema([*SCHEMA, ("number", pa.int64()), ("at", pa.timestamp("us", "UTC"))])
    return spark.createDataFrame(pa.Table.from_pylist(events, schema)).repartition(3), events


def conditions(seed: int, count: int = CONDITIONS) -> dict[str, str]:
    source = Source(seed, null_elements=True)
    return {f"c{number}": str(source.condition()) for number in range(count)}


def matched(texts: dict[str, str], events: list[dict[str, Any]]) -> set[tuple[str, int]]:
    index = tamis.Index()
    index.add_many(list(texts), list(texts.values()))
    return {(str(id), event["number"]) for event in events for id in index.match(event)}


def day(event: dict[str, Any]) -> dt.date | None:
    return None if event["at"] is None else event["at"].date()


def test_a_set_of_candidates(spark: SparkSession, tmp_path: Path) -> None:
    table, events = history(spark, 3)
    texts, existing = conditions(3), dict(enumerate(conditions(4).values()))
    stored(tmp_path / "existing", [existing])
    found = replay(table, texts, time="at", against=tmp_path / "existing", examples=2, columns=["number"], top=3)
    mine = matched(texts, events)
    theirs = matched({str(id): text for id, text in existing.items()}, events)
    assert found.events == EVENTS
    assert found.conditions == CONDITIONS

    elsewhere = {number for _, number in theirs}
    assert {row.id: (row.condition, row.matches, row.elsewhere) for row in found.totals.collect()} == {
        id: (
            text,
            sum(other == id for other, _ in mine),
            sum(other == id and number in elsewhere for other, number in mine),
        )
        for id, text in texts.items()
    }
    volume = Counter((id, day(events[number])) for id, number in mine)
    assert {(row.id, row.day): row.matches for row in found.volume.collect()} == volume
    assert {row.day: row.events for row in found.days.collect()} == Counter(map(day, events))

    shown = Counter(id for id, _ in mine)
    examples = [(row.id, row.day, json.loads(row.event)) for row in found.examples.collect()]
    assert Counter(id for id, _, _ in examples) == {id: min(2, count) for id, count in shown.items()}
    for id, when, event in examples:
        assert event.keys() == {"number"}
        assert (id, event["number"]) in mine
        assert when == day(events[event["number"]])

    met: dict[int, list[int]] = {}
    for id, number in theirs:
        met.setdefault(number, []).append(int(id))
    shared = Counter((id, other) for id, number in mine for other in met.get(number, []))
    overlap: dict[str, list[tuple[int, int]]] = {}
    for row in found.overlap.collect():
        overlap.setdefault(row.id, []).append((row.subscription_id, row.matches))
    for id in texts:
        expected = sorted(((other, count) for (one, other), count in shared.items() if one == id), key=lambda e: -e[1])
        assert sorted(count for _, count in overlap.get(id, [])) == sorted(count for _, count in expected[:3])
        assert set(overlap.get(id, [])) <= set(expected)
    found.release()


def test_two_sets(spark: SparkSession) -> None:
    table, events = history(spark, 5)
    before, after = conditions(5), conditions(6)
    # Some stay as they are, some go, some come.
    after |= {id: before[id] for id in list(before)[:15]}
    del after["c20"], before["c21"]
    tables = [spark.createDataFrame(list(texts.items()), "id string, condition string") for texts in (before, after)]
    found = diff(tables[0], tables[1], table, time="at", examples=1, columns=["number"])
    old, new = matched(before, events), matched(after, events)
    assert (found.events, found.gained, found.lost, found.both) == (
        EVENTS,
        len(new - old),
        len(old - new),
        len(old & new),
    )
    changed = {id for id, _ in old ^ new}
    counts = [Counter(id for id, _ in pairs) for pairs in (new - old, old - new, new & old)]
    assert {row.id: (row.gained, row.lost, row.both) for row in found.changes.collect()} == {
        id: tuple(count[id] for count in counts) for id in changed
    }
    by_day = [Counter(day(events[number]) for _, number in pairs) for pairs in (new - old, old - new, new & old)]
    assert {row.day: (row.gained, row.lost, row.both) for row in found.volume.collect()} == {
        when: tuple(count[when] for count in by_day) for when in {day(event) for event in events}
    }
    examples = {(row.id, row.change, json.loads(row.event)["number"]) for row in found.examples.collect()}
    assert {(id, number) for id, change, number in examples if change == "gained"} <= new - old
    assert {(id, number) for id, change, number in examples if change == "lost"} <= old - new
    assert {id for id, change, _ in examples if change == "gained"} == {id for id, _ in new - old}
    found.release()


def test_one_condition(spark: SparkSession) -> None:
    table = spark.createDataFrame(
        [(5.0, "2026-01-01"), (15.0, "2026-01-02 08:00:00"), (20.0, "?")], "p double, t string"
    )
    found = replay(table, "p > 10", time="t")
    assert [(row.id, row.matches, row.elsewhere) for row in found.totals.collect()] == [("condition", 2, 0)]
    volume = {row.day: row.matches for row in found.volume.collect()}
    assert volume == {dt.date(2026, 1, 2): 1, None: 1}
    assert not found.overlap.collect()
    found.release()


def test_what_is_wrong_is_told(spark: SparkSession, tmp_path: Path) -> None:
    table = spark.createDataFrame([(1.0, 7)], "p double, n int")
    with pytest.raises(ValueError, match="there is no column 'ts'; there are: p, n"):
        replay(table, "p > 1", time="ts")
    with pytest.raises(ValueError, match="column 'n' is int: days are told by dates"):
        replay(table, "p > 1", time="n")
    with pytest.raises(ValueError, match="there is no column 'q'; there are: p, n"):
        replay(table, "p > 1", columns=["q"])
    with pytest.raises(tamis.ExpressionError):
        replay(table, "p >")
    with pytest.raises(FileNotFoundError):
        replay(table, tmp_path / "nowhere")
    with pytest.warns(AttributeWarning, match=r"no column for q \(1\).*; there are the columns p, n"):
        assert replay(table, "q > 1").events == 1
    numbers = spark.createDataFrame([(1, "p > 1")], "id long, condition string")
    texts = spark.createDataFrame([("1", "p > 1"), ("2", "p >")], "id string, condition string")
    with pytest.raises(ValueError, match="the old ids are of type long, the new ones string"):
        diff(numbers, texts, table)
    assert replay(table, texts).rejected == 1
    with pytest.raises(ValueError, match="a history is a table"):
        replay(spark.readStream.format("rate").load(), "value > 1")
