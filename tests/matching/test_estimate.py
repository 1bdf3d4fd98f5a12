import warnings

import pyarrow as pa
import pytest

import tamis

EVENTS = [{"symbol": "AB"[number % 2], "price": number} for number in range(100)]


def test_matches_and_looks_of_a_sample() -> None:
    found = tamis.Index().estimate("symbol = 'A' and price < 20", EVENTS)
    assert found.events == 100
    assert found.matches_per_million == 100_000
    # At most half of the events have the symbol, at most a fifth the price.
    assert found.matches_per_million <= found.looks_per_million <= 500_000
    assert found.anchor == "one value"
    assert "100,000 matches" in str(found)


@pytest.mark.parametrize(
    ("condition", "looks", "anchor"),
    [
        ("price is null or symbol = 'A'", 1_000_000, "none: every event"),
        ("symbol in ('A', 'C') or price = 7", 510_000, "several values"),
        ("price = 1 and price = 2", 0, "nothing meets it"),
        ("volume > 3", 0, "one value"),
    ],
)
def test_what_an_event_must_have(condition: str, looks: float, anchor: str) -> None:
    found = tamis.Index().estimate(condition, pa.Table.from_pylist(EVENTS))
    assert (found.looks_per_million, found.anchor) == (looks, anchor)
    assert found.matches_per_million <= looks


def test_without_events_the_index_asks_those_it_has_seen() -> None:
    index = tamis.Index()
    with pytest.raises(ValueError, match="no sample: give some events"):
        index.estimate("price > 1")
    for event in EVENTS:
        index.match(event)
    assert index.estimate("symbol = 'A'").matches_per_million == pytest.approx(500_000)


def test_the_nearest_misses_come_first() -> None:
    index = tamis.Index()
    index.add("x", "symbol = 'A' and price between 40 and 50 and volume > 1")
    found = index.nearest_misses("x", EVENTS, count=3)
    assert [miss.event["price"] for miss in found] == [40, 42, 44]
    assert found[0].missing == ("volume > 1",)
    assert index.nearest_misses("x", [{"symbol": "A", "price": 45, "volume": 2}]) == []
    with pytest.raises(KeyError):
        index.nearest_misses("y", EVENTS)


def test_a_budget_refuses_or_warns() -> None:
    index = tamis.Index(budget=200_000)
    index.match_batch(pa.Table.from_pylist(EVENTS))
    index.add("cheap", "price = 5")
    with pytest.raises(
        tamis.SubscriptionError, match=r"about .* of a million events would be compared .* symbol = 'A'"
    ):
        index.add("dear", "symbol = 'A'")
    with pytest.raises(tamis.SubscriptionError, match="row 1: about"):
        index.add_many(["a", "b"], ["price = 6", "symbol = 'B'"])
    with pytest.raises(tamis.SubscriptionError):
        index.replace("cheap", "symbol = 'A'")
    assert list(index) == ["cheap"]
    assert str(index.condition("cheap")) == "price = 5"
    warning = tamis.Index(budget=10, over_budget="warn")
    with pytest.warns(tamis.BudgetWarning, match="1,000,000 of a million"):
        warning.add(1, "a is null or b > 1")
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        warning.add(2, "a = 1")
    assert len(warning) == 2


def test_bad_budgets() -> None:
    with pytest.raises(ValueError, match="not negative"):
        tamis.Index(budget=-1)
    with pytest.raises(ValueError, match="refused or to be warned"):
        tamis.Index(budget=1, over_budget="ignore")  # type: ignore[arg-type]


@pytest.mark.parametrize("engine", ["auto", "scan", "psthash"])
def test_counts_and_whether_there_is_any(engine: str) -> None:
    index = tamis.Index(engine=engine)
    index.add_many(range(80), [f"price > {number}" for number in range(80)])
    rows = pa.table({"price": [*range(-2, 700), None]})
    expected = [min(max(price, 0), 80) if price is not None else 0 for price in rows.column("price").to_pylist()]
    for _ in range(2):
        assert index.count_batch(rows).tolist() == expected
        assert index.any_batch(rows).tolist() == [count > 0 for count in expected]
        limited = index.match_batch(rows, limit=3)
        assert (limited.offsets[1:] - limited.offsets[:-1]).tolist() == [min(count, 3) for count in expected]
        assert all(set(limited.row(row)) <= set(range(expected[row])) for row in range(0, 700, 50))
        assert index.any({"price": 1}) is True
        assert index.any({"price": 0}) is False
        assert len(index.match({"price": 100}, limit=7)) == 7
        index.settle()
    index.remove_many(range(40))
    assert index.count_batch(rows).tolist() == [max(count - 40, 0) for count in expected]
    assert index.any_batch(rows).tolist() == [count > 40 for count in expected]
    with pytest.raises(ValueError, match="not negative"):
        index.match({}, limit=-1)
