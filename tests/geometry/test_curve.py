from itertools import product
from typing import Any

import numpy as np
import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from support.curves import NAMES, Box, hilbert_key, small_boxes_on_large_grids, z_key
from tamis.geometry.curve import Curve, curve

SMALL = [(name, d, k) for name in NAMES for d in range(1, 7) for k in range(1, 13) if d * k <= 12]


def grid(dimensions: int, bits: int) -> np.ndarray[Any, Any]:
    return np.array(list(product(range(1 << bits), repeat=dimensions)))


@pytest.mark.parametrize(("name", "dimensions", "bits"), SMALL)
def test_every_cell_has_one_key_and_back(name: str, dimensions: int, bits: int) -> None:
    line = curve(name, dimensions, bits)
    points = grid(dimensions, bits)
    keys = line.encode(points)
    assert sorted(keys.tolist()) == list(range(1 << bits * dimensions))
    assert keys.dtype == np.int64
    assert np.array_equal(line.decode(keys), points)


@pytest.mark.parametrize(("name", "dimensions", "bits"), SMALL)
def test_every_aligned_cube_is_one_aligned_block_of_keys(name: str, dimensions: int, bits: int) -> None:
    points = grid(dimensions, bits)
    keys = curve(name, dimensions, bits).encode(points)
    for level in range(bits + 1):
        cubes: dict[tuple[int, ...], set[int]] = {}
        for point, key in zip(points.tolist(), keys.tolist(), strict=True):
            cubes.setdefault(tuple(x >> level for x in point), set()).add(key >> level * dimensions)
        assert all(len(blocks) == 1 for blocks in cubes.values())


@pytest.mark.parametrize(("dimensions", "bits"), [(d, k) for name, d, k in SMALL if name == "hilbert"])
def test_cells_that_follow_each_other_on_the_hilbert_curve_are_neighbours(dimensions: int, bits: int) -> None:
    points = curve("hilbert", dimensions, bits).decode(np.arange(1 << bits * dimensions))
    assert (np.abs(np.diff(points, axis=0)).sum(axis=1) == 1).all()


@pytest.mark.parametrize(("dimensions", "bits"), [(d, k) for name, d, k in SMALL if name == "hilbert" and d * k <= 9])
def test_the_hilbert_curve_is_the_one_of_the_specification(dimensions: int, bits: int) -> None:
    points = grid(dimensions, bits)
    expected = [hilbert_key(point, bits) for point in points.tolist()]
    assert curve("hilbert", dimensions, bits).encode(points).tolist() == expected


def test_the_z_curve_takes_dimension_one_first() -> None:
    assert curve("z", 2, 3).encode([(0b010, 0b011)]).tolist() == [13]
    assert curve("z", 2, 3).decode([13]).tolist() == [[0b010, 0b011]]


@given(small_boxes_on_large_grids(least_key_bits=40, most_key_bits=63))
def test_long_keys_in_64_bits(box: Box) -> None:
    line = curve(box.name, box.dimensions, box.bits)
    keys = line.encode([box.low, box.high])
    key = z_key if box.name == "z" else hilbert_key
    assert keys.dtype == np.int64
    assert keys.tolist() == [key(box.low, box.bits), key(box.high, box.bits)]
    assert line.decode(keys).tolist() == [list(box.low), list(box.high)]


@given(small_boxes_on_large_grids(least_key_bits=64, most_key_bits=200))
@example(Box("z", 2, 64, (0, 2**63), (0, 2**63)))
def test_keys_beyond_64_bits(box: Box) -> None:
    line = curve(box.name, box.dimensions, box.bits)
    keys = line.encode([box.low, box.high])
    key = z_key if box.name == "z" else hilbert_key
    assert keys.tolist() == [key(box.low, box.bits), key(box.high, box.bits)]
    points = line.decode(keys)
    assert points.tolist() == [list(box.low), list(box.high)]
    assert points.dtype == (np.int64 if box.bits <= 63 else np.object_)


@pytest.mark.parametrize("name", NAMES)
@pytest.mark.parametrize(("dimensions", "bits"), [(1, 63), (63, 1), (3, 21), (9, 7)])
def test_the_last_key_of_63_bits(name: str, dimensions: int, bits: int) -> None:
    line = curve(name, dimensions, bits)
    keys = [0, 1, (1 << 62) - 1, 1 << 62, (1 << 63) - 1]
    assert line.encode(line.decode(keys)).tolist() == keys


@pytest.mark.parametrize("dtype", [np.int8, np.uint8, np.int32, np.uint64, np.object_])
@pytest.mark.parametrize("bits", [7, 40])
def test_any_type_of_integers(dtype: Any, bits: int) -> None:
    points = np.array([[1, 2], [120, 7]], dtype)
    line = curve("z", 2, bits)
    assert line.encode(points).tolist() == [z_key((1, 2), bits), z_key((120, 7), bits)]
    assert line.decode(line.encode(points).astype(np.object_)).tolist() == points.tolist()


def test_nothing_has_no_keys() -> None:
    for line in (curve("hilbert", 3, 4), curve("hilbert", 3, 40)):
        assert line.encode([]).tolist() == []
        assert line.encode(np.empty((0, 3), np.int64)).tolist() == []
        assert line.decode([]).shape == (0, 3)


def test_a_curve_is_a_value() -> None:
    assert curve("z", 2, 3) == Curve("z", 2, 3) != curve("hilbert", 2, 3)
    assert len({curve("z", 2, 3), curve("z", 2, 3)}) == 1


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (("peano", 2, 3), "there is no curve 'peano'; there are: z, hilbert"),
        (("z", 0, 3), "dimensions must be at least 1, not 0"),
        (("z", 2, 0), "bits must be at least 1, not 0"),
        (("z", 2, 1.5), "bits must be an integer, not 1.5"),
    ],
)
def test_a_curve_that_cannot_be(arguments: tuple[str, int, int], message: str) -> None:
    with pytest.raises(ValueError, match=message):
        curve(*arguments)


@pytest.mark.parametrize(
    ("points", "message"),
    [
        ([[1, 2], [3, 8]], r"points row 1, dimension 1: 8 lies outside of 0\.\.7"),
        ([[-1, 2]], r"points row 0, dimension 0: -1 lies outside"),
        ([[1 << 70, 2]], "dimension 0: 1180591620717411303424 lies outside"),
        (np.array([[1 << 63, 2]], np.uint64), "dimension 0: 9223372036854775808 lies outside"),
        ([1, 2], r"points must have the shape \(n, 2\), not \(2,\)"),
        ([[1, 2, 3]], r"points must have the shape \(n, 2\), not \(1, 3\)"),
        ([[1.0, 2.0]], "points must be integers, not 1.0"),
        ([[True, False]], "points must be integers, not True"),
        ([["a", "b"]], "points must be integers, not 'a'"),
    ],
)
def test_points_that_are_refused(points: Any, message: str) -> None:
    with pytest.raises(ValueError, match=message):
        curve("hilbert", 2, 3).encode(points)


@pytest.mark.parametrize(
    ("keys", "message"),
    [
        ([3, 64], r"the key 64 lies outside of 0\.\.63"),
        ([-1], "the key -1 lies outside"),
        ([[3]], r"keys must have one dimension, not the shape \(1, 1\)"),
        ([0.5], "keys must be integers, not 0.5"),
    ],
)
def test_keys_that_are_refused(keys: Any, message: str) -> None:
    with pytest.raises(ValueError, match=message):
        curve("hilbert", 2, 3).decode(keys)


@given(st.integers(-5, 1 << 70))
def test_a_wide_key_is_refused_only_outside(key: int) -> None:
    line = curve("z", 2, 34)
    if 0 <= key < 1 << 68:
        assert line.encode(line.decode([key])).tolist() == [key]
    else:
        with pytest.raises(ValueError, match="lies outside"):
            line.decode([key])
