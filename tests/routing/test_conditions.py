"""Conditions in canonical spelling."""

import pytest

from tamis import ExpressionError
from tamis.language import Notify
from tamis.routing.conditions import Asked, asked, canonical, is_canonical, may_meet, parsed


def test_equal_conditions_are_spelled_alike() -> None:
    assert canonical("x>5 and  y = 2") == canonical("y = 2 and not (x <= 5)")
    assert parsed(canonical("x > 5")).matches({"x": 6})
    with pytest.raises(ExpressionError):
        canonical("x >")


def test_may_meet() -> None:
    assert may_meet("x > 5", "x < 8")
    assert not may_meet("x > 5", "x < 3")
    assert may_meet("x > 5", "y > 5")
    assert not may_meet("x > 5", "y > 5", "thesis")


def test_a_subscription_is_a_condition_and_a_clause() -> None:
    assert asked("not (x <= 5)") == Asked("x > 5", None)
    found = asked("not (x <= 5) notify price moves between 5% and 5.0% per symbol")
    assert found == Asked("x > 5", Notify("price", relative=0.05, key="symbol"))
    assert str(found) == "x > 5 notify price moves 5% per symbol"
    assert asked(str(found)) == found
    with pytest.raises(ExpressionError, match="above 0"):
        asked("x > 5 notify price moves 0")
    with pytest.raises(ExpressionError, match="a condition is wanted here"):
        canonical("x > 5 notify price moves 2")


def test_canonical_spelling_is_told_apart() -> None:
    assert is_canonical("x > 3")
    for text in ("x>3", "x >", "", "not x > 3"):
        assert not is_canonical(text)
