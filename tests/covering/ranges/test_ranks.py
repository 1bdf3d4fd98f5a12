from itertools import pairwise
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from support.strategies import events, expressions
from tamis.covering.containment import shape
from tamis.covering.ranges import ranks
from tamis.covering.ranges.ranks import Cut, Ranks, stretches
from tamis.language.values import Kind, typed


def place(value: Any) -> Cut:
    """Return a cut just before a value."""
    kind, read = typed(value)
    return (int(kind),) if kind in (Kind.NULL, Kind.OTHER) else (int(kind), read, 0)


@given(expressions(), st.lists(events(), max_size=5))
def test_stretches_hold_the_values_of_a_set_and_no_others(condition: Any, published: list[dict[str, Any]]) -> None:
    for attribute, values in (shape(condition).atoms or {}).items():
        found = stretches(values)
        assert all(low < high for low, high in found)
        assert all(left[1] < right[0] for left, right in pairwise(found))
        for event in published:
            kind, value = typed(event.get(attribute))
            inside = any(low <= place(event.get(attribute)) < high for low, high in found)
            assert inside == values.contains(kind, value)


def test_kinds_that_touch_are_one_stretch() -> None:
    def of(text: str) -> list[tuple[Cut, Cut]]:
        return stretches((shape(text).atoms or {})["x"])

    assert of("x is not null") == [((1,), (7,))]
    assert of("x is null or x < 3") == [((0,), (1, 3, 0))]
    assert of("x >= 'a' or x = true") == [((2, "a", 0), (3,)), ((3, True, 0), (3, True, 1))]


@given(
    st.lists(st.tuples(st.sampled_from([None, True, False]), st.integers(0, 40)), max_size=80),
    st.sampled_from([25, 1 << 62]),
)
def test_ranks_are_in_the_order_of_cuts(steps: list[tuple[bool | None, int]], room: int) -> None:
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(ranks, "ROOM", room)
        line = Ranks()
        held: list[Cut] = []
        for ends, value in steps:
            before = {cut: line[cut] for cut in held}
            if ends is not None:
                held.append((1, value, 0))
                if not line.hold(held[-1], ends):
                    old, new = line.spread()
                    moved = dict(zip(old.tolist(), new.tolist(), strict=True))
                    before = {cut: moved[rank] for cut, rank in before.items()}
                    assert line.hold(held[-1], ends)
            elif held:
                cut = held.pop(value % len(held))
                del before[cut]
                line.release(cut)
            line.check_invariants()
            assert len(line) == len(set(held))
            assert all(line[cut] == rank for cut, rank in before.items())


@pytest.mark.parametrize("ends", [True, False])
@pytest.mark.parametrize("step", [1, -1])
def test_there_is_room_for_many_in_order(step: int, ends: bool) -> None:
    line = Ranks()
    for value in range(2_000):
        assert line.hold((1, step * value, 0), ends)
    assert len(line) == 2_000
