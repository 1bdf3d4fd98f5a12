import datetime as dt
import itertools
import math
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from tamis.language.values import Kind
from tamis.matching.ranks.line import Key
from tamis.matching.segments.cuts import Cuts, boundaries, concatenated, of_keys, ranked

_TOP = 2**63
NUMBERS: list[int | float] = [
    *(sign * (2**power + step) for power in (0, 31, 52, 53, 54, 62) for step in (-2, -1, 0, 1, 2) for sign in (1, -1)),
    *(_TOP - step for step in (1, 2, 1024)),
    *(-_TOP + step for step in (0, 1, 1024)),
    *(float(sign * 2**power) for power in (53, 54, 62, 63, 64, 900) for sign in (1, -1)),
    *(math.nextafter(float(2**power), to) for power in (53, 63) for to in (0.0, math.inf)),
    *(0.5, -0.5, 1.5, 5e-324, -5e-324, 1.7976931348623157e308, -1.7976931348623157e308, 0.1),
]
TEXTS = ["", "\0", "\0\0", "a", "a\0", "a\0b", "ab", "b", "é", "\uffff", "\U0001f600", "\ud7ff", "A", "a" * 40]
TIMES = [
    dt.datetime(1970, 1, 1, tzinfo=dt.UTC),
    dt.datetime(1969, 12, 31, 23, 59, 59, 999_999, tzinfo=dt.UTC),
    dt.datetime(1, 1, 1, tzinfo=dt.UTC),
    dt.datetime(9999, 12, 31, 23, 59, 59, 999_999, tzinfo=dt.UTC),
    dt.datetime(2026, 1, 1, 0, 0, 0, 1, tzinfo=dt.UTC),
]
DAYS = [dt.date(1970, 1, 1), dt.date(1969, 12, 31), dt.date.min, dt.date.max, dt.date(2026, 1, 1)]
POOLS: dict[Kind, list[Any]] = {
    Kind.NUMBER: NUMBERS,
    Kind.STRING: TEXTS,
    Kind.BOOLEAN: [False, True],
    Kind.TIMESTAMP: TIMES,
    Kind.DATE: DAYS,
}
#: Every line begins with null.
NULL = boundaries(np.zeros(1, np.int32), Kind.NULL)


def beyond(key: Key) -> list[Any]:
    """Which values of the pool of its kind lie beyond a cut, as Python compares them, exactly."""
    kind = Kind(key[0])
    if len(key) == 1:
        return list(POOLS[kind])
    _, value, side = key
    return [each for each in POOLS[kind] if each > value or (each == value and not side)]


keys = st.sampled_from(list(POOLS)).flatmap(
    lambda kind: st.just((kind,)) | st.tuples(st.just(kind), st.sampled_from(POOLS[kind]), st.sampled_from([0, 1]))
)


@given(st.lists(keys, min_size=1, max_size=40))
def test_cuts_have_the_order_of_their_keys(some: list[Key]) -> None:
    cuts, places = ranked(concatenated([of_keys(0, some), NULL]))
    assert len(places) == len(some) + 1
    for left, right in itertools.combinations(range(len(some)), 2):
        first, second = some[left], some[right]
        if first[0] != second[0]:
            assert (places[left] < places[right]) == (first[0] < second[0])
            continue
        passed, others = beyond(first), beyond(second)
        # Every value of the pool tells two cuts apart, or none does: then they may be one, but not the wrong way round.
        if len(passed) != len(others):
            assert (places[left] < places[right]) == (len(passed) > len(others))
        if first == second:
            assert places[left] == places[right]
    assert cuts.checked(1) is cuts
    assert np.array_equal(np.unique(places), np.arange(len(cuts.dimension)))


def test_every_pair_of_numbers_is_told_apart_if_and_only_if_python_does() -> None:
    some: list[Key] = [(Kind.NUMBER, value, side) for value in NUMBERS for side in (0, 1)]
    _, places = ranked(of_keys(0, some))
    for (first, at), (second, to) in itertools.product(zip(some, places.tolist(), strict=True), repeat=2):
        if first[1] == second[1]:
            assert (at == to) == (first[2] == second[2])
        elif first[1] < second[1] and first[2] <= second[2]:
            assert at < to


def test_lines_stand_one_behind_the_other_and_ranking_again_changes_nothing() -> None:
    parts = [of_keys(dimension, [(Kind.STRING, text, 0) for text in TEXTS]) for dimension in (2, 0, 1)]
    every = np.arange(3, dtype=np.int32)
    cuts, places = ranked(concatenated([*parts, boundaries(every, 0), boundaries(every, 1)]))
    assert cuts.dimension.tolist() == sorted(cuts.dimension.tolist())
    assert len(places) == 3 * len(TEXTS) + 6
    again, same = ranked(cuts)
    assert same.tolist() == list(range(len(same)))
    assert all(np.array_equal(getattr(cuts, name), getattr(again, name)) for name in Cuts._fields)
    some = cuts.select(np.array([3, 1]))
    assert some.dimension.tolist() == cuts.dimension[[3, 1]].tolist()


@pytest.mark.parametrize(
    "change",
    [
        {"dimension": np.array([1, 1, 1, 1, 0, 0, 0, 0], np.int32)},
        {"dimension": np.array([0, 0, 0, 0, 2, 2, 2, 2], np.int32)},
        {"kind": np.array([0, 1, 1, 2, 0, 1, 1, 2], np.int64)},
        {"kind": np.array([0, 1, 1, 2, 1, 1, 1, 2], np.int8)},
        {"kind": np.array([0, 2, 1, 2, 0, 1, 1, 2], np.int8)},
        {"kind": np.array([0, 1, 1, 2, 0, 1, 1, 99], np.int8)},
        {"flag": np.array([0, 1, 1, 1], np.int8)},
        {"flag": np.array([1, 1, 1, 1, 0, 1, 1, 1], np.int8)},
        {"flag": np.array([0, 1, 0, 1, 0, 1, 1, 1], np.int8)},
        {"whole": np.array([0, 2, 1, 0, 0, 1, 2, 0])},
        {"real": np.array([0, 1, np.nan, 0, 0, 1, 2, 0])},
        {"offset": np.array([0, 0, 0, 0, 2, 1, 2, 2, 2])},
        {"offset": np.array([0, 0, 0, 0, 1, 1, 1, 1, 3])},
        {"offset": np.array([0, 2])},
    ],
)
def test_nonsense_is_refused(change: dict[str, Any]) -> None:
    lines = [[(Kind.NULL,), (Kind.NUMBER, 1, 0), (Kind.NUMBER, 2, 0), (Kind.STRING, text, 0)] for text in ("a", "b")]
    cuts = concatenated([of_keys(0, lines[0]), of_keys(1, lines[1])])
    assert isinstance(cuts.checked(2), Cuts)
    with pytest.raises(ValueError, match="cuts"):
        cuts._replace(**change).checked(2)
