"""Where conditions and events lie on the axes of a curve."""

from typing import Any

from hypothesis import example, given, settings
from hypothesis import strategies as st

from support.overlays import CONDITIONS
from tamis import parse
from tamis.routing.axes import Axes

VALUES = st.one_of(st.none(), st.integers(-3, 12), st.floats(-3, 12), st.sampled_from(["a", "ab", "cab", True, [1]]))


@settings(max_examples=300, deadline=None)
@given(
    st.sampled_from(CONDITIONS), st.fixed_dictionaries({}, optional=dict.fromkeys("xysz", VALUES)), st.integers(1, 5)
)
@example("y <> 4", {"y": 4.5}, 1)
def test_an_event_that_meets_a_condition_lies_in_its_box(condition: str, event: dict[str, Any], bits: int) -> None:
    axes = Axes({"x": (0, 9), "y": (2, 3), "s": (0, 1)}, bits)
    box = axes.box(condition)
    if parse(condition).matches(event):
        assert box is not None
        low, high = box
        cells = axes.cells(event)
        assert (low <= cells).all()
        assert (cells <= high).all()
        assert (low >= 0).all()
        assert (high < 2**bits).all()


def test_boxes_are_as_small_as_the_cells_allow() -> None:
    axes = Axes({"x": (0, 6)}, 3)
    assert axes.box("x > 5 and x < 3") is None
    low, high = axes.box("x >= 2 and x < 3") or ((), ())
    assert (list(low), list(high)) == ([3], [4])
    assert list(axes.cells({"x": 2.5})) == [3]
    assert list(axes.cells({"x": -100})) == list(axes.cells({})) == [0]
    assert list(axes.cells({"x": 1e300})) == list(axes.cells({"x": "text"})) == [7]


def test_without_attributes_all_lie_together() -> None:
    axes = Axes({}, 4)
    assert len(axes) == 1
    assert list(axes.cells({"x": 5})) == [0]
    low, high = axes.box("x = 5") or ((), ())
    assert (list(low), list(high)) == ([0], [15])
