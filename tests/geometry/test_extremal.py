from collections.abc import Callable, Iterator
from fractions import Fraction
from itertools import islice, product
from math import prod
from typing import Any, cast

import numpy as np
import pytest
from hypothesis import assume, given
from hypothesis import strategies as st

from support.curves import clustered, z_key
from tamis.geometry.curve import curve
from tamis.geometry.extremal import Extremal, bits_to_keep, cleared, hardest, hardest_runs, most_cubes, truncated


@st.composite
def rectangles(draw: st.DrawFn, key_bits: int = 10) -> Extremal:
    dimensions = draw(st.integers(1, 5))
    bits = draw(st.integers(1, max(1, key_bits // dimensions)))
    return Extremal([draw(st.integers(1, 1 << bits)) for _ in range(dimensions)], bits)


epsilons = st.fractions(0, 1).filter(lambda each: each < 1) | st.sampled_from((0, 0.05, 0.3, Fraction(1, 100)))


def cells(sides: tuple[int, ...], bits: int) -> Iterator[tuple[int, ...]]:
    """Yield the cells of the rectangle with these sides at the top corner."""
    return product(*(range((1 << bits) - side, 1 << bits) for side in sides))


def maximal_cubes(rectangle: Extremal) -> dict[int, set[int]]:
    """Return the keys of the maximal standard cubes by level: the greedy partition."""
    found: dict[int, set[int]] = {}
    for cell in cells(tuple(rectangle.sides), rectangle.bits):
        level = max(
            level
            for level in range(rectangle.bits + 1)
            if all(x >> level << level >= low for x, low in zip(cell, rectangle.corner(), strict=True))
        )
        key = z_key(cell, rectangle.bits) >> level * rectangle.dimensions
        found.setdefault(level, set()).add(key)
    return found


def thesis_keys(rectangle: Extremal, i: int) -> Iterator[int]:
    """Yield the keys of D_i as specs/000 §6 lists them."""
    k, sides = rectangle.bits, rectangle.sides
    bits = [[y for y in range(k + 1) if side >> y & 1] for side in sides]
    for s in range(len(sides)):
        if i not in bits[s]:
            continue
        choices = [[i] if t == s else [y for y in bits[t] if (y > i if t < s else y >= i)] for t in range(len(sides))]
        for pinned in product(*choices):
            coordinates: list[list[int]] = []
            for side, p in zip(sides, pinned, strict=True):
                fixed = sum((1 ^ side >> y & 1) << (y - i) for y in range(p + 1, k))
                fixed |= (1 << (p - i)) if p < k else 0
                coordinates.append([fixed | free for free in range(1 << (p - i))])
            for point in product(*coordinates):
                yield z_key(point, k - i) if k > i else 0


@given(rectangles())
def test_cubes_are_the_greedy_partition(rectangle: Extremal) -> None:
    expected = maximal_cubes(rectangle)
    for level in range(rectangle.bits + 2):
        keys = list(rectangle.keys(level))
        assert keys == sorted(expected.get(level, ()))
        assert len(keys) == rectangle.cubes(level)
    assert rectangle.all_cubes() == sum(map(len, expected.values()))
    assert max(expected) == rectangle.top_level


@given(rectangles())
def test_cubes_are_those_that_the_thesis_lists(rectangle: Extremal) -> None:
    for level in range(rectangle.top_level + 1):
        listed = list(thesis_keys(rectangle, level))
        assert sorted(listed) == list(rectangle.keys(level))


@given(rectangles())
def test_cubes_from_a_level_up_fill_a_rectangle(rectangle: Extremal) -> None:
    filled: set[int] = set()
    for level in range(rectangle.top_level, -1, -1):
        for start, end in rectangle.ranges(level):
            new = set(range(start, end + 1))
            assert not filled & new
            filled |= new
        sides = rectangle.cleared(level)
        assert filled == {z_key(cell, rectangle.bits) for cell in cells(sides, rectangle.bits)}
        assert rectangle.corner(level) == tuple((1 << rectangle.bits) - side for side in sides)
    assert len(filled) == rectangle.volume
    assert len(clustered(filled)) <= rectangle.all_cubes()


@given(rectangles())
def test_ranges_are_runs(rectangle: Extremal) -> None:
    for level in range(rectangle.top_level + 1):
        shift = level * rectangle.dimensions
        held = [key << shift | low for key in rectangle.keys(level) for low in range(1 << shift)]
        assert list(rectangle.ranges(level)) == clustered(held)


@given(rectangles(), epsilons)
def test_the_level_for_an_epsilon(rectangle: Extremal, epsilon: Fraction | float) -> None:
    level = rectangle.level_for(epsilon)
    wanted = (1 - Fraction(epsilon)) * rectangle.volume
    assert prod(rectangle.cleared(level)) >= wanted
    assert prod(rectangle.cleared(level + 1)) < wanted


@given(st.lists(st.integers(1, 1 << 70), min_size=1, max_size=6), epsilons)
def test_kept_bits_leave_enough_volume(sides: list[int], epsilon: Fraction | float) -> None:
    assume(epsilon > 0)
    rectangle = Extremal(sides, 70)
    kept = bits_to_keep(len(sides), epsilon)
    assert 2**kept >= 2 * len(sides) / Fraction(epsilon) > 2**kept / 2
    shorter = rectangle.truncated(kept)
    assert shorter.volume >= (1 - Fraction(epsilon)) * rectangle.volume
    assert all(a.bit_length() == b.bit_length() for a, b in zip(shorter.sides, sides, strict=True))
    assert shorter.aspect == rectangle.aspect


@given(st.lists(st.integers(1, 1 << 12), min_size=2, max_size=6), st.integers(1, 6))
def test_the_corrected_bound_of_lemma_9(sides: list[int], kept: int) -> None:
    rectangle = Extremal(sides, 12).truncated(kept)
    assert rectangle.all_cubes() <= most_cubes(len(sides), rectangle.aspect, kept)


def test_lemma_9_as_printed_fails() -> None:
    rectangle = Extremal([31] * 6, 5)
    assert rectangle.all_cubes() == 162_436_429
    assert rectangle.all_cubes() > 5 * 31**5 == 143_145_755
    assert rectangle.all_cubes() <= most_cubes(6, 0, 5)


@given(st.integers(2, 4), st.integers(1, 4), st.integers(0, 3), st.data())
def test_the_hardest_rectangles(dimensions: int, gamma: int, alpha: int, data: st.DataObject) -> None:
    long = gamma + alpha
    assume(long * (dimensions - 1) + gamma <= 14)
    bits = data.draw(st.integers(long, long + 2))
    last = [(1 << bits) - 1] * dimensions
    given = hardest(dimensions, gamma, alpha, bits)
    others = data.draw(
        st.lists(st.integers(1 << (long - 1), (1 << long) - 1), min_size=dimensions, max_size=dimensions)
    )
    for rectangle in (given, Extremal([*others[1:], (1 << gamma) - 1], bits)):
        assert rectangle.aspect == alpha
        starts, _ = curve("z", dimensions, bits).runs(rectangle.corner(), last)
        assert hardest_runs(dimensions, gamma, alpha) <= len(starts) <= rectangle.all_cubes()


def test_one_cell_more_makes_many_cubes() -> None:
    assert Extremal([256, 256], 9).all_cubes() == 1
    assert Extremal([257, 257], 9).all_cubes() == 514


def test_the_rectangle_of_figure_4_10() -> None:
    rectangle = Extremal([7, 5], 3)
    assert rectangle.cubes(0) == 11
    assert {13, 15} <= set(rectangle.keys(0))
    # The cells a and b, whose first coordinate begins with 01 and whose second is 011.
    assert {z_key((x, 0b011), 3) for x in (0b010, 0b011)} == {13, 15}


def test_the_whole_grid_is_one_cube_with_an_empty_key() -> None:
    rectangle = Extremal([8, 8, 8], 3)
    assert [rectangle.cubes(level) for level in range(5)] == [0, 0, 0, 1, 0]
    assert list(rectangle.keys(3)) == [0]
    assert list(rectangle.ranges(3)) == [(0, 511)]


def test_cubes_are_listed_lazily_and_counted_by_formula() -> None:
    rectangle = Extremal([1023, 777, 1001, 513, 999, 601], 10)
    assert rectangle.all_cubes() > 10**13
    first = list(islice(rectangle.keys(0), 1000))
    assert first == sorted(set(first))
    assert rectangle.level_for(0) == 0
    assert rectangle.level_for(Fraction(1, 20)) > 2


def test_the_points_that_dominate_one() -> None:
    point = np.array([3, 7, 0])
    rectangle = Extremal.above(point, 3)
    assert rectangle == Extremal([5, 1, 8], 3)
    assert rectangle.corner() == (3, 7, 0)
    assert all(type(side) is int for side in rectangle.sides)


def test_single_sides() -> None:
    assert [truncated(0b110101, kept) for kept in (1, 3, 6, 9)] == [0b100000, 0b110000, 0b110101, 0b110101]
    assert [cleared(0b110101, level) for level in (0, 1, 3, 6)] == [0b110101, 0b110100, 0b110000, 0]


@pytest.mark.parametrize(
    ("call", "message"),
    [
        (lambda: Extremal([3, 0], 2), "side 1 must be at least 1, not 0"),
        (lambda: Extremal([3, 5], 2), r"dimension 1: the side 5 is not in 1\.\.4"),
        (lambda: Extremal([], 2), "a rectangle needs at least one side"),
        (lambda: Extremal(cast(Any, [1.5]), 2), "side 0 must be an integer, not 1.5"),
        (lambda: Extremal([1], 0), "bits must be at least 1"),
        (lambda: Extremal([1], 2).level_for(1), "epsilon must be at least 0 and below 1, not 1"),
        (lambda: bits_to_keep(2, 0), "epsilon must be above 0 and below 1, not 0"),
        (lambda: list(Extremal([1], 2).keys(-1)), "level must be at least 0, not -1"),
        (lambda: hardest(1, 1, 1, 8), "dimensions must be at least 2, not 1"),
        (lambda: hardest(3, 5, 4, 8), "gamma 5 and alpha 4 need 9 bits for a side; there are 8"),
    ],
)
def test_what_is_refused(call: Callable[[], object], message: str) -> None:
    with pytest.raises(ValueError, match=message):
        call()
