import importlib
from typing import Any

import numpy as np
import pytest
from hypothesis import given

from support.curves import NAMES, Box, boxes, small_boxes_on_large_grids
from tamis.geometry.curve import TooManyRunsError, curve
from tamis.geometry.descent import descend


def runs(box: Box) -> list[tuple[int, int]]:
    starts, ends = curve(box.name, box.dimensions, box.bits).runs(box.low, box.high)
    return list(zip(starts.tolist(), ends.tolist(), strict=True))


def top(name: str, bits: int, *sides: int) -> list[tuple[int, int]]:
    """Return the runs of the box with these sides at the top corner."""
    last = (1 << bits) - 1
    return runs(Box(name, len(sides), bits, tuple(last + 1 - side for side in sides), (last,) * len(sides)))


@given(boxes())
def test_runs_are_those_of_the_sorted_cells(box: Box) -> None:
    found = runs(box)
    assert found == box.runs()
    assert sum(end - start + 1 for start, end in found) == box.volume


@given(small_boxes_on_large_grids(least_key_bits=30, most_key_bits=63))
def test_runs_with_long_keys(box: Box) -> None:
    assert runs(box) == box.runs()


@given(small_boxes_on_large_grids(least_key_bits=64, most_key_bits=150))
def test_runs_with_keys_beyond_64_bits(box: Box) -> None:
    assert runs(box) == box.runs()


@given(boxes())
def test_the_plain_twin_says_the_same(box: Box) -> None:
    line = curve(box.name, box.dimensions, box.bits)
    low, high = (line.inward(np.array(corner, np.object_)) for corner in (box.low, box.high))
    starts, ends = np.zeros((2, 1 << line.key_bits), np.object_)
    waiting = np.zeros((line.key_bits, 7), np.object_)
    found = descend(low, high, box.bits, line.turning, waiting, starts, ends, line.most_runs)
    assert list(zip(starts[:found].tolist(), ends[:found].tolist(), strict=True)) == runs(box)


def test_the_example_of_the_paper() -> None:
    found = runs(Box("hilbert", 2, 3, (4, 2), (6, 5)))
    assert found == [(32, 35), (45, 46), (50, 55)]
    met = [any(start <= publication <= end for start, end in found) for publication in (28, 52, 50)]
    assert met == [False, True, True]


@pytest.mark.parametrize("name", NAMES)
@pytest.mark.parametrize(
    ("dimensions", "bits"), [(1, 1), (1, 63), (63, 1), (3, 21), (2, 5), (4, 16), (100, 3), (1, 90)]
)
def test_the_whole_grid_and_a_cell_are_one_run(name: str, dimensions: int, bits: int) -> None:
    last = (1 << bits) - 1
    assert runs(Box(name, dimensions, bits, (0,) * dimensions, (last,) * dimensions)) == [
        (0, (1 << bits * dimensions) - 1)
    ]
    cell = (last,) * dimensions
    key = int(curve(name, dimensions, bits).encode([cell])[0])
    assert runs(Box(name, dimensions, bits, cell, cell)) == [(key, key)]


def test_one_cell_more_makes_many_runs() -> None:
    assert len(top("z", 9, 256, 256)) == 1
    found = top("z", 9, 257, 257)
    assert len(found) == 385
    lengths = [end - start + 1 for start, end in found]
    assert sum(lengths) == 257 * 257
    # Per ten thousand: the largest run has 99.22 % of the cells.
    assert round(10_000 * max(lengths) / sum(lengths)) == 9922


def test_many_dimensions_cost_what_meets_the_box() -> None:
    # A cube has 2 ** 31 parts here: only those that meet the box can have been looked at.
    assert sum(end - start + 1 for start, end in top("hilbert", 2, *[3] * 4, *[1] * 27)) == 81


@pytest.mark.parametrize("bits", [8, 40])
def test_a_box_with_too_many_runs_is_refused(bits: int, monkeypatch: pytest.MonkeyPatch) -> None:
    module: Any = importlib.import_module("tamis.geometry.curve")
    monkeypatch.setattr(module, "MOST_RUNS" if bits == 8 else "MOST_WIDE_RUNS", 100)
    assert len(top("z", bits, 9, 9)) < 100
    with pytest.raises(TooManyRunsError, match="more than 100 runs on the curve; decompose it"):
        top("z", bits, 63, 255)


@pytest.mark.parametrize(
    ("low", "high", "message"),
    [
        ([0, 5], [7, 4], "dimension 1: low 5 is above high 4"),
        ([0, 0], [7, 8], r"high row 0, dimension 1: 8 lies outside of 0\.\.7"),
        ([0], [7, 7], r"low must have the shape \(2,\), not \(1,\)"),
        ([0, 0], [[7, 7]], r"high must have the shape \(2,\), not \(1, 2\)"),
        ([0.0, 1.0], [7, 7], "low must be integers, not 0.0"),
        ([0, float("nan")], [7, 7], "low must be integers, not 0.0"),
    ],
)
def test_boxes_that_are_refused(low: Any, high: Any, message: str) -> None:
    with pytest.raises(ValueError, match=message):
        curve("hilbert", 2, 3).runs(low, high)
