"""Distributed trees against a sorted list, and what their messages cost."""

import bisect

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from support.watching import EXAMPLES
from tamis.notification.affected import Shift
from tamis.simulation.content.forest import SERVER, Forest
from tamis.simulation.content.meter import ATTRIBUTE, HEADER, Meter

HOSTS = 6


def planted(codes: list[int], capacity: int = 4, host: int | None = SERVER) -> tuple[Forest, Meter, int]:
    meter = Meter(HOSTS)
    forest = Forest(meter, HOSTS, capacity)
    root = forest.plant(np.array(codes, np.int64), np.array(codes, np.int64) * 10, host)
    meter.begin()
    return forest, meter, root


STEPS = st.lists(
    st.tuples(st.sampled_from(["insert", "insert", "delete", "delete", "move", "route"]), st.integers(0, 99)),
    max_size=60,
)


@settings(max_examples=3 * EXAMPLES, deadline=None)
@given(st.sets(st.integers(0, 99), max_size=60), STEPS, st.sampled_from([SERVER, None]), st.integers(4, 6))
def test_a_tree_keeps_what_it_is_given(
    first: set[int], steps: list[tuple[str, int]], host: int | None, wide: int
) -> None:
    kept = sorted(first)
    forest, _, root = planted(kept, wide, host)
    out = np.empty((200, 2), np.int64)
    for what, number in steps:
        if what == "insert" and number not in kept:
            forest.insert(root, number, 10 * number, 1)
            bisect.insort(kept, number)
        elif what == "delete" and kept:
            gone = kept.pop(number % len(kept))
            forest.delete(root, gone, 1)
        elif what == "move" and kept:
            # As a value does: some at one end come to the other end.
            old = [kept.pop(0) for _ in range(min(len(kept), number % 7))]
            end = max(kept, default=100) + 1
            new = list(range(end, end + len(old)))
            forest.move(root, np.array(old, np.int64), np.array(new, np.int64), 1, number % 2 == 0)
            # Items stay with what they were given for.
            for before, after in zip(old, new, strict=True):
                assert (after, before * 10) in forest.entries(root) or before not in first
            kept += new
        elif what == "route":
            low, high = sorted((number, number * 7 % 100))
            found = forest.route(root, low, high, 1, out)
            codes = [code for code, item in forest.entries(root) if low <= code <= high]
            items = [item for code, item in forest.entries(root) if low <= code <= high]
            assert codes == [code for code in kept if low <= code <= high]
            assert out[:found, 0].tolist() == items
        assert [code for code, _ in forest.entries(root)] == kept
        forest.check_invariants([root])


@settings(max_examples=2 * EXAMPLES, deadline=None)
@given(st.sets(st.integers(0, 500), min_size=2, max_size=60), st.data())
def test_shifted_codes_are_found_where_they_are_now(first: set[int], data: st.DataObject) -> None:
    kept = sorted(first)
    forest, _, root = planted([code * 100 for code in kept])
    begin = data.draw(st.integers(0, len(kept) - 1))
    end = data.draw(st.integers(begin, len(kept) - 1))
    low = kept[begin] * 100 - 50
    moved = {kept[at] * 100: low + at - begin for at in range(begin, end + 1)}
    forest.relabel(root, tuple(Shift(old, old, new - old) for old, new in moved.items()))
    expected = [(moved.get(code * 100, code * 100), code * 1000) for code in kept]
    assert forest.entries(root) == expected
    forest.check_invariants([root])
    for code, item in expected:
        out = np.empty((1, 2), np.int64)
        assert forest.route(root, code, code, 1, out) == 1
        assert out[0, 0] == item
        forest.delete(root, code, 1)
        forest.insert(root, code, item, 1)


def test_a_message_costs_a_hop_for_every_node_that_it_meets_on_another_host() -> None:
    # Three leaves of three, all on different brokers, under a root on the server.
    forest, meter, root = planted(list(range(9)))
    out = np.empty((9, 2), np.int64)
    assert forest.route(root, 2, 6, 3, out) == 5
    assert out[:5].tolist() == [[20, 1], [30, 2], [40, 2], [50, 2], [60, 3]]
    size = HEADER + 3 * ATTRIBUTE
    assert meter.cost() == (3, 3 * size, 1, 3)
    meter.begin()
    assert forest.route(root, 3, 4, 3, out, answer=8) == 2
    assert meter.cost() == (2, size + HEADER + 16, 1, 1)
    assert meter.trace[SERVER, 1:4].tolist() == [1, 2, 1]
    assert meter.trace[2, SERVER] == 1


def test_what_is_too_full_is_split_and_what_is_too_empty_joins_its_neighbour() -> None:
    forest, meter, root = planted([0, 10, 20])
    forest.insert(root, 5, 50, 1)
    assert meter.cost().hops == 1
    meter.begin()
    forest.insert(root, 6, 60, 1)
    # The message itself, half of the entries to a new node, and word of that to the root.
    assert meter.cost().hops == 3
    assert meter.cost().bytes == (HEADER + ATTRIBUTE) + (HEADER + 3 * 16) + (HEADER + 16)
    assert np.count_nonzero(forest.loads[1:]) == 2
    meter.begin()
    forest.delete(root, 0, 1)
    forest.delete(root, 5, 1)
    assert meter.cost().hops == 2 + 1
    assert np.count_nonzero(forest.loads[1:]) == 1
    forest.check_invariants([root])


def test_a_root_keeps_its_host_whatever_becomes_of_the_tree() -> None:
    forest, _, root = planted([], host=3)
    for code in range(200):
        forest.insert(root, code, code, 1)
    assert forest.height(root) >= 3
    assert forest.host(root) == 3
    for code in range(200):
        forest.delete(root, code, 1)
    assert forest.height(root) == 1
    forest.check_invariants([root])


def test_what_cannot_be_is_refused() -> None:
    forest, _, root = planted([1, 2])
    with pytest.raises(KeyError, match="no entry 7"):
        forest.delete(root, 7, 1)
    with pytest.raises(ValueError, match="only an empty tree"):
        forest.fell(root)
    with pytest.raises(ValueError, match="4 entries"):
        Forest(Meter(2), 2, 3)
