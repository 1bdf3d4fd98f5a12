"""The reference meaning, spelled out case by case."""

import datetime as dt
import math
import pickle
from decimal import Decimal
from typing import Any
from zoneinfo import ZoneInfo

import numpy as np
import pytest

import tamis
from tamis.language import Expression

T, F, U = True, False, None
BERLIN = ZoneInfo("Europe/Berlin")


@pytest.mark.parametrize(
    ("text", "event", "truth"),
    [
        ("x > 5", {"x": 6}, T),
        ("x > 5", {"x": 5}, F),
        ("x > 5", {}, U),
        ("x > 5", {"x": None}, U),
        ("x > 5", {"x": "6"}, U),
        ("x > 5", {"x": True}, U),
        ("x > 5", {"x": math.nan}, U),
        ("x > 5", {"x": math.inf}, T),
        ("x > 5", {"x": [6]}, U),
        ("x > 5", {"x": object()}, U),
        ("x = 1", {"x": True}, U),
        ("x = true", {"x": 1}, U),
        ("x = 0", {"x": -0.0}, T),
        ("x = 0.1", {"x": Decimal("0.10")}, T),
        ("x = 2", {"x": np.int64(2)}, T),
        ("x = 0.5", {"x": np.float32(0.5)}, T),
        ("x", {"x": np.bool_(True)}, T),
        ("x = 9007199254740993", {"x": 2**53 + 1}, T),
        ("x = 9007199254740993", {"x": 2.0**53}, F),
        ("x > 9007199254740992", {"x": 2**53 + 1}, T),
        ("x < 9007199254740993", {"x": 2.0**53}, T),
        ("x > 9223372036854775807", {"x": 2**70}, T),
        ("not x > 5", {}, U),
        ("x <> 5", {}, U),
        ("x between 2 and 3", {"x": 2}, T),
        ("x between 3 and 2", {"x": 2}, F),
        ("x not between 3 and 2", {"x": 2}, T),
        ("x in (1, 2)", {"x": 2.0}, T),
        ("x in (1, null)", {"x": 1}, T),
        ("x in (1, null)", {"x": 2}, U),
        ("x not in (1, null)", {"x": 1}, F),
        ("x not in (1, null)", {"x": 2}, U),
        ("x in (null)", {"x": 2}, U),
        ("x in (null)", {}, U),
        ("x is null", {}, T),
        ("x is null", {"x": math.nan}, T),
        ("x is null", {"x": []}, F),
        ("x is not null", {"x": "anything"}, T),
        ("s < 'b'", {"s": "a"}, T),
        ("s < '😀'", {"s": "\uffff"}, T),
        ("s like 'a_c%'", {"s": "abc"}, T),
        ("s like 'a_c%'", {"s": "ac"}, F),
        ("s like '%b'", {"s": "a\nb"}, T),
        ("s like 'a%'", {"s": 5}, U),
        ("s like 'a!%' escape '!'", {"s": "a%"}, T),
        ("s like 'a!%' escape '!'", {"s": "ab"}, F),
        (r"s like 'a\%'", {"s": r"a\b"}, T),
        ("array_contains(t, 'x')", {"t": ["y", "x"]}, T),
        ("array_contains(t, 'x')", {"t": ("x",)}, T),
        ("array_contains(t, 2)", {"t": np.array([1, 2])}, T),
        ("array_contains(t, 'x')", {"t": []}, F),
        ("array_contains(t, 'x')", {"t": ["y"]}, F),
        ("array_contains(t, 'x')", {"t": ["y", None]}, U),
        ("array_contains(t, 'x')", {"t": ["x", None]}, T),
        ("array_contains(t, 'x')", {"t": [1]}, U),
        ("array_contains(t, 'x')", {"t": "x"}, U),
        ("not array_contains(t, 'x')", {"t": []}, T),
        ("a.b.c = 1", {"a": {"b": {"c": 1}}}, T),
        ("a.b.c = 1", {"a": {"b": 5}}, U),
        ("a.b.c is null", {"a": {"b": 5}}, T),
        ("a.b = 1", {"a.b": 1}, U),
        ("`a.b` = 1", {"a.b": 1}, T),
        ("t = timestamp '2026-01-01 10:00:00'", {"t": dt.datetime(2026, 1, 1, 10)}, T),  # noqa: DTZ001
        ("t = timestamp '2026-01-01T12:00:00+02:00'", {"t": dt.datetime(2026, 1, 1, 10, tzinfo=dt.UTC)}, T),
        ("t = timestamp '2026-01-01'", {"t": dt.date(2026, 1, 1)}, U),
        # A time that Berlin skips in spring is still an instant.
        ("t = timestamp '2026-03-29 01:30:00'", {"t": dt.datetime(2026, 3, 29, 2, 30, tzinfo=BERLIN)}, T),
        ("t <= timestamp '2026-03-29 01:30:00'", {"t": dt.datetime(2026, 3, 29, 2, 30, tzinfo=BERLIN)}, T),
        ("t > timestamp '2026-01-01'", {"t": dt.datetime.min.replace(tzinfo=BERLIN)}, F),
        ("t = date '2026-01-01'", {"t": dt.date(2026, 1, 1)}, T),
        ("t >= date '2026-01-01'", {"t": dt.datetime(2026, 1, 1, tzinfo=dt.UTC)}, U),
        ("true", {}, T),
    ],
)
def test_truth(text: str, event: dict[str, Any], truth: bool | None) -> None:
    expression = tamis.parse(text)
    assert expression.truth(event) is truth
    assert expression.matches(event) is (truth is True)


@pytest.mark.parametrize("left", [T, F, U])
@pytest.mark.parametrize("right", [T, F, U])
def test_connectives_follow_kleene(left: bool | None, right: bool | None) -> None:
    event = {"a": left, "b": right}

    def truth(text: str) -> bool | None:
        return tamis.parse(text).truth(event)

    assert truth("a and b") is (F if F in (left, right) else U if U in (left, right) else T)
    assert truth("a or b") is (T if T in (left, right) else U if U in (left, right) else F)
    assert truth("(a) <> (b)") is (U if U in (left, right) else left is not right)
    assert truth("(a) = (b)") is (U if U in (left, right) else left is right)
    assert truth("not a") is (U if left is None else not left)


def test_attributes_and_shape() -> None:
    expression = tamis.parse("a = 1 and (b.c > 2 or not `d e`) and a < 9")
    assert expression.attributes == {"a", "b.c", "`d e`"}
    assert [str(each) for each in expression.predicates()] == ["a = 1", "b.c > 2", "`d e`", "a < 9"]


def test_expressions_are_frozen_hashable_and_picklable() -> None:
    expression = tamis.parse("a = 1 and t > timestamp '2026-01-01' or s like 'x%'")
    with pytest.raises(AttributeError):
        expression.operands = ()  # type: ignore[attr-defined]
    assert pickle.loads(pickle.dumps(expression)) == expression  # noqa: S301 - our own bytes
    assert len({expression, tamis.parse(str(expression))}) == 1


def test_a_bare_expression_has_no_meaning() -> None:
    with pytest.raises(TypeError):
        Expression().truth({})
