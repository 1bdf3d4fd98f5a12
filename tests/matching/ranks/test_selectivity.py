import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import tamis
from support.histories import crowded_conjunctions
from support.strategies import conjunctions
from tamis.language import Expression
from tamis.matching.ranks.layout import layout
from tamis.matching.ranks.lists import Lists
from tamis.matching.ranks.selectivity import by_selectivity, most_selective, sort_by_selectivity, weights
from tamis.matching.ranks.space import Space


def acquired(space: Space, text: str) -> list[int]:
    (found,), _ = space.acquire([tamis.parse(text)])
    assert found is not None
    return found


def predicate(space: Space, text: str) -> int:
    (found,) = acquired(space, text)
    return found


def test_without_history_the_operators_decide() -> None:
    space = Space()
    order = [
        "a is not null",
        "b <> 1",
        "c not in (1, 2)",
        "d > 5",
        "e between 1 and 2",
        "f in (1, 2)",
        "g = 1",
    ]
    numbers = acquired(space, " and ".join(order))
    by_name = dict(zip("abcdefg", numbers, strict=True))
    assert by_selectivity(space, numbers) == [by_name[each] for each in "gfedcba"]


def test_of_two_like_predicates_the_narrower_is_more_selective() -> None:
    space = Space()
    wide, narrow = predicate(space, "a between 1 and 9"), predicate(space, "b between 1 and 9")
    predicate(space, "a = 5")
    assert by_selectivity(space, [wide, narrow]) == [narrow, wide]


def test_of_two_equally_wide_predicates_the_one_that_fewer_share_is_more_selective() -> None:
    space = Space()
    common, rare = predicate(space, "a = 1"), predicate(space, "b = 1")
    assert by_selectivity(space, [rare, common]) == [common, rare]
    predicate(space, "a = 1")
    assert by_selectivity(space, [common, rare]) == [rare, common]


def test_with_history_the_hits_decide() -> None:
    space = Space()
    equal, interval = predicate(space, "a = 1"), predicate(space, "b between 3 and 9")
    space.hits[space.leaves_of(equal)] = 10
    space.hits[space.leaves_of(interval)] = 4
    assert by_selectivity(space, [equal, interval]) == [interval, equal]


def test_predicates_that_take_null_come_last_and_are_never_chosen() -> None:
    space = Space()
    numbers = acquired(space, "a is null and b <> 1")
    missing, unequal = numbers
    space.hits[space.leaves_of(unequal)] = 1000
    assert by_selectivity(space, numbers) == [unequal, missing]
    assert most_selective(space, numbers, 1) == [unequal]
    assert most_selective(space, numbers, 2) == [unequal]
    assert most_selective(space, [missing], 1) == []


@given(st.lists(crowded_conjunctions() | conjunctions(), max_size=10), st.integers(0, 2**32 - 1), st.booleans())
def test_in_bulk_the_order_is_the_same(expressions: list[Expression], seed: int, history: bool) -> None:
    space, held = Space(), Lists()
    for position, found in enumerate(space.acquire(expressions)[0]):
        held.assign(position, found or [])
    if history:
        space.hits[: space.leaves] = np.random.default_rng(seed).integers(0, 3, space.leaves)
    expected = [by_selectivity(space, held[position].tolist()) for position in range(len(expressions))]
    sort_by_selectivity(space, np.arange(len(expressions), dtype=np.int32), held.view(), layout(space))
    assert [held[position].tolist() for position in range(len(expressions))] == expected


@pytest.mark.parametrize("count", [1, 2, 3])
def test_so_many_are_chosen(count: int) -> None:
    space = Space()
    numbers = acquired(space, "a > 1 and b = 1 and c in (1, 2)")
    assert most_selective(space, numbers, count) == [numbers[1], numbers[2], numbers[0]][:count]


@given(st.lists(crowded_conjunctions() | conjunctions(), min_size=1, max_size=10), st.booleans())
def test_weights_in_bulk_are_those_of_few(expressions: list[Expression], history: bool) -> None:
    space = Space()
    space.acquire(expressions)
    if history:
        space.hits[: space.leaves] = np.arange(space.leaves) % 4
    some = np.arange(space.top, dtype=np.int32)
    if not len(some):
        return
    few = weights(space, some)
    bulk = weights(space, np.resize(some, 300 * len(some)))[: len(some)]
    hits = [float(space.hits[space.leaves_of(each)].sum()) for each in some.tolist()]
    for each in some.tolist():
        assert np.isinf(few[each]) == np.isinf(bulk[each]) == space.takes_null[each]
        if not space.takes_null[each]:
            assert hits[each] < few[each] <= hits[each] + 2
            assert hits[each] < bulk[each] <= hits[each] + 2


def test_what_many_ask_for_weighs_more() -> None:
    space = Space()
    texts = ["a = 1"] * 20 + ["b = 2", "b > 3", "b = 4"]
    rows, _ = space.acquire(map(tamis.parse, texts))
    popular, rare, broad = weights(space, np.array([rows[at][0] for at in (0, 20, 21)], np.int32))  # type: ignore[index]
    assert rare < broad
    assert rare < popular
