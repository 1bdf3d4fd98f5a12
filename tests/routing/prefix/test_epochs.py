"""Trees change while events are on their way: never a loss."""

from typing import Any

import pytest
from hypothesis import settings
from hypothesis import strategies as st
from hypothesis.stateful import RuleBasedStateMachine, invariant, precondition, rule, run_state_machine_as_test

from support.prefixes import GOLDEN, conditions, golden_tree, happenings, one_filter, tree_of
from tamis.language import Expression, parse
from tamis.routing.prefix import Epochs, ForwardingTree, filters
from tamis.routing.prefix.epochs import KEPT
from tamis.routing.prefix.snapshot import EMPTY


class History(RuleBasedStateMachine):
    """Two brokers, of which the second hears of trees later than the first, or never."""

    def __init__(self) -> None:
        super().__init__()
        self.first: Epochs[int] = Epochs(kept=3)
        self.second: Epochs[int] = Epochs(split="stop", kept=3)
        self.held: dict[int, list[Expression]] = {}
        self.flying: list[tuple[dict[str, Any], ForwardingTree]] = []
        self.trees = [EMPTY]

    @rule(interface=st.integers(0, 3), condition=conditions)
    def add(self, interface: int, condition: Expression) -> None:
        self.held.setdefault(interface, []).append(condition)
        for part in filters(condition):
            self.first.add(interface, part)
            self.second.add(interface, part)

    @precondition(lambda self: any(self.held.values()))
    @rule(data=st.data())
    def remove(self, data: st.DataObject) -> None:
        interface = data.draw(st.sampled_from([each for each, held in self.held.items() if held]))
        gone = self.held[interface].pop(data.draw(st.integers(0, len(self.held[interface]) - 1)))
        for part in filters(gone):
            self.first.remove(interface, part)
            self.second.remove(interface, part)

    @rule(planted=st.lists(conditions, max_size=4))
    def publish(self, planted: list[Expression]) -> None:
        tree = tree_of(planted).snapshot(len(self.trees))
        self.trees.append(tree)
        assert self.first.switch(tree)
        assert not self.first.switch(tree)

    @rule(data=st.data())
    def hear(self, data: st.DataObject) -> None:
        tree = data.draw(st.sampled_from(self.trees))
        later = tree.epoch > self.second.newest.epoch
        assert self.second.switch(tree) is later

    @rule(event=happenings, depth=st.none() | st.integers(0, 3))
    def start(self, event: dict[str, Any], depth: int | None) -> None:
        self.flying.append((event, self.first.extract(event, depth)))

    @invariant()
    def all_events_find_their_way(self) -> None:
        self.first.check_invariants()
        self.second.check_invariants()
        for event, prefix in self.flying[-4:]:
            wanted = {each for each, held in self.held.items() if any(one.matches(event) for one in held)}
            for broker in (self.first, self.second):
                assert broker.forward(prefix) >= wanted
                assert broker.forward(prefix) <= {each for each, held in self.held.items() if held}


def test_histories() -> None:
    run_state_machine_as_test(History, settings=settings(max_examples=15, stateful_step_count=15, deadline=None))


def test_the_last_trees_are_kept() -> None:
    epochs: Epochs[int] = Epochs()
    for interface, text in enumerate(GOLDEN, 1):
        epochs.add(interface, one_filter(text))
    first = epochs.extract({"x": 100})
    assert first.epoch == 0
    assert epochs.forward(first) == {1, 2, 3}
    trees = [golden_tree().snapshot(epoch) for epoch in range(1, KEPT + 1)]
    for tree in trees[:-1]:
        assert epochs.switch(tree)
    assert epochs.knows(first)
    second = epochs.extract({"x": 100})
    assert epochs.switch(trees[-1])
    assert not epochs.knows(first)
    assert epochs.knows(second)
    assert epochs.forward(second) == set()
    # Its tree is forgotten, so nobody can tell any more who does not want it.
    assert epochs.forward(first) == {1, 2, 3}


def test_a_prefix_is_never_used_with_another_tree_of_the_same_epoch() -> None:
    one: Epochs[int] = Epochs()
    other: Epochs[int] = Epochs()
    one.switch(tree_of([parse("x > 5")]).snapshot(1))
    other.switch(tree_of([parse("x <= 5")]).snapshot(1))
    other.add(1, one_filter("x > 6"))
    other.add(2, one_filter("x <= 5"))
    assert other.forward(one.extract({"x": 7})) == {1, 2}


def test_what_is_not_held_cannot_be_taken_back() -> None:
    with pytest.raises(KeyError):
        Epochs[int]().remove(1, one_filter("x > 5"))
