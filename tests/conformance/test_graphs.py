"""One suite for every relation graph: random histories against all pairs (specs/000 §10, 4 and 5)."""

import os
from collections.abc import Callable

import numpy as np
import pytest
from hypothesis import settings
from hypothesis import strategies as st
from hypothesis.stateful import RuleBasedStateMachine, invariant, precondition, rule, run_state_machine_as_test

from support.boxes import Sides, boxes, contains, corners
from tamis.covering.boxes import Boxes
from tamis.covering.detectors import Longs
from tamis.covering.graphs import Change, Graph, Relation, graphs
from tamis.covering.graphs.flat import Flat

EXAMPLES = int(os.environ.get("TAMIS_TEST_EXAMPLES", "12"))
Maker = Callable[[Boxes], Graph]
MAKERS: dict[str, Maker] = {
    **graphs(),
    "flat-2": lambda relation: Flat(relation, 2),
    "flat-5": lambda relation: Flat(relation, 5),
    "strict": lambda relation: Flat(relation, 1, strict=True),
    "strict-2": lambda relation: Flat(relation, 2, strict=True),
}
#: These forward what nobody covers, and nothing else.
MINIMAL = {"dense", "poset", "forest", "strict", "strict-2"}


class Forgetful(Boxes):
    """Misses every third case of covering, as a detector does that gives up, or conditions that are hard to decide."""

    def __init__(self) -> None:
        super().__init__(2)
        self._there: set[int] = set()

    def add(self, handle: int, low: Longs, high: Longs) -> None:
        super().add(handle, low, high)
        self._there.add(handle)

    def remove(self, handle: int) -> None:
        self._there.remove(handle)

    def covers(self, a: int, b: int) -> bool:
        return (7 * a + b) % 3 > 0 and super().covers(a, b)

    def coverers(self, handle: int, limit: int) -> list[int]:
        return [each for each in self._there if each != handle and self.covers(each, handle)][:limit]

    covering = Relation.covering
    covered = Relation.covered
    placed = Relation.placed


def histories(name: str, forgetful: bool = False) -> type[RuleBasedStateMachine]:
    class History(RuleBasedStateMachine):
        def __init__(self) -> None:
            super().__init__()
            self.relation = Forgetful() if forgetful else Boxes(2, "kdtree")
            self.graph = MAKERS[name](self.relation)
            self.oracle: dict[int, Sides] = {}
            self.sent: set[int] = set()
            self.free = list(range(60, -1, -1))

        @rule(new=st.lists(boxes(2), min_size=1, max_size=5))
        def add(self, new: list[Sides]) -> None:
            for sides in set(new) - set(self.oracle.values()):
                if self.free:
                    handle = self.free.pop()
                    self.oracle[handle] = sides
                    self.relation.add(handle, *corners(sides))
                    self.tell(self.graph.add(handle))

        @precondition(lambda self: self.oracle)
        @rule(data=st.data())
        def remove(self, data: st.DataObject) -> None:
            there = st.sampled_from(sorted(self.oracle))
            for handle in data.draw(st.lists(there, min_size=1, max_size=3, unique=True)):
                del self.oracle[handle]
                self.free.append(handle)
                self.relation.remove(handle)
                self.tell(self.graph.remove(handle))

        def tell(self, change: Change) -> None:
            """The next broker: it gets what is new before it loses what is old."""
            assert len(set(change.forward)) == len(change.forward)
            assert self.sent.isdisjoint(change.forward)
            self.sent.update(change.forward)
            assert self.sent.issuperset(change.withdraw)
            self.sent.difference_update(change.withdraw)

        @invariant()
        def everybody_is_covered(self) -> None:
            assert self.sent == set(self.graph.forwarded())
            assert self.sent <= self.oracle.keys()
            for each, sides in self.oracle.items():
                above = set(self.graph.above(each))
                assert all(contains(self.oracle[other], sides) for other in above)
                assert bool(above) is (each not in self.sent)
                assert any(contains(self.oracle[other], sides) for other in self.sent)
            if name in MINIMAL and not forgetful:
                assert self.sent == {
                    each
                    for each, sides in self.oracle.items()
                    if not any(contains(box, sides) for other, box in self.oracle.items() if other != each)
                }

        @invariant()
        def sound(self) -> None:
            if not forgetful:
                self.graph.check_invariants()

    return History


@pytest.mark.parametrize("name", MAKERS)
def test_histories(name: str) -> None:
    run_state_machine_as_test(
        histories(name), settings=settings(max_examples=EXAMPLES, stateful_step_count=20, deadline=None)
    )


@pytest.mark.parametrize("name", MAKERS)
def test_nobody_is_lost_if_a_relation_misses_something(name: str) -> None:
    run_state_machine_as_test(
        histories(name, forgetful=True), settings=settings(max_examples=EXAMPLES, stateful_step_count=20, deadline=None)
    )


@pytest.mark.parametrize("name", MAKERS)
def test_many_nested_boxes(name: str) -> None:
    relation = Boxes(1, "kdtree")
    graph = MAKERS[name](relation)
    # Deeper than Python may call itself, for graphs that go down step by step.
    deepest = 1_050 if name in ("poset", "forest") else 150
    for depth in range(deepest):
        relation.add(depth, np.array([depth]), np.array([4_000 - depth]))
        graph.add(depth)
    assert list(graph.forwarded()) == [0]
    for depth in range(deepest - 1):
        relation.remove(depth)
        assert graph.remove(depth) == Change((depth + 1,), (depth,))


def churn(graph: Graph, relation: Boxes, seed: int, operations: int, gone: float) -> tuple[int, int]:
    """Add random boxes and remove random ones; return how often each happened."""
    random = np.random.default_rng(seed)
    ends = np.sort(random.integers(0, 2**60, (operations, 3, 2)), axis=2)
    living: list[int] = []
    removed = 0
    for step in range(operations):
        if living and random.random() < gone:
            handle = living.pop(int(random.integers(len(living))))
            relation.remove(handle)
            graph.remove(handle)
            removed += 1
        else:
            living.append(step)
            relation.add(step, ends[step, :, 0], ends[step, :, 1])
            graph.add(step)
    return operations - removed, removed


def test_g1_asks_for_coverers_at_most_once_for_each_operation_on_average() -> None:
    asked = added = removed = 0
    for seed in range(20):
        relation = Boxes(3, "kdtree")
        coming, going = churn(Flat(relation, 1), relation, seed, 400, 0.4)
        assert relation.detector is not None
        asked, added, removed = asked + relation.detector.calls, added + coming, removed + going
    assert added <= asked <= added + removed
    # Lemma 1 speaks of removals alone: an addition asks exactly once.
    assert asked - added <= removed


def test_all_graphs_agree_after_much_churn() -> None:
    forwarded: dict[str, set[int]] = {}
    for name, make in MAKERS.items():
        relation = Boxes(3, "kdtree")
        graph = make(relation)
        churn(graph, relation, 1, 1_200, 0.3)
        graph.check_invariants()
        forwarded[name] = set(graph.forwarded())
    assert all(forwarded[name] == forwarded["dense"] for name in MINIMAL)
    assert all(forwarded[name] >= forwarded["dense"] for name in MAKERS)


def test_k_is_at_least_1() -> None:
    with pytest.raises(ValueError, match="k is 0"):
        Flat(Boxes(1, "scan"), 0)


def test_boxes_without_a_detector_cannot_be_asked() -> None:
    relation = Boxes(1)
    relation.add(0, np.array([1]), np.array([2]))
    with pytest.raises(TypeError, match="without a detector"):
        Flat(relation).add(0)
