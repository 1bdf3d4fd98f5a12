"""Whatever an event meets is found by its anchor, and little else."""

from decimal import Decimal
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from support.strategies import conjunctions, events, expressions
from tamis.language import Expression, parse
from tamis.matching.segments.anchors import Anchors


def anchored(conditions: list[Expression]) -> Anchors[int]:
    anchors: Anchors[int] = Anchors()
    for number, condition in enumerate(conditions):
        anchors.append(condition, number)
    return anchors


@given(st.lists(st.one_of(conjunctions(), expressions()), max_size=40), st.lists(events(), min_size=1, max_size=5))
def test_what_an_event_meets_is_found_once(conditions: list[Expression], told: list[dict[str, Any]]) -> None:
    anchors = anchored(conditions)
    for event in told:
        found = list(anchors.met(event))
        assert len(found) == len(set(found))
        assert {number for number, each in enumerate(conditions) if each.matches(event)} <= set(found)


@pytest.mark.parametrize(
    ("condition", "meeting", "missing"),
    [
        ("a = 1 and b > 5", {"a": 1, "b": 9}, {"a": 2, "b": 9}),
        ("a > 5", {"a": 10**400}, {"a": -(10**400)}),
        ("a > 9007199254740992", {"a": 9007199254740993}, {"a": 1}),
        ("a >= 2 and a < 5", {"a": Decimal(3)}, {"a": 1}),
        ("a between 2 and 5", {"a": np.float32(2.5)}, {"a": "3"}),
        ("a between 2 and 5", {"a": 5}, {"a": float("nan")}),
        ("n.x between 2 and 5", {"n": {"x": 3}}, {"n": {"y": 3}, "x": 3}),
        ("`n.x` < 5", {"n.x": 3}, {"n": {"x": 3}}),
    ],
)
def test_anchors_are_values_and_ranges(condition: str, meeting: dict[str, Any], missing: dict[str, Any]) -> None:
    anchors = anchored([parse(condition)])
    assert parse(condition).matches(meeting)
    assert list(anchors.met(meeting)) == [0]
    assert list(anchors.met(missing)) == []


def test_they_are_spread_over_what_is_asked_for() -> None:
    conditions = [parse(f"common = 1 and rare = {number}") for number in range(50)]
    conditions += [parse(f"common > 0 and x{number} between 1 and 2") for number in range(50)]
    assert len(list(anchored(conditions).met({"common": 1}))) <= 2
