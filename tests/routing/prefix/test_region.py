"""Sets of values as cuts in one line of all values."""

from typing import Any

import pytest
from hypothesis import given, settings

from support.prefixes import one_filter
from support.strategies import events, predicates
from tamis.language import Predicate, compare
from tamis.language.values import read
from tamis.language.valueset import ANY_VALUE, NULL_ONLY, true_for
from tamis.routing.prefix.region import Region, point, region_of, values_of
from tamis.routing.prefix.wire import from_wire, to_wire


def holds(region: Region, event: dict[str, Any], attribute: str) -> bool:
    kind, value = read(event, attribute)
    return region.holds(point(kind, value), value, event)


def made(predicate: Predicate) -> Region | None:
    values = true_for(predicate)
    return None if values.is_empty else region_of("a", values)


@given(predicates(), events())
@settings(max_examples=150)
def test_a_region_holds_the_values_for_which_its_predicate_is_true(predicate: Predicate, event: dict[str, Any]) -> None:
    region = made(predicate)
    assert (region is not None and holds(region, event, predicate.attribute)) is predicate.matches(event)
    if region is not None:
        assert values_of(region.cuts, region.filters) == true_for(predicate)
        assert from_wire(to_wire(region)) == region


@given(predicates(), predicates(), events())
@settings(max_examples=150)
def test_regions_are_sets(left: Predicate, right: Predicate, event: dict[str, Any]) -> None:
    a, b = made(left), made(right)
    if a is None or b is None:
        return
    for attribute in ("a", "b", "c"):
        in_a, in_b = holds(a, event, attribute), holds(b, event, attribute)
        if a.within(b):
            assert in_b or not in_a
        if not (a.filters or b.filters):
            both, rest = a.both(b), a.minus(b)
            assert (both is not None and holds(both, event, attribute)) is (in_a and in_b)
            assert (rest is not None and holds(rest, event, attribute)) is (in_a and not in_b)
            assert a.within(b) is (rest is None)
            assert both is None or (both.within(a) and both.within(b))


@pytest.mark.parametrize(
    ("inner", "outer"),
    [
        ("x > 8", "x > 5"),
        ("x > 8", "x <> 5"),
        ("x > 5", "x >= 5"),
        ("x in (1, 3)", "x between 1 and 3"),
        ("x > 5", "x is not null"),
        ("x", "x in (true, false)"),
        ("x like '%abc%'", "x like '%b%'"),
        ("x like '%abc%'", "x >= ''"),
        ("x like '%abc%' and x > 'm'", "x like '%b%'"),
        ("x = 'abc'", "x like '%b%'"),
        ("x like 'ab%c'", "x like '%b%'"),
    ],
)
def test_within(inner: str, outer: str) -> None:
    (small,), (large,) = one_filter(inner), one_filter(outer)
    assert small.within(large)
    assert not large.within(small)
    assert small.within(small)


def test_a_narrow_range_of_texts_is_no_lone_substring() -> None:
    (narrow,), (lone,) = one_filter("x like '%b%' and x > 'm'"), one_filter("x like '%b%'")
    assert narrow.needle is None
    assert lone.needle == "b"
    assert not lone.within(narrow)


def test_what_a_split_leaves_of_everything_has_no_spelling_but_a_region() -> None:
    anything = region_of("x", ANY_VALUE.union(NULL_ONLY))
    rest = anything.minus(region_of("x", true_for(compare("x", ">", 5))))
    assert rest is not None
    assert [holds(rest, {"x": value}, "x") for value in (6, 5, "6", True, None, [6])] == [False, *[True] * 5]
    assert from_wire(to_wire(rest)) == rest


def test_booleans_leave_nothing_over() -> None:
    (yes,), (no,), (either,) = one_filter("x"), one_filter("not x"), one_filter("x in (true, false)")
    assert either.minus(yes) == no
    assert no.minus(no) is None
    assert yes.both(no) is None
