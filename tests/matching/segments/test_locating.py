"""The leaves of single numbers against a search by NumPy."""

import math
from collections.abc import Sequence
from typing import Any

import numpy as np
import numpy.typing as npt
import pytest
from hypothesis import given
from hypothesis import strategies as st

from tamis.language.values import Kind
from tamis.matching.segments.locating import locate
from tamis.matching.segments.stretches import KINDS, REAL

WHOLES = st.integers(-(2**63), 2**63 - 1) | st.integers(-20, 20)
REALS = st.floats(allow_nan=False) | st.integers(-50, 50).map(float) | st.floats(0, 1)


def located(whole: Sequence[int], real: Sequence[float], wholes: Sequence[int], reals: Sequence[float]) -> list[int]:
    """Return the leaves of numbers on the second of two lines; a first cut belongs to the other one."""
    begin, end = np.ones(2 * KINDS, np.int32), np.ones(2 * KINDS, np.int32)
    end[KINDS + Kind.NUMBER], end[KINDS + REAL] = 1 + len(whole), 1 + len(real)
    out = np.empty(len(wholes) + len(reals), np.int32)
    on = np.ones(len(out), np.int32)
    cuts = np.array([2**63 - 1, *sorted(whole)], np.int64), np.array([math.inf, *sorted(real)])
    count = locate(on, np.array(wholes, np.int64), np.array(reals, np.float64), begin, end, *cuts, out)
    found: list[int] = out[:count].tolist()
    return found


def expected(cuts: npt.NDArray[Any], values: npt.NDArray[Any]) -> list[int]:
    found: list[int] = np.searchsorted(np.sort(cuts), values, side="right").tolist()
    return found


@given(st.lists(WHOLES, max_size=100), st.lists(REALS, max_size=100), st.lists(WHOLES), st.lists(REALS))
def test_numbers_are_found_where_a_plain_search_finds_them(
    whole: list[int], real: list[float], wholes: list[int], reals: list[float]
) -> None:
    wholes, reals = wholes + whole, reals + real
    leaves = expected(np.array(whole, np.int64), np.array(wholes, np.int64))
    leaves += expected(np.array(real, np.float64), np.array(reals, np.float64))
    assert located(whole, real, wholes, reals) == leaves


@pytest.mark.parametrize(
    "cuts", [[1.0] * 100, [-1.7e308, 1.7e308] * 50, [2.0**n for n in range(100)], [-math.inf, *range(98), math.inf]]
)
def test_and_on_odd_lines(cuts: list[float]) -> None:
    values = [*cuts, 0.5, -math.inf, math.inf, *(1.5 * cut for cut in cuts)]
    assert located([], cuts, [], values) == expected(np.array(cuts), np.array(values))


def test_nan_and_numbers_without_a_line_have_no_leaf() -> None:
    assert located([], [1.0], [], [math.nan]) == []
    begin = np.zeros(KINDS, np.int32)
    nowhere, one = np.array([-1], np.int32), np.array([1])
    assert locate(nowhere, one, np.empty(0), begin, begin, one, np.empty(0), np.empty(1, np.int32)) == 0
