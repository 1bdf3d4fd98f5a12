"""What a task answers is what `tamis.Index` answers, for whatever shards, slots, versions and sizes there are."""

import random
from pathlib import Path
from typing import Any

import pyarrow as pa
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import tamis
from support.judges import SCHEMA, Source
from support.stores import stored
from tamis.pipeline import StoreError, task
from tamis.pipeline.task import Task

NAMES = SCHEMA.names


def batches_of(events: pa.Table, size: int) -> list[pa.RecordBatch]:
    found: list[pa.RecordBatch] = events.to_batches(max_chunksize=size)
    return found


def answers(given: Task, batches: list[pa.RecordBatch]) -> list[tuple[Any, ...]]:
    found = [[column.to_pylist() for column in batch.columns] for batch in given.run(iter(batches))]
    return [row for columns in found for row in zip(*columns, strict=True)]


@settings(max_examples=12)
@given(st.integers(0, 2**32), st.integers(0, 3), st.booleans())
def test_answers_as_an_index_does(
    tmp_path_factory: pytest.TempPathFactory, seed: int, shards: int, numbered: bool
) -> None:
    source, chance = Source(seed, null_elements=True), random.Random(seed)
    conditions = [str(source.condition()) for _ in range(40)]
    ids: list[Any] = list(range(40)) if numbered else [f"s{number}" for number in range(40)]
    dealt: list[dict[Any, str]] = [{} for _ in range(shards)]
    index = tamis.Index()
    for id, text in zip(ids, conditions, strict=True):
        if shards:
            chance.choice(dealt)[id] = text
            index.add(id, text)
    path = tmp_path_factory.mktemp("store")
    # The type of the ids must be known even where a shard has none.
    stored(path, [shard for shard in dealt if shard])
    events = pa.Table.from_pylist(source.events(30), SCHEMA)
    expected = index.match_batch(events)
    given = Task(str(path), NAMES, [0, 4], "lists", 1)
    rows = answers(given, batches_of(events, chance.choice([1, 7, 30])))
    assert [row[:2] for row in rows] == list(zip(events["i"].to_pylist(), events["b"].to_pylist(), strict=True))
    assert [sorted(row[2]) for row in rows] == [sorted(expected.row(number)) for number in range(30)]
    assert {row[3] for row in rows} == {1}
    pairs = answers(Task(str(path), NAMES, [1], "pairs", 1), batches_of(events, 30))
    wanted = [(j, id, 1) for number, j in enumerate(events["j"].to_pylist()) for id in expected.row(number)]
    assert sorted(map(repr, pairs)) == sorted(map(repr, wanted))


def test_every_slot_answers_for_its_shards(tmp_path: Path) -> None:
    stored(tmp_path, [{"a": "x > 1"}, {"b": "x > 2"}, {"c": "x > 3"}])
    events = pa.table({"x": [0, 2, 9] * 2, "row": [0, 1, 2] * 2, "slot": [0, 0, 0, 1, 1, 1]})
    rows = answers(Task(str(tmp_path), ["x"], [0], "lists", 1, slots=2), batches_of(events, 6))
    assert rows == [
        (0, 0, [], 1),
        (2, 1, ["a"], 1),
        (9, 2, ["a", "c"], 1),
        (0, 0, [], 1),
        (2, 1, [], 1),
        (9, 2, ["b"], 1),
    ]


def test_rows_are_matched_against_the_version_that_they_carry(tmp_path: Path) -> None:
    stored(tmp_path, [{"a": "x > 1"}])
    stored(tmp_path, [{"b": "x > 1"}])
    events = pa.table({"x": [2, 2, 2, 0], "version": [1, 2, 1, 2]})
    given = Task(str(tmp_path), ["x"], [0], "pairs", None)
    assert sorted(answers(given, batches_of(events, 4))) == [(2, "a", 1), (2, "a", 1), (2, "b", 2)]
    with pytest.raises(ValueError, match="carries no version"):
        answers(given, [pa.record_batch({"x": [1], "version": pa.nulls(1, pa.int64())})])
    with pytest.raises(StoreError, match="no version 3"):
        answers(given, [pa.record_batch({"x": [1], "version": [3]})])


def test_a_store_that_is_made_anew_is_read_anew(tmp_path: Path) -> None:
    given = Task(str(tmp_path / "s"), ["x"], [], "pairs", 1)
    for id in ("a", "b"):
        stored(tmp_path / "s", [{id: "x > 1"}])
        assert answers(given, [pa.record_batch({"x": [2]})]) == [(id, 1)]
        (tmp_path / "s").rename(tmp_path / f"old-{id}")


def test_batches_of_answers_stay_small_when_everything_matches(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(task, "_MOST_MATCHES", 1_000)
    stored(tmp_path, [dict.fromkeys(range(100), "x > 0")])
    events = pa.record_batch({"x": list(range(1, 501))})
    sizes = [len(batch.column(1)) for batch in Task(str(tmp_path), ["x"], [0], "pairs", 1).run(iter([events]))]
    assert sum(sizes) == 50_000
    # The first rows are matched before anything is known of them.
    assert max(sizes[1:]) <= 1_000
