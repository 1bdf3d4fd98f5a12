"""Keys grow with values, and boxes contain what their conditions cover."""

import datetime as dt
from typing import Any

from hypothesis import given, settings
from hypothesis import strategies as st

from support.strategies import conjunctions, events, expressions
from tamis import parse
from tamis.covering.containment import covering, shape
from tamis.covering.hull import Box, box, key
from tamis.language import And, Expression, Kind, Or
from tamis.language.values import read

_VALUES: dict[Kind, st.SearchStrategy[Any]] = {
    Kind.NUMBER: st.integers() | st.floats(allow_nan=False),
    Kind.STRING: st.text(),
    Kind.BOOLEAN: st.booleans(),
    Kind.TIMESTAMP: st.datetimes(timezones=st.sampled_from((dt.UTC, dt.timezone(dt.timedelta(hours=14))))),
    Kind.DATE: st.dates(),
}


@given(st.sampled_from(list(_VALUES)).flatmap(lambda kind: st.tuples(st.just(kind), _VALUES[kind], _VALUES[kind])))
@settings(max_examples=300)
def test_keys_grow_with_values(case: tuple[Kind, Any, Any]) -> None:
    kind, one, other = case
    low, high = sorted((one, other))
    assert -(2**63) <= key(kind, low) <= key(kind, high) < 2**63


def test_kinds_follow_each_other() -> None:
    greatest = [key(Kind.NULL, None), key(Kind.NUMBER, float("inf")), key(Kind.STRING, "\U0010ffff" * 9)]
    least = [key(Kind.NUMBER, float("-inf")), key(Kind.STRING, ""), key(Kind.BOOLEAN, False)]
    assert all(last < first for last, first in zip(greatest, least, strict=True))
    assert key(Kind.DATE, dt.date.max) < key(Kind.OTHER, []) < 2**63


def test_neighbours_have_keys_of_their_own() -> None:
    assert key(Kind.NUMBER, 1) < key(Kind.NUMBER, 1.00001)
    assert key(Kind.STRING, "symbol") < key(Kind.STRING, "symbom")
    assert key(Kind.NUMBER, 0.0) == key(Kind.NUMBER, -0.0)


def box_of(text: str) -> Box:
    return box(shape(text).form)


def test_only_what_all_alternatives_constrain_is_constrained() -> None:
    assert box_of("a = 1 and b = 2").attributes == ("a", "b")
    assert box_of("(a = 1 and b = 2) or a = 7").attributes == ("a",)
    assert box_of("a = 1 or b = 2").attributes == ()
    assert box_of("true").attributes == ()


def test_the_box_is_as_small_as_its_clauses() -> None:
    either = box_of("x > 5 and ((x < 3 and y = 1) or (x > 7 and y = 2))")
    assert either.attributes == ("x", "y")
    assert either.low.tolist() == [box_of("x > 7").low[0], box_of("y = 2").low[0]]


def test_too_many_clauses_still_have_a_box() -> None:
    many = " and ".join(f"(a{n} = 1 or b{n} = 1 or (c = {n} and d = {n}))" for n in range(9))
    around = box_of(f"x > 5 and {many}")
    assert around.attributes == ("x",)
    assert around.low[0] == box_of("x > 5").low[0]


def contains(outer: Box, inner: Box) -> bool:
    places = [inner.attributes.index(each) for each in outer.attributes]
    return bool((outer.low <= inner.low[places]).all() and (outer.high >= inner.high[places]).all())


@given(conjunctions() | expressions(), conjunctions() | expressions(4))
@settings(max_examples=100)
def test_whoever_covers_has_a_box_around(a: Expression, b: Expression) -> None:
    for upper, lower in ((a, b), (a, And((a, b))), (Or((a, b)), a)):
        above, below = shape(upper), shape(lower)
        if below.form is not False and covering(above, below):
            assert set(box(above.form).attributes) <= set(box(below.form).attributes)
            assert contains(box(above.form), box(below.form))


@given(conjunctions() | expressions(), st.lists(events(), min_size=3, max_size=6))
@settings(max_examples=80)
def test_what_matches_is_in_the_box(condition: Expression, some: list[dict[str, Any]]) -> None:
    ready = shape(condition)
    for event in some:
        if condition.matches(event):
            around = box(ready.form)
            for attribute, low, high in zip(around.attributes, around.low, around.high, strict=True):
                assert low <= key(*read(event, attribute)) <= high


def test_a_missing_attribute_is_null() -> None:
    around = box(shape(parse("x is null or x < 5")).form)
    assert around.low[0] == key(Kind.NULL, None)
    assert around.high[0] == key(Kind.NUMBER, 5)
