"""`tamis.WatchSet`: what one watch is to one value, for many items at once."""

import math
import os
import random
from collections.abc import Callable
from typing import Any

import numpy as np
import pyarrow as pa
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from support.watching import EXAMPLES
from tamis.notification import Watch, WatchSet
from tamis.notification import shard as shards

KEYS = ["ACME", "GLOBEX", "INITECH", "HOOLI", "STARK"]
OPTIONS = [{"radius": 2.0}, {"radius": 5.0}, {"relative": 0.03}, {"factor": 1.04}, {"radius": 6.0, "may": 2.0}]

rows = st.lists(st.tuples(st.sampled_from(KEYS), st.integers(80, 120)), max_size=12)
steps = st.lists(
    st.one_of(
        st.tuples(st.just("come"), st.tuples(st.sampled_from(KEYS), st.integers(0, 9), st.integers(0, 4))),
        st.tuples(st.just("go"), st.tuples(st.sampled_from(KEYS), st.integers(0, 9))),
        st.tuples(st.just("batch"), rows),
        st.tuples(st.just("again"), st.none()),
    ),
    max_size=25,
)


def batch_of(pairs: list[tuple[str, float]]) -> pa.Table:
    symbols = pa.array([key for key, _ in pairs], pa.string())
    return pa.table({"symbol": symbols, "price": pa.array([float(value) for _, value in pairs], pa.float64())})


@pytest.mark.parametrize(("relaxed", "trim"), [(False, False), (True, False), (False, True)])
@settings(max_examples=EXAMPLES)
@given(steps=steps)
def test_it_tells_the_same_as_a_watch_for_each_item_alone(relaxed: bool, trim: bool, steps: list[tuple]) -> None:  # type: ignore[type-arg]
    watches = WatchSet(by="symbol", on="price", relaxed=relaxed, trim=trim)
    alone = {key: Watch(relaxed=relaxed, trim=trim) for key in KEYS}
    for what, detail in steps:
        if what == "come":
            key, id, kind = detail
            if (id, key) not in watches:
                told = watches.subscribe(id, key, **OPTIONS[kind])
                assert told == alone[key].subscribe(id, **OPTIONS[kind])
        elif what == "go":
            key, id = detail
            if (id, key) in watches:
                watches.unsubscribe(id, key)
                alone[key].unsubscribe(id)
        elif what == "batch":
            found = watches.update_many(batch_of(detail))
            assert not found.refused
            for row, (key, value) in enumerate(detail):
                assert sorted(found.row(row)) == sorted(alone[key].update(value))
        else:
            watches = WatchSet.restore(watches.snapshot())
        watches.check_invariants()
    for key, watch in alone.items():
        assert watches.value(key) == watch.value
        assert {id: watches.last_told(id, key) for id in watch} == {id: watch.last_told(id) for id in watch}
    assert len(watches) == sum(map(len, alone.values()))


def test_bulk_load_is_the_same_as_one_by_one() -> None:
    source = random.Random(5)
    ids = list(range(300))
    keys = [source.choice(KEYS) for _ in ids]
    radii = [source.choice([1.0, 2.0, 3.5, 8.0]) for _ in ids]
    bulk, single = WatchSet("symbol", "price"), WatchSet("symbol", "price")
    start = batch_of([(key, 100.0) for key in KEYS[:3]])
    for each in (bulk, single):
        each.update_many(start)
    bulk.subscribe_many(np.array(ids), pa.array(keys), radii)
    for id, key, radius in zip(ids, keys, radii, strict=True):
        single.subscribe(id, key, radius)
    for _ in range(30):
        batch = batch_of([(source.choice(KEYS), 100 + source.randint(-9, 9)) for _ in range(20)])
        one, other = bulk.update_many(batch), single.update_many(batch)
        assert [sorted(one.row(row)) for row in range(20)] == [sorted(other.row(row)) for row in range(20)]
    bulk.subscribe_many([1000, 1001], ["ACME", "NEW"], [1.0, 2.0], mays=[0.5, 2.0])
    assert bulk.last_told(1000, "ACME") == bulk.value("ACME")
    assert bulk.last_told(1001, "NEW") is None
    bulk.check_invariants()


def test_answers_as_columns() -> None:
    watches = WatchSet("symbol", "price")
    watches.subscribe_many(["a", "b", "c"], ["X", "X", "Y"], [1.0, 3.0, 1.0])
    found = watches.update_many(batch_of([("X", 1.0), ("Y", 1.0), ("X", 2.5), ("Z", 0.0)]).to_batches()[0])
    assert found.offsets.tolist() == [0, 2, 3, 4, 4]
    assert found.ids.to_pylist() == ["a", "b", "c", "a"]
    assert found.to_table().to_pylist() == [
        {"row": 0, "id": "a"},
        {"row": 0, "id": "b"},
        {"row": 1, "id": "c"},
        {"row": 2, "id": "a"},
    ]
    assert repr(found) == "<Notified: 4 rows, 4 notifications, 0 refused>"
    # What was told stays so, also if an id goes and its place is taken.
    watches.unsubscribe("a", "X")
    watches.subscribe("d", "X", 1.0)
    assert found.row(2) == ["a"]
    assert len(watches.update_many(batch_of([]))) == 0


def test_one_event_at_a_time() -> None:
    watches = WatchSet("symbol", "price")
    watches.subscribe("a", "X", 2)
    assert watches.update({"symbol": "X", "price": 10, "volume": 3}) == ["a"]
    assert watches.update({"symbol": "X", "price": 11.5}) == []
    assert watches.update({"symbol": "Y", "price": 1}) == []
    assert watches.value("Y") == 1
    assert watches.subscribe("a", "Y", 2) == 1.0
    assert watches.stats()["items"] == 2
    with pytest.raises(ValueError, match="the event has no 'price'"):
        watches.update({"symbol": "X"})
    with pytest.raises(ValueError, match="value is nan"):
        watches.update({"symbol": "X", "price": math.nan})
    with pytest.raises(ValueError, match="a key is either a string or an integer in one set"):
        watches.update({"symbol": 7, "price": 1})
    watches.subscribe("b", "X", relative=0.5)
    with pytest.raises(ValueError, match=r"'price' of 'X' is -1\.0: the value is not above 0"):
        watches.update({"symbol": "X", "price": -1})
    assert watches.value("X") == 11.5


def test_rows_that_cannot_be_taken_are_kept_aside() -> None:
    watches = WatchSet("symbol", "price")
    watches.subscribe("a", "X", 1)
    watches.subscribe("b", "R", relative=0.1)
    batch = pa.table(
        {
            "symbol": ["X", None, "X", "X", "R", "R", "R"],
            "price": [1.0, 2.0, None, math.inf, 0.0, 10.0, 11.0],
        }
    )
    found = watches.update_many(batch)
    assert [found.row(row) for row in range(7)] == [["a"], [], [], [], [], ["b"], ["b"]]
    assert found.refused == {
        1: "the key 'symbol' is missing",
        2: "the value is missing or no finite number",
        3: "the value is missing or no finite number",
        4: "the value is not above 0, but is watched with relative radii",
    }
    assert watches.value("X") == 1.0


def test_columns_of_other_types() -> None:
    watches = WatchSet("n", "x")
    watches.subscribe(1, 7, 2)
    table = pa.table({"n": pa.array([7, 7, 8]).dictionary_encode(), "x": pa.array([1, 3, 5], pa.int32())})
    assert watches.update_many(table).positions.tolist() == [0, 0]
    with pytest.raises(ValueError, match="the batch has no column 'x'; it has: n"):
        watches.update_many(pa.table({"n": [7]}))
    with pytest.raises(ValueError, match="column 'x' has no numbers, but string"):
        watches.update_many(pa.table({"n": [7], "x": ["1"]}))
    with pytest.raises(ValueError, match="column 'n' has no strings or integers, but double"):
        watches.update_many(pa.table({"n": [7.5], "x": [1.0]}))
    with pytest.raises(ValueError, match="a key is either a string or an integer"):
        watches.update_many(pa.table({"n": ["seven"], "x": [1.0]}))
    assert watches.update_many(pa.table({"n": pa.nulls(2), "x": [1.0, 2.0]})).refused.keys() == {0, 1}


def test_bad_subscriptions_change_nothing() -> None:
    watches = WatchSet("symbol", "price")
    watches.subscribe("a", "X", 1)
    watches.update({"symbol": "X", "price": -3})
    nothing: Any = None
    refused: list[tuple[Callable[[], object], str]] = [
        (lambda: watches.subscribe("a", "X", 2), "'a' watches 'X' already"),
        (lambda: watches.subscribe("b", "X", -2), "radius is -2, but it must be above 0"),
        (lambda: watches.subscribe("b", "X", relative=0.1), "there are relative radii, which need values above 0"),
        (lambda: watches.subscribe(3, "X", 1), "an id is either a string or an integer in one set"),
        (lambda: watches.subscribe("b", nothing, 1), "a key is a string or an integer, not NoneType"),
        (lambda: watches.subscribe_many(["b", "b"], ["X", "X"], [1, 2]), "row 1: 'b' watches 'X' already"),
        (lambda: watches.subscribe_many(["b"], ["X"], [math.nan]), "row 0: the radius is nan"),
        (lambda: watches.subscribe_many(["b"], ["X", "Y"], [1]), "1 ids, 2 keys and 1 radii"),
        (lambda: watches.subscribe_many(["b"], ["X"], [2], law="factor"), "there are factor radii"),
    ]
    for wrong, message in refused:
        with pytest.raises(ValueError, match=message):
            wrong()
    with pytest.raises(KeyError, match="'b' does not watch 'X'"):
        watches.unsubscribe("b", "X")
    with pytest.raises(KeyError, match="'a' does not watch 'Y'"):
        watches.last_told("a", "Y")
    assert len(watches) == 1
    assert ("a", "X") in watches
    assert "a" not in watches


def test_an_item_with_more_watches_than_are_written_at_a_time(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(shards, "CHUNK", 64)
    watches = WatchSet("symbol", "price")
    watches.subscribe_many(range(500), ["X"] * 500, 1.0 + np.arange(500))
    found = watches.update_many(batch_of([("X", 0), ("Y", 5), ("X", 100), ("X", 99.5), ("X", 0)]))
    assert [len(found.row(row)) for row in range(5)] == [500, 0, 100, 0, 100]
    assert sorted(found.row(2)) == list(range(100))


@pytest.mark.parametrize("cores", [1, 3])
def test_a_set_goes_on_with_another_number_of_cores(cores: int, monkeypatch: pytest.MonkeyPatch) -> None:
    watches = WatchSet("symbol", "price")
    watches.subscribe_many(range(60), [KEYS[each % 5] for each in range(60)], [1.0 + each % 7 for each in range(60)])
    watches.update_many(batch_of([(key, 100.0) for key in KEYS]))
    monkeypatch.setattr(os, "sched_getaffinity", lambda _: set(range(cores)))
    other = WatchSet.restore(watches.snapshot())
    batch = batch_of([(KEYS[each % 5], 100 + each * 7 % 11) for each in range(40)])
    assert watches.update_many(batch).to_table() == other.update_many(batch).to_table()
    assert len(other) == 60
