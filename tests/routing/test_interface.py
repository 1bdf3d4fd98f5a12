from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from support.overlays import CONDITIONS, EVENTS
from tamis.routing.conditions import canonical, parsed
from tamis.routing.interface import Entry, Interface, check_engine

TEXTS = [canonical(text) for text in CONDITIONS]
STEPS = st.lists(
    st.tuples(st.booleans(), st.integers(0, 9), st.sampled_from(TEXTS), st.sampled_from(EVENTS), st.integers(0, 4)),
    min_size=1,
    max_size=30,
)


@pytest.mark.parametrize("engine", ["auto", "counting", "kdtree", "scan"])
@given(steps=STEPS)
def test_it_finds_what_an_event_meets(engine: str, steps: list[tuple[bool, int, str, dict[str, Any], int]]) -> None:
    interface: Interface[int] = Interface(engine)
    held: dict[int, Entry[int]] = {}
    for comes, item, condition, event, limit in steps:
        if item in held:
            assert interface.remove((item,)).tolist() == [held.pop(item).key]
        if comes:
            held[item] = Entry(item, condition, 7 * item)
            interface.add((held[item],))
        interface.check_invariants()
        expected = sorted(item for item, entry in held.items() if parsed(entry.condition).matches(event))
        assert sorted(interface.met(event)) == expected
        assert sorted(interface.find(event).tolist()) == [7 * item for item in expected]
        some = interface.find(event, limit).tolist()
        assert len(set(some)) == min(limit, len(expected))
        assert set(some) <= {7 * item for item in expected}
        assert interface.any(event) == bool(expected)
        assert len(interface) == len(held)
        assert all((number in interface) == (number in held) for number in range(10))
        assert sorted(interface.entries()) == sorted(held.values())


@pytest.mark.parametrize("engine", ["counting", "kdtree"])
def test_a_search_for_one_stops_early(engine: str) -> None:
    interface: Interface[int] = Interface(engine)
    interface.add(Entry(number, f"x between {number} and {number + 2_000}", number) for number in range(1_000))
    assert len(interface.find({"x": 1_500})) == 1_000
    assert interface._engine is not None
    before = interface._engine.stats()["predicate_tests"]
    interface.find({"x": 1_500})
    whole = interface._engine.stats()["predicate_tests"] - before
    assert len(interface.find({"x": 1_500}, 1)) == 1
    assert interface._engine.stats()["predicate_tests"] - before - whole < whole / 10


def test_engines_that_cannot_be_used_are_refused_with_the_reason() -> None:
    check_engine("auto")
    check_engine("atree")
    with pytest.raises(ValueError, match=r"'kindex' cannot be used: .*; there are: auto, atree"):
        check_engine("kindex")
    with pytest.raises(ValueError, match="no engine 'nonsense'"):
        check_engine("nonsense")
