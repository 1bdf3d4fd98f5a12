"""An event taken apart: which values are searched for as numbers, and which are not."""

import math
from typing import Any

import pytest

from tamis.matching.segments.values import Values


def parts(event: dict[str, Any]) -> tuple[list[str], list[int], list[float], dict[str, Any]]:
    values = Values(event)
    return list(values.names), values.wholes.tolist(), values.reals.tolist(), values.rest


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
