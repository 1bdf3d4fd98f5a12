import math
from fractions import Fraction

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tamis.healing.rate import WORST_DRIFT, Rate, at_least

OFFSETS = st.sampled_from([0, 1, -7, 10**6, -(10**9), 1_763_000_000, 10**12])
SECONDS = st.fractions(0, 10**7)


@given(st.floats(0, WORST_DRIFT), st.integers(-1000, 1000), OFFSETS, SECONDS, SECONDS)
def test_true_time_lies_between_the_two(
    drift: float, share: int, offset: int, start: Fraction, passed: Fraction
) -> None:
    rate = Rate(drift)
    pace = 1 + Fraction(drift) * share / 1000
    one, other = float(offset + pace * start), float(offset + pace * (start + passed))
    assert Fraction(rate.shortest(one, other)) <= passed <= Fraction(rate.longest(one, other))


def test_the_thesis_has_other_factors() -> None:
    strict, paper = Rate(0.1), Rate(0.1, "paper")
    assert (paper.most, paper.least) == (1.1, 0.9)
    assert strict.most == pytest.approx(1 / 0.9)
    assert strict.least == pytest.approx(1 / 1.1)


@pytest.mark.parametrize("drift", [-1e-9, 0.51, math.nan])
def test_a_clock_that_is_none_is_refused(drift: float) -> None:
    with pytest.raises(ValueError, match="drift of a clock"):
        Rate(drift)


@given(st.lists(st.floats(0, 1e12), min_size=2, max_size=2))
def test_a_sum_of_bounds_is_a_bound(two: list[float]) -> None:
    assert Fraction(at_least(sum(two))) >= Fraction(two[0]) + Fraction(two[1])
