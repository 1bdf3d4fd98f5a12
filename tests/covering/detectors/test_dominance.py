"""What only the approximate detector promises (specs/000 §10, 7); the conformance suite has the rest."""

from fractions import Fraction
from math import prod
from typing import Any

import numpy as np
import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st

from support.boxes import Sides, contains, corners
from tamis.covering.detectors import NO_LIMIT
from tamis.covering.detectors.dominance import MOST_SIDES, Dominance
from tamis.geometry.extremal import Extremal

#: Three bits for values below 64: eight values share a cell.
BITS, BOUND = 3, 64
FAITHFUL: dict[str, Any] = {"mode": "faithful", "cubes": 10**9}

ends = st.integers(0, BOUND - 1)
sides = st.tuples(ends, ends).map(lambda each: (min(each), max(each)))
epsilons = st.sampled_from((0, 0.05, 0.3, 0.7, Fraction(1, 4), Fraction(5, 9))) | st.fractions(0, Fraction(99, 100))
#: Boxes of one or two sides: with three the faithful search goes through thousands of cubes.
worlds = st.integers(1, 2).flatmap(
    lambda beta: st.tuples(st.lists(st.tuples(*[sides] * beta), min_size=1, max_size=25), st.tuples(*[sides] * beta))
)


def cells(box: Sides) -> list[int]:
    """The point of a box as the specification has it."""
    top = (1 << BITS) - 1
    return [cell for low, high in box for cell in (top - low * (1 << BITS) // BOUND, high * (1 << BITS) // BOUND)]


def holding(boxes: list[Sides], **options: Any) -> Dominance:
    detector = Dominance(len(boxes[0]), bits=BITS, bounds=(0, BOUND), **options)
    for handle, box in enumerate(boxes):
        detector.add(handle, *corners(box))
    return detector


def dominating(boxes: list[Sides], query: Sides, level: int) -> set[int]:
    """The boxes that contain one and lie in the cubes from a level up."""
    corner = Extremal.above(cells(query), BITS).corner(level)
    return {
        handle
        for handle, box in enumerate(boxes)
        if contains(box, query) and all(x >= low for x, low in zip(cells(box), corner, strict=True))
    }


@given(worlds, epsilons)
@example(([((0, 63),)], ((8, 39),)), Fraction(5, 9))
def test_populated_finds_exactly_what_lies_in_the_cubes(
    world: tuple[list[Sides], Sides], epsilon: Fraction | float
) -> None:
    boxes, query = world
    rectangle = Extremal.above(cells(query), BITS)
    level = rectangle.level_for(epsilon)
    detector = holding(boxes, epsilon=epsilon)
    assert set(detector.coverers(*corners(query), NO_LIMIT)) == dominating(boxes, query, level)
    assert detector.coverage == pytest.approx(prod(rectangle.cleared(level)) / rectangle.volume)
    assert detector.coverage >= 1 - epsilon - 1e-12
    found = detector.coverers(*corners(query), 1, besides=0)
    assert bool(found) is bool(dominating(boxes, query, level) - {0})


@given(worlds, epsilons)
def test_a_faithful_search_that_finishes_its_level_finds_the_same(
    world: tuple[list[Sides], Sides], epsilon: Fraction | float
) -> None:
    boxes, query = world
    rectangle = Extremal.above(cells(query), BITS)
    level = rectangle.level_for(epsilon)
    detector = holding(boxes, epsilon=epsilon, finish_level=True, **FAITHFUL)
    # More than there are, so that no hit ends the search.
    found = set(detector.coverers(*corners(query), NO_LIMIT))
    assert found == dominating(boxes, query, level)
    if len(found) < len(boxes):
        assert detector.coverage == pytest.approx(prod(rectangle.cleared(level)) / rectangle.volume)
        assert detector.probed == sum(map(rectangle.cubes, range(level, BITS + 1)))


@given(worlds, epsilons)
def test_a_faithful_search_finds_all_in_the_levels_before_its_last(
    world: tuple[list[Sides], Sides], epsilon: Fraction | float
) -> None:
    boxes, query = world
    level = Extremal.above(cells(query), BITS).level_for(epsilon)
    detector = holding(boxes, epsilon=epsilon, **FAITHFUL)
    found = set(detector.coverers(*corners(query), NO_LIMIT))
    assert dominating(boxes, query, level + 1) <= found <= dominating(boxes, query, level)
    if len(found) < len(boxes):
        assert detector.coverage >= 1 - epsilon - 1e-12
    one = detector.coverers(*corners(query), 1)
    assert set(one) <= {handle for handle, box in enumerate(boxes) if contains(box, query)}
    assert bool(one) is bool(found)


@given(worlds, st.integers(1, 40))
def test_a_faithful_search_gives_up_and_says_how_far_it_came(world: tuple[list[Sides], Sides], cubes: int) -> None:
    boxes, query = world
    rectangle = Extremal.above(cells(query), BITS)
    detector = holding(boxes, epsilon=0, mode="faithful", cubes=cubes)
    found = set(detector.coverers(*corners(query), NO_LIMIT))
    assert found <= dominating(boxes, query, 0)
    assert detector.probed <= cubes
    if len(found) < len(boxes):
        assert detector.probed == min(cubes, rectangle.all_cubes())
        assert (detector.coverage == 1) is (cubes >= rectangle.all_cubes())


@settings(max_examples=20)
@given(st.integers(0, 2**32), st.sampled_from((3, 6)), st.sampled_from((0.05, 0.3)), st.booleans())
def test_keys_of_one_and_of_two_words(seed: int, beta: int, epsilon: float, learned: bool) -> None:
    random = np.random.default_rng(seed)
    ends = np.sort(random.integers(0, 2**62, (400, beta, 2)), axis=2)
    # Some that cover others: a box in 6 dimensions is hardly ever in another one.
    ends[200:] = ends[:200] + np.array([-(2**61), 2**61])
    low, high = ends[..., 0].copy(), ends[..., 1].copy()
    detector = Dominance(beta, epsilon, bounds=None if learned else (-(2**61), 2**62 + 2**61))
    exact = Dominance(beta, 0)
    for handle in range(400):
        detector.add(handle, low[handle], high[handle])
        exact.add(handle, low[handle], high[handle])
    everybody = 0
    for asked in range(200):
        covering = set(
            np.flatnonzero(((low <= low[asked]) & (high >= high[asked])).all(axis=1)).tolist(),
        )
        found = detector.coverers(low[asked], high[asked], NO_LIMIT)
        assert len(found) == len(set(found))
        assert set(found) <= covering
        assert detector.coverage >= 1 - epsilon - 1e-12
        assert set(exact.coverers(low[asked], high[asked], NO_LIMIT)) == covering
        everybody += len(found)
    assert everybody >= 200


@pytest.mark.parametrize("stay", [True, False])
def test_cells_are_learned_anew_when_many_have_come(stay: bool) -> None:
    detector = Dominance(1)
    random = np.random.default_rng(2)
    first = 0
    for scale in (1, 10**6, 10**12):
        before = len(detector)
        # Narrow boxes, so that nobody covers one that is a little wider.
        low = random.integers(0, 1_000 * scale, (3 * len(detector) + 200, 1))
        for row, each in enumerate(low):
            detector.add(first + row, each, each + scale // 1_000)
            if row < before and not stay:
                detector.remove(first - before + row)
            if row % 50 == 0:
                detector.coverers(each, each, 1)
                detector.check_invariants()
        first += len(low)
        touched = detector.touched
        for each in low[:100]:
            assert detector.coverers(each, each + scale // 1_000 + 1, 1) == []
        # Most boxes are of this scale. In cells for smaller ones they would all be in the same.
        assert (detector.touched - touched) / 100 < 100


def test_sides_beyond_those_on_the_grid_are_verified() -> None:
    beta = MOST_SIDES + 3
    detector = Dominance(beta, 0)
    box = np.zeros(beta, np.int64), np.full(beta, 10, np.int64)
    detector.add(0, *box)
    short = box[1].copy()
    short[-1] = 4
    detector.add(1, box[0], short)
    assert sorted(detector.coverers(box[0], short, NO_LIMIT)) == [0, 1]
    assert detector.coverers(*box, NO_LIMIT) == [0]
    detector.remove(0)
    assert detector.coverers(*box, NO_LIMIT) == []


def test_a_faithful_search_without_boxes_or_sides() -> None:
    detector = Dominance(0, mode="faithful")
    nothing = np.empty(0, np.int64)
    assert detector.coverers(nothing, nothing, 1) == []
    detector.add(3, nothing, nothing)
    assert detector.coverers(nothing, nothing, 1) == [3]
    assert Dominance(2, mode="faithful").coverers(*corners(((1, 2), (3, 4))), 1) == []


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"epsilon": 1}, "epsilon is 1, but it must be at least 0 and below 1"),
        ({"bits": 0}, "bits is 0, but a coordinate has from 1 to 16 bits"),
        ({"mode": "greedy"}, "there is no mode 'greedy'; there are: populated, faithful"),
        ({"cubes": 0}, "cubes is 0, but a search must go through at least 1"),
        ({"bounds": (3, 1)}, "between 3 and 1"),
    ],
)
def test_what_is_refused(options: dict[str, Any], message: str) -> None:
    with pytest.raises(ValueError, match=message):
        Dominance(2, **options)
