from typing import Any

import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from tamis.routing.interface import Entry
from tamis.routing.interfaces import Interfaces
from tamis.routing.packets import Subscription

STEPS = st.lists(
    st.tuples(st.sampled_from(["open", "close", "add", "remove", "local"]), st.integers(0, 3), st.integers(0, 5)),
    max_size=40,
)


def array(keys: list[int]) -> Any:
    return np.array(keys, np.uint32)


@given(steps=STEPS, asked=st.lists(st.integers(0, 6), max_size=10), source=st.integers(0, 3))
def test_every_key_is_found_behind_each_neighbour_that_has_it(
    steps: list[tuple[str, int, int]], asked: list[int], source: int
) -> None:
    interfaces: Interfaces[int] = Interfaces("auto")
    behind: dict[int, set[int]] = {}
    local: set[int] = set()
    for step, neighbour, key in steps:
        held = behind.get(neighbour)
        subscription = Subscription("b", f"c{key}", "x > 1")
        if step == "open" and held is None:
            interfaces.open(neighbour)
            behind[neighbour] = set()
        elif step == "close" and held is not None:
            assert {entry.item for entry in interfaces.close(neighbour)} == behind.pop(neighbour)
        elif step == "add" and held is not None and key not in held:
            interfaces.add(neighbour, [Entry(key, "x > 1", key)])
            held.add(key)
        elif step == "remove" and held is not None and key in held:
            interfaces.remove(neighbour, [key])
            held.remove(key)
        elif step == "local" and key in local:
            interfaces.remove_local(subscription)
            local.remove(key)
        elif step == "local":
            interfaces.add_local(subscription, key)
            local.add(key)
        interfaces.check_invariants()
        assert len(interfaces) == len(local) + sum(map(len, behind.values()))
    if source in behind:
        mine, others = interfaces.look_up(array(asked), source)
        assert mine.tolist() == [key for key in asked if key in local]
        expected = {
            neighbour: [key for key in asked if key in held]
            for neighbour, held in behind.items()
            if neighbour != source
        }
        assert {name: keys.tolist() for name, keys in others.items()} == {n: k for n, k in expected.items() if k}


def test_of_those_with_the_same_key_only_the_met_are_named() -> None:
    interfaces: Interfaces[int] = Interfaces("auto")
    one, other = Subscription("b", "one", "x > 1"), Subscription("b", "other", "x > 5")
    interfaces.add_local(one, 3)
    interfaces.add_local(other, 3)
    assert interfaces.named(array([3]), {"x": 4}) == [one]
    assert interfaces.named(array([3]), {"x": 6}) == [one, other]
    interfaces.remove_local(one)
    assert interfaces.named(array([3]), {"x": 6}) == [other]


def test_a_key_alone_delivers_nothing() -> None:
    """Somebody may have named it for a subscription elsewhere of which nothing is known here."""
    interfaces: Interfaces[int] = Interfaces("auto")
    one = Subscription("b", "one", "x > 1")
    interfaces.add_local(one, 3)
    assert interfaces.named(array([3]), {"x": 0}) == []
    assert interfaces.named(array([3]), {"x": 2}) == [one]
