"""G_k as corrected in specs/000 §5: what holds, and what the source only claims."""

import numpy as np

from tamis.covering import Change
from tamis.covering.boxes import Boxes
from tamis.covering.graphs.flat import Flat


class Line:
    """Intervals under handles."""

    def __init__(self, k: int = 1, strict: bool = False) -> None:
        self.relation = Boxes(1, "scan")
        self.graph = Flat(self.relation, k, strict)

    def add(self, handle: int, low: int, high: int) -> Change:
        self.relation.add(handle, np.array([low]), np.array([high]))
        return self.graph.add(handle)

    def remove(self, handle: int) -> Change:
        self.relation.remove(handle)
        return self.graph.remove(handle)

    @property
    def asked(self) -> int:
        assert self.relation.detector is not None
        return self.relation.detector.calls


def test_a_late_coverer_changes_nothing() -> None:
    line = Line()
    assert line.add(0, 4, 5) == ((0,), ())
    assert line.add(1, 0, 9) == ((1,), ())
    assert line.graph.forwarded() == {0, 1}
    assert list(line.graph.above(0)) == []


def test_strict_is_property_1_of_the_source() -> None:
    line = Line(strict=True)
    assert line.add(0, 4, 5) == ((0,), ())
    assert line.add(1, 0, 9) == ((1,), (0,))
    assert line.remove(1) == ((0,), (1,))


def test_a_subscription_is_asked_for_again_only_when_it_has_no_coverer_left() -> None:
    line = Line(k=2)
    for handle, (low, high) in enumerate(((0, 7), (1, 8), (2, 9), (3, 6))):
        line.add(handle, low, high)
    first, second = line.graph.above(3)
    assert line.asked == 4
    assert line.remove(first) == ((), (first,))
    assert list(line.graph.above(3)) == [second]
    assert line.asked == 4
    assert line.remove(second) == ((), (second,))
    assert line.asked == 5
    assert list(line.graph.above(3)) == [3 - first - second]


def test_new_coverers_are_found_before_anything_is_withdrawn() -> None:
    line = Line()
    line.add(0, 0, 9)
    line.add(1, 1, 5)
    line.add(2, 4, 8)
    line.add(3, 4, 5)
    change = line.remove(0)
    assert change.withdraw == (0,)
    assert set(change.forward) >= {1, 2}
    line.graph.check_invariants()
