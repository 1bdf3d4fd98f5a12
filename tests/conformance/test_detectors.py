"""One suite for every registered detector: random histories against a plain comparison (specs/000 §10, 3)."""

import os
from collections.abc import Callable
from functools import partial

import numpy as np
import pytest
from hypothesis import settings
from hypothesis import strategies as st
from hypothesis.stateful import RuleBasedStateMachine, invariant, precondition, rule, run_state_machine_as_test

from support.boxes import Sides, boxes, contains, corners
from tamis.covering.detectors import NO_LIMIT, Detector, detector_class, detectors
from tamis.covering.detectors.dominance import Dominance

#: As all of them can be asked to be: one may miss coverers otherwise.
EXACT: dict[str, Callable[[int], Detector]] = {**detectors(), "dominance": partial(Dominance, epsilon=0)}
DETECTORS = list(detectors())
EXAMPLES = int(os.environ.get("TAMIS_TEST_EXAMPLES", "12"))


def histories(name: str, dimensions: int) -> type[RuleBasedStateMachine]:
    handles = st.integers(0, 40)
    some = boxes(dimensions)

    class History(RuleBasedStateMachine):
        def __init__(self) -> None:
            super().__init__()
            self.detector = EXACT[name](dimensions)
            self.oracle: dict[int, Sides] = {}
            self.asked = 0

        @rule(new=st.dictionaries(handles, some, min_size=1, max_size=12))
        def add(self, new: dict[int, Sides]) -> None:
            for handle, sides in new.items():
                if handle not in self.oracle:
                    self.detector.add(handle, *corners(sides))
                    self.oracle[handle] = sides

        @precondition(lambda self: self.oracle)
        @rule(data=st.data())
        def remove(self, data: st.DataObject) -> None:
            there = st.sampled_from(sorted(self.oracle))
            for handle in data.draw(st.lists(there, min_size=1, max_size=12, unique=True)):
                self.detector.remove(handle)
                del self.oracle[handle]

        @rule(sides=some, limit=st.sampled_from((1, 2, 5, NO_LIMIT)), besides=handles | st.just(-1))
        def ask(self, sides: Sides, limit: int, besides: int) -> None:
            expected = {each for each, box in self.oracle.items() if contains(box, sides)} - {besides}
            found = self.detector.coverers(*corners(sides), limit, besides)
            self.asked += 1
            assert len(found) == len(set(found)) == min(limit, len(expected))
            assert set(found) <= expected

        @invariant()
        def sound(self) -> None:
            assert len(self.detector) == len(self.oracle)
            assert self.detector.calls == self.asked
            self.detector.check_invariants()

    return History


@pytest.mark.parametrize("dimensions", [0, 1, 3])
@pytest.mark.parametrize("name", DETECTORS)
def test_histories(name: str, dimensions: int) -> None:
    run_state_machine_as_test(
        histories(name, dimensions), settings=settings(max_examples=EXAMPLES, stateful_step_count=20, deadline=None)
    )


@pytest.mark.parametrize("name", DETECTORS)
def test_many_boxes_that_come_and_go(name: str) -> None:
    random = np.random.default_rng(5)
    ends = np.sort(random.integers(0, 40, (3_000, 2, 2)), axis=2)
    low, high = ends[..., 0].copy(), ends[..., 1].copy()
    detector = EXACT[name](2)
    living = np.zeros(len(ends), np.bool_)
    for step in range(3_000):
        if step % 5 < 3:
            newcomer = step
            detector.add(newcomer, low[newcomer], high[newcomer])
            living[newcomer] = True
        else:
            gone = int(random.choice(np.flatnonzero(living)))
            detector.remove(gone)
            living[gone] = False
        asked = int(random.integers(len(ends)))
        covering = ((low <= low[asked]) & (high >= high[asked])).all(axis=1) & living
        covering[asked] = False
        found = detector.coverers(low[asked], high[asked], NO_LIMIT, besides=asked)
        assert sorted(found) == np.flatnonzero(covering).tolist()
    detector.check_invariants()
    assert detector.calls == 3_000
    assert detector.touched > 0


@pytest.mark.parametrize("name", DETECTORS)
def test_equal_boxes_cover_each_other(name: str) -> None:
    detector = EXACT[name](2)
    for handle in range(40):
        detector.add(handle, *corners(((1, 3), (2, 2))))
    everybody = corners(((1, 3), (2, 2)))
    assert sorted(detector.coverers(*everybody, NO_LIMIT, besides=7)) == [each for each in range(40) if each != 7]
    assert len(detector.coverers(*everybody, 3)) == 3
    assert detector.coverers(*corners(((0, 3), (2, 2))), 3) == []


def test_an_unknown_name_is_refused_with_those_there_are() -> None:
    with pytest.raises(ValueError, match=r"no detector 'r-tree'; there are: .*kdtree"):
        detector_class("r-tree")
