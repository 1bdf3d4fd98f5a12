"""Settled forms: the same values, written in one way."""

import datetime as dt
from math import inf

import pytest
from hypothesis import given
from hypothesis import strategies as st

from support.strategies import POOLS, expressions
from tamis import parse
from tamis.covering.settled import settled, settled_values
from tamis.language import Expression, Kind, Predicate
from tamis.language.normal import spelled
from tamis.language.ranges import Ranges
from tamis.language.values import ORDERED_KINDS
from tamis.language.valueset import of_kind, true_for


@pytest.mark.parametrize(
    ("a", "b"),
    [
        ("d > date '2026-01-01'", "d >= date '2026-01-02'"),
        ("d >= date '0001-01-01' or d < date '0001-01-01'", "d <= date '9999-12-31'"),
        ("t <= timestamp '2026-01-01'", "t < timestamp '2026-01-01 00:00:00.000001'"),
        ("x > 9007199254740992", "x >= 9007199254740993"),
        ("x > 1 and x < 1.0000000000000004", "x = 1.0000000000000002"),
        ("x > 1.0 and x < 1.0000000000000002", "false"),
        ("s >= '' or s < ''", "s like '%'"),
        ("s in ('abc', 'x', 'b') and s like '%b%'", "s in ('b', 'abc')"),
        ("s = 'x' and s not like '%b%'", "s = 'x'"),
        ("s = 'x' and s like '%b%'", "false"),
        ("b > false", "b"),
        ("x > 1.5 or x <= 1.5 or x is null or s = 'a'", "x <= 0 or x > 0 or s = 'a' or x is null"),
    ],
)
def test_equal_conditions_are_equal(a: str, b: str) -> None:
    assert settled(parse(a)) == settled(parse(b))


def test_infinity_is_the_last_number_but_not_the_first_integer() -> None:
    last = of_kind(Kind.NUMBER, Ranges(True, ((inf, 1),)))
    assert settled_values(last) == of_kind(Kind.NUMBER, Ranges(True, ()))
    first = of_kind(Kind.NUMBER, Ranges(False, ((-inf, 0),)))
    assert settled_values(first) == of_kind(Kind.NUMBER, Ranges(True, ()))
    above = of_kind(Kind.NUMBER, Ranges(False, ((-inf, 1),)))
    assert settled_values(above).contains(Kind.NUMBER, -(10**400))
    assert not settled_values(above).contains(Kind.NUMBER, -inf)


def test_times_beyond_the_last_one_in_utc_exist() -> None:
    west = dt.datetime.max.replace(tzinfo=dt.timezone(dt.timedelta(hours=-5)))
    late = parse("t > timestamp '9999-12-31 23:59:59.999999'")
    assert late.matches({"t": west})
    assert settled(late) is not False


@given(
    expressions(4),
    st.sampled_from(ORDERED_KINDS).flatmap(lambda kind: st.tuples(st.just(kind), st.sampled_from(POOLS[kind]))),
)
def test_the_values_stay_the_same(expression: Expression, value: tuple[Kind, object]) -> None:
    for predicate in expression.predicates():
        values = true_for(predicate)
        assert settled_values(values).contains(*value) is values.contains(*value) or values.filters


@given(expressions())
def test_settled_twice_is_settled_once(expression: Expression) -> None:
    once = settled(expression)
    assert settled(spelled(once)) == once
    assert all(isinstance(each, Predicate) for each in spelled(once).predicates())
