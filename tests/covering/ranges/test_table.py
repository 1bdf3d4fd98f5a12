from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from hypothesis.stateful import RuleBasedStateMachine, invariant, rule, run_state_machine_as_test

from support.positions import closed, positions
from tamis.covering.ranges import ContentSpace, RangeTable
from tamis.geometry import curve
from tamis.geometry.leaves import Runs
from tamis.geometry.runset import RunSet

SIDE = 8
PLANE = curve("hilbert", 2, 3)


@st.composite
def boxes(draw: st.DrawFn, dimensions: int = 2) -> tuple[list[int], list[int]]:
    sides = [sorted(draw(st.tuples(*[st.integers(0, SIDE - 1)] * 2))) for _ in range(dimensions)]
    return [low for low, _ in sides], [high for _, high in sides]


def cells_of(runs: Runs) -> set[int]:
    return positions(list(zip(*(side.tolist() for side in runs), strict=True)))


def histories(theta: int, max_runs: int | None) -> type[RuleBasedStateMachine]:
    """Compare a table with sets of positions, and with a broker downstream that applies what it is told."""
    space = ContentSpace(PLANE, max_runs=max_runs, node_cap=None if max_runs is None else 6)

    class History(RuleBasedStateMachine):
        def __init__(self) -> None:
            super().__init__()
            self.table = RangeTable(space, theta)
            self.live: dict[int, set[int]] = {}
            self.downstream: set[int] = set()
            self.number = 0

        def expected(self) -> set[int]:
            return closed(set().union(*self.live.values()), theta)

        @rule(box=boxes())
        def add(self, box: Any) -> None:
            before = self.expected()
            mine = cells_of(space.runs(*box))
            covered = self.table.is_covered(*box)
            told = cells_of(self.table.add(self.number, *box))
            self.live[self.number] = mine
            self.number += 1
            assert told == self.expected() - before
            assert covered == (mine <= before)
            assert not covered or not told
            self.downstream |= told

        @rule(some=st.lists(boxes(), max_size=4))
        def add_many(self, some: list[Any]) -> None:
            handles = range(self.number, self.number + len(some))
            lows, highs = (np.array([box[side] for box in some]).reshape(-1, 2) for side in (0, 1))
            offsets, starts, ends = self.table.add_many(handles, lows, highs)
            for number, handle in enumerate(handles):
                before = self.expected()
                self.live[handle] = cells_of(space.runs(*some[number]))
                mine = slice(offsets[number], offsets[number + 1])
                assert cells_of((starts[mine], ends[mine])) == self.expected() - before
            self.number += len(some)
            self.downstream |= cells_of((starts, ends))

        @rule(which=st.integers(0, 50))
        def remove(self, which: int) -> None:
            if not self.live:
                with pytest.raises(KeyError, match="not in the table"):
                    self.table.remove(which)
                return
            handle = list(self.live)[which % len(self.live)]
            before = self.expected()
            copies = [each for each in self.live.values() if each == self.live[handle]]
            del self.live[handle]
            told = cells_of(self.table.remove(handle))
            assert told == before - self.expected()
            assert len(copies) == 1 or not told
            self.downstream -= told

        @rule()
        def replace(self) -> None:
            """What is added and removed at once leaves no trace."""
            before = [side.tolist() for side in self.table.runs()]
            self.table.add("guest", [1, 2], [6, 5])
            self.table.remove("guest")
            assert [side.tolist() for side in self.table.runs()] == before

        @invariant()
        def same(self) -> None:
            self.table.check_invariants()
            assert cells_of(self.table.runs()) == self.expected() == self.downstream
            assert len(self.table) == len(self.live)
            points = np.stack(np.divmod(np.arange(SIDE * SIDE), SIDE), axis=1)
            found = self.table.match_many(points)
            assert set(PLANE.encode(points)[found].tolist()) == self.downstream

    return History


@pytest.mark.parametrize(("theta", "max_runs"), [(1, None), (3, None), (4, 2)])
def test_random_histories(theta: int, max_runs: int | None) -> None:
    run_state_machine_as_test(
        histories(theta, max_runs), settings=settings(max_examples=25, stateful_step_count=20, deadline=None)
    )


def test_the_example_of_the_paper() -> None:
    table = RangeTable(ContentSpace(PLANE))
    starts, ends = table.add("s", [4, 2], [6, 5])
    assert list(zip(starts.tolist(), ends.tolist(), strict=True)) == [(32, 35), (45, 46), (50, 55)]
    points = PLANE.decode(np.array([28, 52, 50]))
    assert table.match_many(points).tolist() == [False, True, True]
    assert [table.match(point) for point in points] == [False, True, True]


def test_subsumed_by_two_and_covered_by_none() -> None:
    table = RangeTable(ContentSpace(PLANE))
    table.add("left", [0, 0], [3, 7])
    table.add("right", [4, 0], [7, 7])
    assert table.is_covered([2, 2], [5, 5])
    assert table.add("middle", [2, 2], [5, 5])[0].size == 0
    assert cells_of(table.remove("left")) == cells_of(PLANE.runs([0, 0], [3, 7])) - cells_of(PLANE.runs([2, 2], [5, 5]))


@given(st.lists(boxes(), max_size=6), st.lists(boxes(), max_size=6))
def test_many_boxes_are_tested_at_once(some: list[Any], asked: list[Any]) -> None:
    table = RangeTable(ContentSpace(PLANE))
    for handle, box in enumerate(some):
        table.add(handle, *box)
    lows, highs = (np.array([box[side] for box in asked], np.int64).reshape(-1, 2) for side in (0, 1))
    assert table.is_covered_many(lows, highs).tolist() == [table.is_covered(*box) for box in asked]


def test_errors_change_nothing() -> None:
    table = RangeTable(ContentSpace(PLANE))
    table.add("s", [0, 0], [1, 1])
    before = [side.tolist() for side in table.runs()]
    with pytest.raises(ValueError, match="'s' is in the table already"):
        table.add("s", [5, 5], [6, 6])
    with pytest.raises(ValueError, match="'t' is in the table already"):
        table.add_many(["t", "u", "t"], [[5, 5]] * 3, [[6, 6]] * 3)
    with pytest.raises(ValueError, match="2 handles for 1 boxes"):
        table.add_many(["t", "u"], [[5, 5]], [[6, 6]])
    with pytest.raises(ValueError, match="1: low 5 is above high 4"):
        table.add("t", [5, 5], [6, 4])
    assert [side.tolist() for side in table.runs()] == before
    assert len(table) == 1
    assert "t" not in table


@settings(max_examples=60, deadline=None)
@given(dealt=st.lists(st.tuples(boxes(), st.integers(0, 3)), min_size=1, max_size=20), theta=st.sampled_from((1, 3)))
def test_tables_of_parts_make_the_table_of_all(dealt: list[tuple[Any, int]], theta: int) -> None:
    """Boxes may be dealt out in any way, as partitions of a job are (specs/001 F13 and §4, 12)."""
    space = ContentSpace(PLANE)
    whole, joined = RangeTable(space, theta), RunSet(theta)
    for number, (box, _) in enumerate(dealt):
        whole.add(number, *box)
    for part in range(4):
        mine = [box for box, dealt_to in dealt if dealt_to == part]
        offsets, starts, ends = space.runs_of_many(*(np.array([box[side] for box in mine]) for side in (0, 1)))
        partial = RunSet()
        partial.insert_many(offsets, starts, ends)
        joined.insert(*partial.runs())
    assert cells_of(whole.runs()) == cells_of(joined.runs())
    assert len(whole.runs()[0]) == len(joined)
