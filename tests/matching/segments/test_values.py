"""An event taken apart: which values are searched for as numbers, and which are not."""

import math
from typing import Any

import pytest

from tamis.matching.segments import values
from tamis.matching.segments.values import Values


def parts(event: dict[str, Any]) -> tuple[Any, ...]:
    found = Values(event)
    return list(found.names), found.wholes.tolist(), found.reals.tolist(), found.rest


@pytest.mark.parametrize(
    ("event", "expected"),
    [
        ({}, ([], [], [], {})),
        ({"a": 1, "b": -(2**63)}, (["a", "b"], [1, -(2**63)], [], {})),
        ({"a": 1.5, "b": 2}, (["b", "a"], [2], [1.5], {})),
        ({"a": 2**63, "b": 3}, (["b"], [3], [], {"a": 2**63})),
        ({"a": True, "b": None, "c": "x", "d": math.inf}, (["d"], [], [math.inf], {"a": True, "b": None, "c": "x"})),
    ],
)
def test_numbers_of_64_bits_are_told_from_all_else(event: dict[str, Any], expected: tuple[Any, ...]) -> None:
    assert parts(event) == expected


def test_a_few_numbers_stay_with_the_rest(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(values, "FEW", 8)
    event = {"a": 1, "b": 2.5, "c": "x"}
    assert parts(event) == ([], [], [], event)
    many = dict(zip("abcdefgh", range(8), strict=True))
    assert parts(many) == (list(many), list(range(8)), [], {})
