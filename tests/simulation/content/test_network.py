"""Every method reaches exactly those affected, whatever comes and goes, and moves no more than it says."""

from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from support.watching import EXAMPLES
from tamis.notification.oracle import Oracle
from tamis.simulation.content import ContentNetwork, methods

CASES = {
    "different": ("radius-runs", ("unicast", "CN(lr)", "CN(r)")),
    "same": ("label-tree", ("unicast", "CN(lr)", "CN(c)", "CN(lid)")),
    "all": ("two-level", ("unicast", "CN(lr)", "CN(r,lid)")),
}
BROKERS = 5
STEPS = st.lists(
    st.tuples(
        st.sampled_from(["come", "come", "go", "move", "move", "move"]), st.integers(0, 60), st.integers(-25, 25)
    ),
    max_size=40,
)


def radius_of(case: str, number: int) -> int:
    return 12 if case == "same" else 1 + number % 15


def begun(case: str, numbers: list[int], capacity: int = 4) -> tuple[ContentNetwork, Oracle, list[int]]:
    server, names = CASES[case]
    net = ContentNetwork(server, names, BROKERS, capacity)
    oracle = Oracle(relaxed=case == "different")
    radii = [radius_of(case, number) for number in numbers]
    # Centres that a history could have left: for one radius less than that apart, for different ones one for each.
    centres = [100 + number % min(radius, 6) for number, radius in zip(numbers, radii, strict=True)]
    if case == "different":
        centres = [100] * len(radii)
    net.load(np.array(radii, np.int64), np.array(centres, np.int64), 100)
    oracle.load([], 100.0)
    for handle, (radius, centre) in enumerate(zip(radii, centres, strict=True)):
        oracle.add(handle, radius, radius)
        oracle._rows[handle] = oracle._rows[handle]._replace(centre=float(centre))
    return net, oracle, list(range(len(radii)))


@pytest.mark.parametrize("case", CASES)
@settings(max_examples=2 * EXAMPLES, deadline=None)
@given(numbers=st.lists(st.integers(0, 60), max_size=30), steps=STEPS)
def test_exactly_those_affected_are_reached(case: str, numbers: list[int], steps: list[tuple[str, int, int]]) -> None:
    net, oracle, live = begun(case, numbers)
    fresh, value = len(live), 100
    for what, number, by in steps:
        if what == "come":
            oracle.add(fresh, radius_of(case, number), radius_of(case, number))
            net.arrive(fresh, radius_of(case, number))
            live.append(fresh)
            fresh += 1
        elif what == "go" and live:
            handle = live.pop(number % len(live))
            oracle.remove(handle)
            net.leave(handle)
        elif what == "move":
            value += by
            oracle.update(float(value))
            net.update(value)
            expected = sorted(oracle.affected().tolist())
            assert {name: sorted(each.tolist()) for name, each in net.reached.items()} == dict.fromkeys(
                net.methods, expected
            )
        net.check_invariants()


def entries(net: ContentNetwork, name: str) -> Any:
    forest = net.methods[name].forest
    return forest.codes.copy(), forest.items.copy(), forest.facts.copy()


@pytest.mark.parametrize(("case", "name"), [("different", "CN(r)"), ("same", "CN(lid)"), ("all", "CN(r,lid)")])
def test_what_does_not_change_by_events_is_not_registered_anew(case: str, name: str) -> None:
    net, _, _ = begun(case, list(range(40)))
    before = entries(net, name)
    told = 0
    for value in (104, 113, 90, 91, 150, 149, 120):
        net.update(value)
        told += len(net.reached[name])
    assert told > 40
    assert all(np.array_equal(one, two) for one, two in zip(before, entries(net, name), strict=True))


def test_the_stress_of_methods_that_register_anew_is_that_of_the_seed() -> None:
    net, _, _ = begun("same", list(range(50)), capacity=32)
    for value in (106, 114, 113, 102, 90, 160):
        costs = net.update(value)
        affected = len(net.reached["unicast"])
        assert costs["unicast"].stress == costs["unicast"].hops == affected
        assert costs["CN(c)"].stress == affected + 1
        assert costs["CN(lr)"].stress == 2 * affected + 1
        assert costs["CN(lid)"].stress <= 2
        assert costs["CN(lid)"].hops <= 10


def test_the_stress_of_radii_is_the_number_of_ranges() -> None:
    net, _, _ = begun("different", list(range(40)), capacity=32)
    for value in (103, 106, 101, 109, 95):
        costs = net.update(value)
        assert costs["CN(r)"].stress == net.server.range_count
        assert costs["CN(lr)"].stress == 2 * net.server.affected_count + 1


def test_nothing_is_sent_when_nothing_changes() -> None:
    for case, (_, names) in CASES.items():
        net, _, _ = begun(case, list(range(30)))
        assert net.update(100) == dict.fromkeys(names, (0, 0, 0, 0))


def test_methods_begin_from_where_the_server_stands() -> None:
    net, oracle, _ = begun("different", list(range(40)))
    for value in (103, 106, 101, 109, 95):
        oracle.update(float(value))
        net.server.update(float(value))
    net.hand_over()
    net.check_invariants()
    for value in (99, 91, 104):
        oracle.update(float(value))
        net.update(value)
        for reached in net.reached.values():
            assert sorted(reached.tolist()) == sorted(oracle.affected().tolist())


def test_coming_costs_a_message_to_the_server_and_one_to_where_it_is_kept() -> None:
    net, _, _ = begun("same", list(range(30)), capacity=64)
    costs = net.arrive(100, 12)
    assert costs["unicast"].hops == 2
    assert costs["CN(c)"].hops == costs["CN(lid)"].hops == 2
    assert costs["CN(lr)"].hops == 3
    assert {name: cost.hops for name, cost in net.leave(100).items()} == {
        "unicast": 1,
        "CN(c)": 2,
        "CN(lid)": 2,
        "CN(lr)": 3,
    }


def test_a_method_for_other_radii_is_refused() -> None:
    assert set(methods()) == {"unicast", "CN(lr)", "CN(c)", "CN(r)", "CN(lid)", "CN(r,lid)"}
    with pytest.raises(ValueError, match=r"CN\(c\) is not for all radii"):
        ContentNetwork("two-level", ["CN(c)"], 3)
    with pytest.raises(ValueError, match="there is no method 'fax'"):
        ContentNetwork("two-level", ["fax"], 3)
