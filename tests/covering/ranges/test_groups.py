import pytest
from hypothesis import given

from support.valueboxes import Floats, boxes_and_points, inside_any
from tamis.covering.ranges import ContentSpace, GroupedTable
from tamis.geometry import curve
from tamis.geometry.quantiser import Quantiser

SPACES = [
    ContentSpace(curve("hilbert", 2, 4), [Quantiser.uniform(0, 10, 4)] * 2, axes=axes) for axes in ([0, 1], [2, 3])
]


@given(boxes_and_points())
def test_no_match_is_lost_by_grouping(given: tuple[Floats, Floats, Floats]) -> None:
    lows, highs, points = given
    groups = GroupedTable(SPACES)
    for handle, box in enumerate(zip(lows, highs, strict=True)):
        covered = groups.is_covered(*box)
        assert covered == (not any(starts.size for starts, _ in groups.add(handle, *box)))
    groups.check_invariants()
    assert not (inside_any(lows, highs, points) & ~groups.match_many(points)).any()
    assert [groups.match(point) for point in points] == groups.match_many(points).tolist()
    for handle in range(len(lows)):
        groups.remove(handle)
    assert len(groups) == 0
    assert not groups.match_many(points).any()


def test_a_box_that_is_refused_is_in_no_group() -> None:
    groups = GroupedTable(SPACES)
    with pytest.raises(ValueError, match="above high"):
        groups.add("s", [0, 0, 0, 5], [1, 1, 1, 4])
    assert "s" not in groups
    groups.check_invariants()
    with pytest.raises(ValueError, match="at least one group"):
        GroupedTable([])
