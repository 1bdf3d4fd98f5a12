import numpy as np
import pytest

from tamis.covering.ranges import most_selective, overlap_probabilities


def test_the_attribute_with_the_fewest_overlaps_is_chosen() -> None:
    rng = np.random.default_rng(7)
    lows = rng.integers(0, 1000, (500, 3))
    widths = np.array([600, 3, 50])
    assert most_selective(lows, lows + widths, 1) == [1]
    assert most_selective(lows, lows + widths, 2) == [1, 2]
    found = overlap_probabilities(lows, lows + widths)
    # Two of n places at most w apart: 1 - (1 - w / n)².
    np.testing.assert_allclose(found, 1 - (1 - (widths + 1) / 1000) ** 2, atol=0.03)
    with pytest.raises(ValueError, match="no box"):
        most_selective(lows[:0], lows[:0], 1)
