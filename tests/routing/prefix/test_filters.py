"""From conditions to conjunctions of regions."""

from typing import Any

import pytest
from hypothesis import given, settings

from support.prefixes import one_filter
from support.strategies import events, expressions
from tamis.language import Expression, parse
from tamis.language.values import read
from tamis.routing.conditions import canonical
from tamis.routing.prefix.filters import EVERYTHING, MOST_CLAUSES, Filter, filters, filters_of, is_coarse
from tamis.routing.prefix.region import point


def meets(event: dict[str, Any], wanted: Filter) -> bool:
    for region in wanted:
        kind, value = read(event, region.name)
        if not region.holds(point(kind, value), value, event):
            return False
    return True


@given(expressions(), events())
@settings(max_examples=100)
def test_an_event_matches_a_condition_if_it_meets_one_of_its_filters(
    condition: Expression, event: dict[str, Any]
) -> None:
    parts = filters(condition)
    assert all([region.name for region in part] == sorted({region.name for region in part}) for part in parts)
    met = any(meets(event, part) for part in parts)
    assert met or not condition.matches(event)
    if parts != (EVERYTHING,):
        assert met is condition.matches(event)


@pytest.mark.parametrize(
    ("given", "normal"),
    # Table 4.1.
    [
        ("x < 5 and x > 2 and y > 3", "x > 2 and x < 5 and y > 3"),
        ("z = 9 and z < 10 and z > 2", "z = 9"),
        ("x is not null and x < 4", "x < 4"),
    ],
)
def test_filters_are_evaluated_when_they_are_made(given: str, normal: str) -> None:
    assert canonical(given) == normal
    assert one_filter(given) == one_filter(normal)


def test_a_contradiction_is_no_filter_at_all() -> None:
    assert filters(parse("x > 5 and x < 3")) == ()


def test_what_would_explode_is_taken_as_everything_and_told() -> None:
    many = canonical(" and ".join(f"(a{i} = 1 or b{i} = 1)" for i in range(MOST_CLAUSES)))
    assert filters_of(many) == (EVERYTHING,)
    assert is_coarse(many)
    assert filters_of("true") == (EVERYTHING,)
    assert not is_coarse("true")
