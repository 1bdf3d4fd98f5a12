from typing import Any

import numpy as np
import pyarrow as pa
import pytest

import tamis
from tamis.language import Comparison, Kind


@pytest.fixture
def index() -> tamis.Index:
    index = tamis.Index()
    index.add("cheap", "price < 10")
    index.add("acme", tamis.parse("symbol = 'ACME' and price > 5"))
    return index


def test_the_example_of_the_design(index: tamis.Index) -> None:
    assert sorted(index.match({"symbol": "ACME", "price": 7})) == ["acme", "cheap"]
    assert index.match({"price": 12}) == []
    assert len(index) == 2
    assert "acme" in index
    assert "other" not in index
    assert 5 not in index
    assert str(index.condition("acme")) == "symbol = 'ACME' and price > 5"


def test_batches_and_tables(index: tamis.Index) -> None:
    table = pa.table({"price": [7, 12, None, 3], "symbol": ["ACME", "ACME", "ACME", "X"]})
    matches = index.match_batch(table)
    assert matches.offsets.dtype == np.int64
    assert matches.offsets.tolist() == [0, 2, 3, 3, 4]
    assert matches.positions.dtype == np.int32
    assert len(matches) == 4
    assert sorted(matches.row(0)) == ["acme", "cheap"]
    assert matches.ids.to_pylist()[2:] == ["acme", "cheap"]
    assert matches.to_table().column("row").to_pylist() == [0, 0, 1, 3]
    chunked = pa.concat_tables([table.slice(0, 1), table.slice(1, 3)])
    assert index.match_batch(chunked).to_table() == matches.to_table()
    with pytest.raises(TypeError, match="RecordBatch or Table, not list"):
        index.match_batch([{"price": 1}])


@pytest.mark.parametrize("bad", [1.5, True, None, b"x", ("a",), 2**63, 7])
def test_other_ids_are_refused_and_nothing_changes(index: tamis.Index, bad: Any) -> None:
    with pytest.raises(tamis.SubscriptionError):
        index.add(bad, "price > 1")
    with pytest.raises(tamis.SubscriptionError, match="row 1"):
        index.add_many(["new", bad], ["a = 1", "b = 1"])
    assert set(index) == {"cheap", "acme"}


def test_duplicates_and_unknown_ids(index: tamis.Index) -> None:
    with pytest.raises(tamis.SubscriptionError, match="'acme' is there already; use replace"):
        index.add("acme", "price > 1")
    with pytest.raises(KeyError, match="no subscription 'nobody'"):
        index.remove("nobody")
    with pytest.raises(KeyError):
        index.explain("nobody", {})
    with pytest.raises(tamis.ExpressionError):
        index.replace("acme", "price >> 1")
    assert index.match({"symbol": "ACME", "price": 20}) == ["acme"]
    index.replace("acme", "price > 100")
    assert index.match({"symbol": "ACME", "price": 20}) == []


def test_add_many_is_all_or_nothing(index: tamis.Index) -> None:
    with pytest.raises(tamis.SubscriptionError, match="row 1, subscription 'b': expected a value") as caught:
        index.add_many(["a", "b"], ["price > 1", "price >> 1"])
    assert isinstance(caught.value.__cause__, tamis.ExpressionError)
    many = [*["price > 1"] * 1_500, "price >> 1"]
    with pytest.raises(tamis.SubscriptionError, match="row 1500, subscription '1500': expected a value"):
        index.add_many(map(str, range(len(many))), many)
    with pytest.raises(tamis.SubscriptionError, match="row 1: subscription 'a' occurs twice"):
        index.add_many(["a", "a"], ["price > 1", "price > 2"])
    with pytest.raises(tamis.SubscriptionError, match="2 ids but 1 conditions"):
        index.add_many(["a", "b"], ["price > 1"])
    assert len(index) == 2
    steps: list[tuple[int, int]] = []
    index.add_many(pa.array(["a", "b"]), pa.array(["x = 1", "y = 1"]), progress=lambda *step: steps.append(step))
    assert steps[-1] == (4, 4)
    assert len(index) == 4
    tamis.Index().add_many([], [])


def test_ids_may_be_integers() -> None:
    index = tamis.Index()
    index.add_many([3, -(2**63)], ["a = 1", "a > 0"])
    assert sorted(index.match({"a": 1})) == [-(2**63), 3]
    assert index.match_batch(pa.table({"a": [1]})).ids.type.value_type == pa.int64()
    assert True not in index


@pytest.mark.parametrize("engine", ["auto", "scan"])
def test_stats_count_work(engine: str) -> None:
    index = tamis.Index(engine)
    index.add_many(["cheap", "acme"], ["price < 10", "symbol = 'ACME' and price > 5"])
    index.settle()
    index.match({"price": 1})
    index.match_batch(pa.table({"price": [1, 100]}))
    stats = index.stats()
    assert stats["engine"] == engine
    assert stats["subscriptions"] == 2
    assert stats["events"] == 3
    assert stats["matches"] == 2
    assert 0 < stats["candidates_per_event"] <= 2
    assert stats["bytes"] > 300
    if engine == "auto":
        assert stats["parts"] == [2]
        assert stats["head"] == 0
        assert stats["chosen"] == {"point": 1, "range": 1, "spread": 0, "none": 0}
        assert stats["bytes_of_texts"] > 0


@pytest.mark.parametrize("engine", ["auto", "scan"])
def test_not_more_than_a_limit(engine: str) -> None:
    index = tamis.Index(engine)
    index.add_many(range(9), [f"a > {number}" for number in range(9)])
    for when in ("before", "after"):
        assert index.match({"a": 5}, limit=0) == [], when
        found = index.match({"a": 5}, limit=3)
        assert len(set(found)) == 3
        assert set(found) <= {0, 1, 2, 3, 4}
        assert sorted(index.match({"a": 5}, limit=100)) == [0, 1, 2, 3, 4]
        matches = index.match_batch(pa.table({"a": [5, None, 1, 9] * 10}), limit=2)
        assert np.diff(matches.offsets).tolist() == [2, 0, 1, 2] * 10
        assert set(matches.row(0)) <= {0, 1, 2, 3, 4}
        assert list(matches.row(2)) == [0]
        for wrong in (-1, -100):
            with pytest.raises(ValueError, match="limit"):
                index.match({"a": 5}, limit=wrong)
            with pytest.raises(ValueError, match="limit"):
                index.match_batch(pa.table({"a": [5]}), limit=wrong)
        index.settle()


def test_half_a_surrogate_pair_is_no_character(index: tamis.Index) -> None:
    with pytest.raises(tamis.SubscriptionError, match="half of a surrogate pair"):
        index.add("\ud800", "a = 1")
    with pytest.raises(tamis.SubscriptionError, match="half of a surrogate pair"):
        index.add("new", Comparison("a", "=", "\ud800", Kind.STRING))
    index.settle()
    assert set(index) == {"cheap", "acme"}
    # An event may have one; it is a value like any other.
    index.add("other", "a > 'z'")
    assert index.match({"a": "\ud800"}) == ["other"]


def test_unknown_engine() -> None:
    with pytest.raises(ValueError, match=r"no engine 'magic'; there are: auto, .*scan"):
        tamis.Index(engine="magic")
