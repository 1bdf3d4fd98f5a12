"""From conditions to filters: the same events, and an order among predicates."""

from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from support.strategies import conjunctions, events, expressions
from tamis.language import Expression, Kind
from tamis.language.values import read
from tamis.routing.bloom import Filter, Predicate, filters_of


def texts(condition: str) -> list[list[str]]:
    return [[each.text for each in found] for found in filters_of(condition).filters]


def meets(event: dict[str, Any], conjunction: Filter) -> bool:
    return all(each.met_by(*read(event, each.attribute), event) for each in conjunction)


@given(expressions(), st.lists(events(), min_size=1, max_size=5))
@settings(max_examples=80)
def test_a_condition_is_met_if_one_of_its_filters_is(condition: Expression, some: list[dict[str, Any]]) -> None:
    found = filters_of(str(condition))
    for event in some:
        met = any(meets(event, each) for each in found.filters)
        assert met is condition.matches(event) or (found.blunt and met)


@pytest.mark.parametrize(
    ("condition", "expected"),
    [
        ("true", [[]]),
        ("false", []),
        ("x > 5 and x < 3", []),
        ("x is null or x is not null", [[]]),
        ("y = 1 and x = 2", [["x = 2", "y = 1"]]),
        ("x = 1 or y = 1 or x = 1", [["x = 1"], ["y = 1"]]),
        ("x in ('a', 'b') and not (x = 'b')", [["x = 'a'"]]),
    ],
)
def test_filters_in_canonical_spelling(condition: str, expected: list[list[str]]) -> None:
    assert texts(condition) == [[text for part in found for [text] in texts(part)] for found in expected]


def test_equal_sets_of_values_have_one_text() -> None:
    assert texts("d > date '2026-01-01'") == texts("d >= date '2026-01-02'")
    assert texts("x = 1.0") == texts("x between 1 and 1") == texts("x in (1)")
    assert texts("s like 'ab%'") == texts("s >= 'ab' and s < 'ac'")
    assert texts("x = 1") != texts("x = '1'")


def test_too_many_clauses_are_one_filter_that_matches_everything() -> None:
    """Never a false negative; and it can be seen that it happened."""
    condition = " and ".join(f"(a{n} = 1 or b{n} = 1)" for n in range(20))
    assert filters_of(condition) == (((),), True)


@pytest.mark.parametrize(
    ("condition", "point"),
    [
        ("x = 5", (Kind.NUMBER, 5)),
        ("x = 'a'", (Kind.STRING, "a")),
        ("x", (Kind.BOOLEAN, True)),
        ("x = 'a' or x is null", None),
        ("x in (1, 2)", None),
        ("x > 5", None),
        ("x <> 5", None),
        ("x is null", None),
        ("x like '%a'", None),
        ("array_contains(x, 1)", None),
        ("x in ('ab', 'b') and x like '%b%' and x like 'a%'", (Kind.STRING, "ab")),
    ],
)
def test_single_values_are_known(condition: str, point: tuple[Kind, Any] | None) -> None:
    [[predicate]] = filters_of(condition).filters
    assert predicate.point == point


def predicates_on_a(condition: Expression) -> list[Predicate]:
    return [each for found in filters_of(str(condition)).filters for each in found if each.attribute == "a"]


@given(st.lists(conjunctions(), min_size=2, max_size=8), st.lists(events(), min_size=1, max_size=5))
@settings(max_examples=80)
def test_covering_is_a_strict_order_that_is_never_wrong(some: list[Expression], known: list[dict[str, Any]]) -> None:
    distinct = {each.text: each for condition in some for each in predicates_on_a(condition)}
    over = {(a, b) for a in distinct for b in distinct if a != b and distinct[a].covers(distinct[b])}
    for a, b in over:
        assert (b, a) not in over
        assert all((a, c) in over for middle, c in over if middle == b)
        for event in known:
            where = read(event, "a")
            assert distinct[a].met_by(*where, event) or not distinct[b].met_by(*where, event)


def test_the_same_said_with_different_patterns_is_no_circle() -> None:
    [[a]] = filters_of("s like '%ab%' and s like '%b%'").filters
    [[b]] = filters_of("s like '%ab%'").filters
    assert a.text != b.text
    assert a.covers(b) is not b.covers(a)
