from collections import defaultdict

import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from tamis.matching.ranks.lists import Lists

operations = st.lists(
    st.one_of(
        st.tuples(st.just("append"), st.integers(0, 5), st.integers(0, 99)),
        st.tuples(st.just("extend"), st.lists(st.integers(0, 5), max_size=20), st.integers(0, 99)),
        st.tuples(st.just("assign"), st.integers(0, 5), st.lists(st.integers(0, 99), max_size=9)),
        st.tuples(st.just("discard"), st.integers(0, 5), st.integers(0, 99)),
        st.tuples(st.just("clear"), st.integers(0, 5), st.none()),
    ),
    max_size=40,
)


@given(operations)
def test_lists_behave_like_lists(history: list[tuple[str, object, object]]) -> None:
    lists = Lists()
    oracle: dict[int, list[int]] = defaultdict(list)
    for operation, key, value in history:
        match operation, key, value:
            case "append", int(key), int(value):
                lists.append(key, value)
                oracle[key].append(value)
            case "extend", list(keys), int(value):
                lists.extend(np.array(keys, np.int64), np.full(len(keys), value))
                for each in keys:
                    oracle[each].append(value)
            case "assign", int(key), list(values):
                lists.assign(key, values)
                oracle[key] = list(values)
            case "discard", int(key), int(value) if value in oracle[key]:
                lists.discard(key, value)
                oracle[key].remove(value)
            case "clear", int(key), _:
                lists.clear(key)
                oracle[key] = []
        lists.check_invariants()
        for each in range(6):
            assert sorted(lists[each].tolist()) == sorted(oracle[each])


def test_blocks_are_used_again() -> None:
    lists = Lists()
    for round_ in range(50):
        for key in range(10):
            lists.assign(key, list(range(round_ % 7)))
        for key in range(10):
            lists.clear(key)
    assert lists.bytes < 40_000
    assert len(lists[10**6]) == 0
