"""Relative radii and factors, against exact fractions (specs/003 §5, 10)."""

import math
from fractions import Fraction

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from support.watching import EXAMPLES, Setting

#: Small enough for every product to be exact in doubles.
numbers = st.integers(1, 4_000)
eighths = st.lists(st.integers(1, 24), min_size=1, max_size=10)


@pytest.mark.parametrize("name", ["two-level", "radius-tree", "endpoints", "scan"])
@pytest.mark.parametrize("law", ["relative", "factor"])
@settings(max_examples=EXAMPLES)
@given(sizes=eighths, values=st.lists(numbers, min_size=1, max_size=30))
def test_exact_fractions_agree(name: str, law: str, sizes: list[int], values: list[int]) -> None:
    setting = Setting(name, law)  # type: ignore[arg-type]
    structure = setting.make()
    base = 1 if law == "factor" else 0
    radii = [base + Fraction(size, 8) for size in sizes]
    for handle, radius in enumerate(radii):
        structure.add(handle, float(radius), float(radius))
    centres: dict[int, int] = {}
    last = None
    for value in values:
        structure.update(float(value))
        expected = [
            handle
            for handle, radius in enumerate(radii)
            if handle not in centres
            or (law == "relative" and abs(value - centres[handle]) >= radius * centres[handle])
            or (law == "factor" and (value >= centres[handle] * radius or value * radius <= centres[handle]))
        ]
        if value == last:
            expected = []
        assert sorted(structure.affected().tolist()) == expected
        centres |= dict.fromkeys(expected, value)
        last = value


@pytest.mark.parametrize("name", ["two-level", "radius-tree"])
@settings(max_examples=EXAMPLES)
@given(
    factors=st.lists(st.floats(1.01, 3), min_size=1, max_size=8, unique=True),
    values=st.lists(st.floats(0.1, 100), min_size=1, max_size=30),
)
def test_factors_are_radii_of_logarithms(name: str, factors: list[float], values: list[float]) -> None:
    plain, logs = Setting(name, "factor").make(), Setting(name).make()
    for handle, factor in enumerate(factors):
        plain.add(handle, factor, factor)
        logs.add(handle, math.log(factor), math.log(factor))
    for value in values:
        # Away from exact hits: there logarithms blur.
        for row in plain.rows():
            ratio = abs(math.log(value) - math.log(row.centre))
            if abs(ratio - math.log(row.may)) < 1e-9 or (value != plain.value and ratio < 1e-9):
                return
        plain.update(value)
        logs.update(math.log(value))
        assert sorted(plain.affected().tolist()) == sorted(logs.affected().tolist())


def test_a_share_of_one_or_more_never_fires_downwards() -> None:
    structure = Setting("two-level", "relative").make()
    structure.add(0, 1.0, 1.0)
    structure.update(64.0)
    structure.update(1e-9)
    assert structure.affected().tolist() == []
    structure.update(128.0)
    assert structure.affected().tolist() == [0]
