import importlib
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from support.curves import NAMES
from tamis.geometry.budget import decompose
from tamis.geometry.bulk import BOXES_PER_TASK, convert
from tamis.geometry.curve import Curve, TooManyRunsError, curve


def random_boxes(line: Curve, count: int, longest: int, seed: int = 3) -> tuple[Any, Any]:
    random = np.random.default_rng(seed)
    sides = random.integers(1, longest + 1, (count, line.dimensions))
    low = random.integers(0, (1 << line.bits) - sides + 1)
    return low, low + sides - 1


@given(
    st.sampled_from(NAMES),
    st.sampled_from([(1, 6), (2, 5), (3, 8), (3, 30), (5, 3)]),
    st.integers(0, 30),
    st.none() | st.integers(1, 6),
    st.none() | st.integers(0, 20),
    st.integers(0, 1 << 30),
)
def test_every_box_has_the_runs_it_has_alone(
    name: str, size: tuple[int, int], count: int, max_runs: int | None, node_cap: int | None, seed: int
) -> None:
    line = curve(name, *size)
    lows, highs = random_boxes(line, count, 4, seed)
    offsets, starts, ends, exact = convert(line, lows, highs, max_runs, node_cap)
    assert offsets[0] == 0
    assert offsets[-1] == len(starts) == len(ends)
    assert len(exact) == len(offsets) - 1 == count
    for box in range(count):
        alone = decompose(line, lows[box], highs[box], max_runs, node_cap)
        mine = slice(offsets[box], offsets[box + 1])
        assert np.array_equal(starts[mine], alone.starts)
        assert np.array_equal(ends[mine], alone.ends)
        assert exact[box] == alone.exact


@pytest.mark.parametrize("node_cap", [None, 8])
def test_many_tasks_keep_the_order(node_cap: int | None) -> None:
    line = curve("hilbert", 2, 10)
    lows, highs = random_boxes(line, 3 * BOXES_PER_TASK + 17, 6)
    offsets, starts, ends, _ = convert(line, lows, highs, node_cap=node_cap)
    for box in range(0, len(lows), 501):
        alone = decompose(line, lows[box], highs[box], node_cap=node_cap)
        assert np.array_equal(starts[offsets[box] : offsets[box + 1]], alone.starts)
        assert np.array_equal(ends[offsets[box] : offsets[box + 1]], alone.ends)
    if node_cap is None:
        cells = np.add.reduceat(ends - starts + 1, offsets[:-1])
        assert np.array_equal(cells, np.prod(highs - lows + 1, axis=1))


def test_boxes_with_many_runs_among_small_ones() -> None:
    line = curve("z", 2, 12)
    lows = np.array([[5, 5], [1, 1], [7, 7], [3, 1], [9, 9]])
    highs = np.array([[5, 5], [4094, 4094], [8, 8], [4094, 4000], [9, 9]])
    offsets, starts, ends, exact = convert(line, lows, highs)
    assert exact.all()
    assert np.diff(offsets)[[0, 2, 4]].tolist() == [1, 4, 1]
    assert np.array_equal(np.add.reduceat(ends - starts + 1, offsets[:-1]), np.prod(highs - lows + 1, axis=1))
    limited = convert(line, lows, highs, max_runs=10)
    assert np.diff(limited.offsets).tolist() == [1, 10, 4, 10, 1]
    assert limited.exact.tolist() == [True, False, True, False, True]


def test_no_boxes() -> None:
    for line in (curve("z", 2, 12), curve("z", 2, 40)):
        offsets, starts, ends, exact = convert(line, [], [])
        assert (offsets.tolist(), starts.tolist(), ends.tolist(), exact.tolist()) == ([0], [], [], [])


def test_a_box_with_too_many_runs_is_named(monkeypatch: pytest.MonkeyPatch) -> None:
    module: Any = importlib.import_module("tamis.geometry.curve")
    monkeypatch.setattr(module, "MOST_RUNS", 1000)
    line = curve("z", 2, 12)
    lows = np.ones((BOXES_PER_TASK + 10, 2), np.int64)
    highs = lows.copy()
    for box in (BOXES_PER_TASK + 3, 5):
        highs[box] = 4094
        with pytest.raises(TooManyRunsError, match=f"box {box} has more than 1,000 runs"):
            convert(line, lows, highs)
    assert len(convert(line, lows, highs, node_cap=20).starts) <= len(lows) + 2 * 20


def test_boxes_that_are_refused() -> None:
    line = curve("z", 2, 3)
    with pytest.raises(ValueError, match="box 1, dimension 0: low 3 is above high 2"):
        convert(line, [[0, 0], [3, 3]], [[1, 1], [2, 3]])
    with pytest.raises(ValueError, match="there are 2 low corners and 1 high corners"):
        convert(line, [[0, 0], [3, 3]], [[1, 1]])
    with pytest.raises(ValueError, match=r"high row 1, dimension 1: 9 lies outside of 0\.\.7"):
        convert(line, [[0, 0], [3, 3]], [[1, 1], [3, 9]])
