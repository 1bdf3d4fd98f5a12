import pytest
from hypothesis import given

from support.valueboxes import Floats, boxes_and_points, inside_any
from tamis.covering.ranges import ContentSpace, RangeTable
from tamis.geometry import curve
from tamis.geometry.quantiser import Quantiser


@given(boxes_and_points())
def test_no_match_is_lost_by_cells_projection_budget_or_filler(given: tuple[Floats, Floats, Floats]) -> None:
    lows, highs, points = given
    quantisers = [Quantiser.uniform(0, 10, 4), Quantiser.quantiles(lows.ravel(), 4, low=-1, high=11)]
    space = ContentSpace(curve("hilbert", 2, 4), quantisers, axes=[3, 1], max_runs=3, node_cap=8)
    table = RangeTable(space, theta=2)
    for handle, box in enumerate(zip(lows, highs, strict=True)):
        table.add(handle, *box)
    assert not (inside_any(lows, highs, points) & ~table.match_many(points)).any()


def test_what_does_not_fit_is_refused() -> None:
    with pytest.raises(ValueError, match="more than 63 bits"):
        ContentSpace(curve("hilbert", 8, 8))
    with pytest.raises(ValueError, match="1 quantisers for a curve of 2 dimensions"):
        ContentSpace(curve("hilbert", 2, 4), [Quantiser.uniform(0, 1, 4)])
    with pytest.raises(ValueError, match="3 axes"):
        ContentSpace(curve("hilbert", 2, 4), axes=[0, 1, 2])
