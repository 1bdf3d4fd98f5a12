from fractions import Fraction
from math import prod

import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from tamis.covering.detectors.populated import UNKNOWN, filled, level_for
from tamis.geometry.extremal import Extremal

BITS = 10


@given(st.lists(st.integers(1, 1 << BITS), min_size=1, max_size=62), st.floats(0, 0.999))
def test_the_level_is_exact_or_unknown(sides: list[int], epsilon: float) -> None:
    rectangle = Extremal(sides, BITS)
    array = np.array(sides, np.int64)
    level = level_for(array, BITS, 1 - epsilon)
    expected = rectangle.level_for(epsilon)
    share = Fraction(prod(rectangle.cleared(expected)), rectangle.volume)
    assert abs(filled(array, expected) - share) < 1e-13
    if level == UNKNOWN:
        wanted = 1 - Fraction(epsilon)
        shares = [Fraction(prod(rectangle.cleared(each)), rectangle.volume) for each in range(BITS + 1)]
        assert min(abs(each - wanted) for each in shares) < 2e-12
    elif epsilon:
        assert level == expected
    else:
        assert rectangle.cleared(level) == rectangle.sides


def test_doubles_do_not_decide_what_is_too_near() -> None:
    # Of 3 x 3 cells the cubes from level 1 up fill 4 of 9.
    sides = np.array([3, 3], np.int64)
    assert level_for(sides, 2, 4 / 9) == UNKNOWN
    assert level_for(sides, 2, 4 / 9 - 1e-9) == 1
    assert level_for(sides, 2, 4 / 9 + 1e-9) == 0
