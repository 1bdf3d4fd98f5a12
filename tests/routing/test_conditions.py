"""Conditions in canonical spelling."""

import pytest

from tamis import ExpressionError
from tamis.routing.conditions import canonical, may_meet, parsed


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
