from itertools import product
from typing import Any

import numpy as np
import pytest
from hypothesis import settings
from hypothesis import strategies as st
from hypothesis.stateful import RuleBasedStateMachine, invariant, rule, run_state_machine_as_test

from tamis.covering.graphs.graph import Change
from tamis.covering.ranges import ActiveTable
from tamis.geometry.leaves import Longs

NAMES = ("a", "b", "c")
SIDE = 4
#: Every event over the attributes; None is an attribute it does not have.
EVENTS = list(product([None, *range(SIDE)], repeat=len(NAMES)))

sides = st.tuples(st.integers(0, SIDE - 1), st.integers(0, SIDE - 1)).map(sorted)
boxes = st.dictionaries(st.sampled_from(NAMES), sides, max_size=3)


def parts(box: dict[str, Any]) -> tuple[tuple[str, ...], Longs, Longs]:
    names = tuple(sorted(box))
    return names, np.array([box[each][0] for each in names], int), np.array([box[each][1] for each in names], int)


def events_of(box: dict[str, Any]) -> set[tuple[Any, ...]]:
    """Return the events that meet a box."""

    def meets(event: tuple[Any, ...]) -> bool:
        values = dict(zip(NAMES, event, strict=True))
        return all(values[each] is not None and low <= values[each] <= high for each, (low, high) in box.items())

    return {event for event in EVENTS if meets(event)}


class History(RuleBasedStateMachine):
    def __init__(self) -> None:
        super().__init__()
        self.table = ActiveTable()
        #: What each subscription asks for, what its box holds, and what the next broker has.
        self.asked: dict[int, set[Any]] = {}
        self.boxes: dict[int, set[Any]] = {}
        self.sent: set[int] = set()

    def apply(self, change: Change) -> None:
        assert not self.sent & set(change.forward)
        self.sent |= set(change.forward)
        # Between the two steps the next broker has all it needs.
        self.complete()
        assert self.sent >= set(change.withdraw)
        self.sent -= set(change.withdraw)

    def complete(self) -> None:
        wanted = set().union(*self.asked.values())
        assert set().union(*(self.asked[each] for each in self.sent if each in self.asked)) == wanted

    @rule(box=boxes, hull=st.booleans(), number=st.integers(0, 12))
    def add(self, box: dict[str, Any], hull: bool, number: int) -> None:
        if number in self.asked:
            return
        inside = events_of(box)
        exact = {handle for handle in self.sent if self.asked[handle] == self.boxes[handle]}
        subsumed = inside <= set().union(*(self.asked[handle] for handle in exact)) if inside else True
        asked = set(sorted(inside, key=str)[::2]) if hull and len(inside) > 1 else inside
        change = self.table.add(number, *parts(box), exact=asked == inside)
        self.asked[number], self.boxes[number] = asked, inside
        assert (number not in change.forward) == subsumed
        if asked == inside and not subsumed:
            assert set(change.withdraw) == {each for each in self.sent if self.boxes[each] <= inside}
        self.apply(change)

    @rule(which=st.integers(0, 60))
    def remove(self, which: int) -> None:
        if self.asked:
            handle = list(self.asked)[which % len(self.asked)]
            del self.asked[handle], self.boxes[handle]
            change = self.table.remove(handle)
            assert change.withdraw == ((handle,) if handle in self.sent else ())
            self.apply(change)

    @invariant()
    def sound(self) -> None:
        self.table.check_invariants()
        assert set(self.table.forwarded()) == self.sent
        assert len(self.table) == len(self.asked)
        self.complete()
        for handle in self.asked:
            coverer = self.table.coverer_of(handle)
            assert coverer is None or (coverer in self.sent and self.boxes[handle] <= self.asked[coverer])


def test_random_histories() -> None:
    run_state_machine_as_test(History, settings=settings(max_examples=30, stateful_step_count=25, deadline=None))


def test_a_passive_subscription_is_promoted_before_its_cover_goes() -> None:
    table = ActiveTable()
    assert table.add(1, *parts({"a": (0, 9)})) == Change((1,), ())
    assert table.add(2, *parts({"a": (10, 19)})) == Change((2,), ())
    assert table.add(3, *parts({"a": (5, 15), "b": (1, 2)})) == Change()
    assert table.add(4, *parts({"a": (6, 7), "b": (1, 2)})) == Change()
    assert table.remove(1) == Change((3,), (1,))
    assert table.remove(4) == Change()
    assert table.add(5, *parts({})) == Change((5,), (2, 3))
    assert set(table.forwarded()) == {5}


def test_a_hull_with_an_inner_box() -> None:
    table = ActiveTable()
    names, low, high = parts({"a": (0, 9)})
    assert table.add(1, names, low, high, exact=False, inner=(low, high - 1)) == Change((1,), ())
    assert table.add(2, *parts({"a": (9, 20)})) == Change((2,), ())
    assert table.add(3, *parts({"a": (4, 12)})) == Change()
    assert table.add(4, *parts({"a": (0, 9)})) == Change()
    assert table.add(5, names, low, high, exact=False) == Change()
    assert table.add(6, *parts({"a": (0, 30)}), exact=False) == Change((6,), ())
    # The wider one comes first and covers the fifth.
    assert table.remove(2) == Change((4, 3), (2,))
    assert table.coverer_of(5) == 4
    change = table.add(2, *parts({"a": (0, 13)}))
    assert (change.forward, set(change.withdraw)) == ((2,), {1, 3, 4})
    assert table.coverer_of(3) == 2
    assert table.coverer_of(5) is None


def test_too_much_work_is_a_no() -> None:
    table = ActiveTable(work_cap=1)
    for handle in range(5):
        table.add(handle, *parts({"a": (2 * handle, 2 * handle + 1)}))
    assert table.add(7, *parts({"a": (0, 9)})) == Change((7,), (0, 1, 2, 3, 4))
    assert table.add(8, *parts({"a": (2, 3)})) == Change()


def test_errors() -> None:
    table = ActiveTable()
    table.add(1, *parts({"a": (0, 9)}))
    with pytest.raises(ValueError, match="handle 1 is in the table already"):
        table.add(1, *parts({"a": (0, 9)}))
    with pytest.raises(KeyError, match="handle 2 is not in the table"):
        table.remove(2)
    assert 1 in table
    assert 2 not in table
