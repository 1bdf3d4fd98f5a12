"""What `covers` and `intersects` say, against the golden tables of specs/004 and against events."""

import datetime as dt
from itertools import product
from math import inf, nextafter
from typing import Any

import pytest
from hypothesis import assume, given, settings
from hypothesis import strategies as st

from support.strategies import DAYS, TIMES, conjunctions, events, expressions
from tamis import ExpressionError, parse
from tamis.covering.containment import covering, covers, intersects, meeting, shape
from tamis.language import And, Between, Expression, In, IsNull, Kind, Like, Not, Or, Predicate, compare


@pytest.mark.parametrize(
    ("f", "g", "expected"),
    [
        ("y < 8", "y < 8", (True, True)),
        ("x > 5", "y > 5", (False, False)),
        ("x > 5", "x > 8", (True, False)),
        ("x > 5", "x > 8 and y > 5", (True, False)),
        ("x > 5 and y > 5", "x > 8", (False, False)),
        ("x <> 5", "x > 8", (True, False)),
        ("x <> 5", "x = 5", (False, False)),
        ("x > 5", "x < 8", (False, False)),
        ("x >= 5", "x > 5", (True, False)),
    ],
)
def test_table_2_2(f: str, g: str, expected: tuple[bool, bool]) -> None:
    assert (covers(f, g), covers(g, f)) == expected


@pytest.mark.parametrize(
    ("f", "g", "thesis", "sound"),
    [
        ("y < 8", "y < 8", True, True),
        ("x > 5", "y > 5", False, True),
        ("x > 5", "x < 8", True, True),
        ("x > 5", "x < 8 and y > 5", True, True),
        ("x <> 5", "x < 8", True, True),
        ("x <> 5", "x = 5", False, False),
        ("x = 5", "x >= 5", True, True),
        # One common attribute is enough for the thesis, though another rules it out.
        ("x > 5 and y = 1", "x < 8 and y = 2", True, False),
    ],
)
def test_table_2_3(f: str, g: str, thesis: bool, sound: bool) -> None:
    assert intersects(f, g, mode="thesis") is intersects(g, f, mode="thesis") is thesis
    assert intersects(f, g) is intersects(g, f) is sound


@pytest.mark.parametrize(
    ("a", "b"),
    [
        ("true", "x = 1"),
        ("x = 1", "false"),
        ("x = 1", "x > 3 and x < 2"),
        ("x is not null", "x = 'a'"),
        ("x is not null", "array_contains(x, 'a')"),
        ("x in (1, 2, 3)", "x in (3, 1)"),
        ("x like 'ab%'", "x like 'abc%'"),
        ("x like 'ab%'", "x in ('ab', 'abc')"),
        ("x between 'a' and 'b'", "x like 'a%'"),
        ("x or y", "x"),
        ("x >= 5", "x = 5.0"),
        ("x <= 9007199254740993", "x <= 9007199254740992"),
        ("d >= date '2026-01-02'", "d > date '2026-01-01'"),
        ("d = date '2026-01-02'", "d > date '2026-01-01' and d < date '2026-01-03'"),
        ("t >= timestamp '2026-01-01 00:00:00.000001'", "t > timestamp '2026-01-01'"),
        ("s > 'a'", "s >= 'ab'"),
        ("x = 1 or y = 2", "(x = 1 and z = 3) or (y = 2 and z = 4)"),
        ("(x > 1 and y > 1) or (x <= 1 and y > 1)", "y > 2 and x > 0 and x < 5"),
        ("not (x = 1 and y = 2)", "x = 2 and y = 2"),
        ("(x = 1) <> (y = 1)", "x = 1 and y = 2"),
        ("s like '%b%'", "s like '%abc%'"),
        ("s like '%b%'", "s like 'abc%'"),
        ("s like '%b%'", "s in ('abc', 'b')"),
        ("s like '%c'", "s like 'a%bc'"),
        ("s like '%_'", "s like '_%'"),
        ("s not like '%abc%'", "s not like '%b%'"),
        ("s = 'abc'", "s in ('abc', 'xyz') and s like '%b%'"),
        ("s like '%a' or s not like '%a'", "s > 'x'"),
        ("array_contains(t, 'x')", "array_contains(t, 'x') and array_contains(t, 'y')"),
        ("array_contains(t, 'x') or y = 1", "array_contains(t, 'x') and z = 1"),
    ],
)
def test_one_covers_the_other(a: str, b: str) -> None:
    assert covers(a, b)
    assert covering(shape(a), shape(b)) is True


@pytest.mark.parametrize(
    ("a", "b"),
    [
        ("x <= 3 or x > 3", "y = 1"),
        ("x = 1", "x is null"),
        # What is unknown of one value need not be true of another kind.
        ("x <> 1", "x is not null"),
        ("x > 5", "x > 'a'"),
        ("x = 1", "x"),
        ("x > 1 and y > 1", "x > 1 or y > 1"),
        ("x < 9007199254740992", "x < 9007199254740993"),
        ("d = date '2026-01-02'", "d > date '2026-01-01' and d < date '2026-01-04'"),
        # Neither is true if an element is null.
        ("array_contains(t, 'x') or not array_contains(t, 'x')", "t is not null"),
        ("s like 'a%b%'", "s like '%a%b%'"),
        ("s like '_%'", "s like '%'"),
    ],
)
def test_one_does_not_cover_the_other(a: str, b: str) -> None:
    assert not covers(a, b)


@pytest.mark.parametrize(
    ("a", "b"),
    [
        ("x = 1", "x = '1'"),
        ("x = 1", "x is null"),
        ("d > date '2026-01-01'", "d < date '2026-01-02'"),
        ("s like 'a%'", "s like 'b%'"),
        ("s like '%b'", "s not like '%b'"),
        ("s like '%b'", "s in ('a', 'c')"),
        ("s like '%b'", "array_contains(s, 'b')"),
        ("x = 1 or y = 1", "x = 2 and y = 2"),
        ("false", "true"),
    ],
)
def test_both_cannot_hold(a: str, b: str) -> None:
    assert not intersects(a, b)
    assert meeting(shape(a), shape(b)) is False


def test_what_is_not_known_is_said_so() -> None:
    assert covering(shape("s like '%a%'"), shape("s like '%b%'")) is None
    assert covering(shape("x = 1 or s like '%a%'"), shape("s like '%b%'")) is None
    assert meeting(shape("s like '%a'"), shape("s like '%b'")) is None
    assert covering(shape("x = 1 and s like '%a%'"), shape("s like '%a%'")) is False


def test_a_search_without_end_is_given_up() -> None:
    a = parse(" and ".join(f"(x{n} = 1 or y{n} = 1 or z{n % 7} = {n})" for n in range(40)))
    b = parse(" and ".join(f"(x{n} = 1 or y{n} in (1, 2) or z{n % 7} = {n})" for n in range(40)))
    assert covering(shape(a), shape(a)) is True
    assert covering(shape(a), shape(b)) in (None, False)
    assert covers(b, parse(" and ".join(f"x{n} = 1" for n in range(40))))
    assert intersects(a, b)


def test_conditions_of_thousands_of_predicates() -> None:
    wide = " and ".join(f"a{n} > {n}" for n in range(2_000))
    narrow = " and ".join(f"a{n} > {n + 1}" for n in range(2_000))
    assert covers(wide, narrow)
    assert not covers(narrow, wide)
    assert covers(f"{wide} or z = 1", f"({narrow}) or (z = 1 and y = 2)")


def test_what_is_no_condition_is_refused() -> None:
    with pytest.raises(ExpressionError):
        covers("x >", "x = 1")
    with pytest.raises(TypeError, match="a text or an Expression, not int"):
        covers("x > 1", 5)  # type: ignore[arg-type]
    with pytest.raises(ValueError, match="no mode 'loose'; there are: sound, thesis"):
        intersects("x > 1", "x > 1", mode="loose")  # type: ignore[arg-type]


# --- against all events of a small world ------------------------------------------------------------

_NUMBERS = (0, 1, 0.5, 2**53, 2**53 + 1)
_TEXTS = ("", "a", "ab", "b")
_POOLS: dict[Kind, tuple[Any, ...]] = {
    Kind.NUMBER: _NUMBERS,
    Kind.STRING: _TEXTS,
    Kind.BOOLEAN: (False, True),
    Kind.TIMESTAMP: TIMES,
    Kind.DATE: DAYS,
}
_NAMES = ("a", "b")
#: Every constant with its neighbours on both sides: if two sets of values differ, they differ here.
_WORLD: list[Any] = [
    None,
    [],
    *(each for number in _NUMBERS for each in (number, nextafter(number, inf), nextafter(number, -inf))),
    *(each for number in (2**53, 2**53 + 1) for each in (number - 1, number + 1)),
    *("\0", "a\0", "ab\0", "b\0", "aa", "ac", "c", "az", "\U0010ffff"),
    *_TEXTS,
    *(False, True),
    *(time + step * dt.timedelta(microseconds=1) for time in TIMES for step in (-1, 0, 1)),
    *(day + step * dt.timedelta(days=1) for day in DAYS for step in (-1, 0, 1)),
]
_EVENTS = [dict(zip(_NAMES, values, strict=True)) for values in product(_WORLD, repeat=2)]


@st.composite
def plain_predicates(draw: st.DrawFn) -> Predicate:
    """Predicates without filters over few constants."""
    name = draw(st.sampled_from(_NAMES))
    kind = draw(st.sampled_from((Kind.NUMBER, Kind.NUMBER, Kind.STRING, *_POOLS)))
    value = st.sampled_from(_POOLS[kind])
    which = draw(st.integers(0, 5))
    if which <= 1:
        return compare(name, draw(st.sampled_from(("=", "<>", "<", "<=", ">", ">="))), draw(value))
    if which == 2:
        low, high = sorted((draw(value), draw(value)))
        return Between(name, low, high, kind, draw(st.booleans()))
    if which == 3:
        values = tuple(draw(st.lists(value, min_size=1, max_size=3, unique=True)))
        return In(name, values, kind, draw(st.booleans()))
    if which == 4:
        return IsNull(name, draw(st.booleans()))
    return Like(name, draw(st.sampled_from(("a%", "ab%", "%", "a", "b%"))), None, draw(st.booleans()))


plain_conjunctions = st.lists(plain_predicates(), min_size=1, max_size=4).map(lambda parts: And(tuple(parts)))
plain_conditions: st.SearchStrategy[Expression] = st.recursive(
    plain_predicates(),
    lambda inner: (
        st.lists(inner, min_size=2, max_size=3).map(lambda each: And(tuple(each)))
        | st.lists(inner, min_size=2, max_size=3).map(lambda each: Or(tuple(each)))
        | st.builds(Not, inner)
    ),
    max_leaves=6,
)


@given(plain_conjunctions | plain_conditions, plain_conjunctions | plain_conditions)
@settings(max_examples=120)
def test_exact_without_filters(a: Expression, b: Expression) -> None:
    matching = [(a.matches(event), b.matches(event)) for event in _EVENTS]
    assert covers(a, b) is all(in_a for in_a, in_b in matching if in_b)
    assert covering(shape(a), shape(b)) is covers(a, b)
    assert intersects(a, b) is any(in_a and in_b for in_a, in_b in matching)


@given(expressions() | conjunctions(), expressions() | conjunctions(), st.lists(events(), min_size=5, max_size=15))
@settings(max_examples=150)
def test_sound_with_everything(a: Expression, b: Expression, some: list[dict[str, Any]]) -> None:
    certain, apart = covers(a, b), not intersects(a, b)
    for event in some:
        in_a, in_b = a.matches(event), b.matches(event)
        assert not (certain and in_b and not in_a)
        assert not (apart and in_a and in_b)


@given(expressions() | conjunctions(), expressions(4))
@settings(max_examples=60)
def test_more_conditions_are_covered_by_fewer(a: Expression, b: Expression) -> None:
    assume(covering(shape(Or((a, b))), shape(a)) is not None)
    assert covers(a, a)
    assert covers(a, And((a, b)))
    assert covers(Or((a, b)), a)
    assert intersects(a, b) or covers("false", And((a, b)))
