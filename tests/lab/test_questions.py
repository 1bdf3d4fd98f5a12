import numpy as np

from tamis.covering.detectors import NO_LIMIT
from tamis.covering.detectors.dominance import BITS, Dominance
from tamis.covering.detectors.scan import Scan
from tamis.lab.questions import ask, cells_of, draw, hold
from tamis.lab.replay import UNIT


def test_what_is_found_and_looked_at_is_counted() -> None:
    boxes = draw(np.random.default_rng(1), 2, 300, 50)
    scan = Scan(2)
    hold(scan, boxes)
    first, whole = ask(scan, boxes, 1), ask(scan, boxes, NO_LIMIT)
    expected = [
        int(((boxes.low <= low) & (boxes.high >= high)).all(axis=1).sum())
        for low, high in zip(boxes.asked_low, boxes.asked_high, strict=True)
    ]
    assert whole.found == expected
    assert first.found == [min(1, each) for each in expected]
    assert whole.touched == [300] * 50
    assert first.answered == whole.answered == sum(map(bool, expected))
    assert whole.hits == sum(expected)
    assert whole.microseconds > 0


def test_cells_are_those_of_the_detector() -> None:
    boxes = draw(np.random.default_rng(2), 2, 40, 1)
    held = cells_of(boxes.low, boxes.high)
    assert held.shape == (40, 4)
    assert (held >= 0).all()
    assert (held < 1 << BITS).all()
    exact = Dominance(2, 0, bounds=(0, UNIT))
    hold(exact, boxes)
    for at in range(40):
        on_grid = set(np.flatnonzero((held >= held[at]).all(axis=1)).tolist())
        assert set(exact.coverers(boxes.low[at], boxes.high[at], NO_LIMIT)) <= on_grid


def test_the_ends_of_the_unit_are_in_the_end_cells() -> None:
    ends = np.array([[0], [UNIT]])
    assert cells_of(ends, ends).tolist() == [[1023, 0], [0, 1023]]
