import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from tamis.matching.segments.cuts import Doubles
from tamis.matching.segments.guides import guide_of, stretch_of

NUMBERS = st.floats(allow_nan=False) | st.integers(-50, 50).map(float) | st.floats(0, 1)


def found(cuts: Doubles, value: float, begin: int, end: int) -> bool:
    """Return whether the guide leads to the place of a value."""
    guide = guide_of(cuts, begin, end)
    stretch = stretch_of(value, guide.first, guide.scale, len(guide.starts) - 1)
    place = begin + int(np.searchsorted(cuts[begin:end], value, side="right"))
    return bool(guide.starts[stretch] <= place <= guide.starts[stretch + 1])


@given(st.lists(NUMBERS, max_size=200), st.lists(NUMBERS, max_size=20), st.integers(0, 3))
def test_a_guide_leads_to_the_place_of_every_number(cuts: list[float], values: list[float], before: int) -> None:
    line = np.array([np.inf] * before + sorted(cuts) + [-np.inf])
    for value in [*values, *cuts, np.inf, -np.inf]:
        assert found(line, value, before, before + len(cuts))


@given(st.lists(st.integers(-(2**63), 2**63 - 1), min_size=64, max_size=200), st.data())
def test_and_of_every_integer(cuts: list[int], data: st.DataObject) -> None:
    line = np.array(sorted(cuts), np.int64)
    guide = guide_of(line, 0, len(line))
    for value in [*cuts, data.draw(st.integers(-(2**63), 2**63 - 1))]:
        stretch = stretch_of(float(value), guide.first, guide.scale, len(guide.starts) - 1)
        place = int(np.searchsorted(line, value, side="right"))
        assert guide.starts[stretch] <= place <= guide.starts[stretch + 1]


@pytest.mark.parametrize(
    "cuts", [[1.0] * 100, [-1.7e308, 1.7e308] * 50, [5e-324 * n for n in range(100)], [-np.inf, *range(98), np.inf]]
)
def test_odd_lines_have_a_guide_too(cuts: list[float]) -> None:
    line = np.array(sorted(cuts), np.float64)
    assert all(found(line, value, 0, len(line)) for value in [*cuts, 0.5, -np.inf, np.inf])


def test_an_even_line_is_cut_into_short_stretches() -> None:
    guide = guide_of(np.arange(10_000.0), 0, 10_000)
    assert np.diff(guide.starts).max() <= 5
