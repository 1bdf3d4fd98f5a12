from collections.abc import Callable
from typing import Any

import msgspec
import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import tamis
from support.strategies import events, expressions
from tamis.lab.workloads import generate, workloads
from tamis.language import Expression
from tamis.matching.algorithms import nodes as module
from tamis.matching.algorithms.atree import ATree, _repeat_themselves
from tamis.matching.algorithms.threevalued import PlainATree
from tamis.matching.ranks.encoding import encode

#: Plain, with zero suppression, with propagation on demand as well, and with words of needed attributes as well.
MODES: dict[str, Callable[[], ATree]] = {
    "plain": PlainATree,
    "suppressed": lambda: ATree(demand=False, words=False),
    "on demand": lambda: ATree(demand=True, words=False),
    "words": ATree,
}

X1 = "(a = 1 or b = 1 or c = 1) and d = 1 and (e = 1 or f = 1)"
X2 = "(e = 1 or f = 1) and (g = 1 or h = 1)"
X3 = "a = 1 or b = 1 or c = 1 or d = 1"
X4 = "(a = 1 or b = 1 or c = 1) and d = 1"
X6 = "not (g = 1 or h = 1)"


def size(tree: ATree) -> tuple[int, int, int]:
    tree.check_invariants()
    stats = tree.stats()
    return stats["nodes"], stats["edges"], stats["levels"]


def holding(*texts: str, demand: bool = True) -> ATree:
    tree = ATree(demand)
    for position, text in enumerate(texts):
        tree.add(position, tamis.parse(text))
    return tree


@pytest.mark.parametrize("demand", [True, False])
def test_the_example_of_the_specification(demand: bool) -> None:
    # specs/002 §7: cost is nodes and edges together.
    assert size(holding(X1, X2, demand=demand)) == (13, 12, 3)
    assert size(holding(X1, X2, X3, demand=demand))[:2] == (14, 14)
    assert size(holding(X1, X2, X3, X4, demand=demand))[:2] == (15, 15)
    tree = holding(X1, X2, X3, X4, X2, X6, demand=demand)
    assert size(tree)[::2] == (18, 4)
    assert sorted(tree.match({"a": 1, "e": 0, "g": 0, "h": 0})) == [2, 5]


@pytest.mark.parametrize(
    ("text", "cost"),
    [
        ("a = 1 or b = 1 or c = 1 or d = 1", 9),
        ("((a = 1 or b = 1) or c = 1) or d = 1", 9),
        ("(a = 1 or b = 1 or c = 1) or d = 1", 9),
    ],
)
def test_equal_expressions_cost_the_same_however_they_are_written(text: str, cost: int) -> None:
    nodes, edges, _ = size(holding(text))
    assert nodes + edges == cost


def test_duplicates_add_no_nodes() -> None:
    tree = holding(X1, X2, X3, X4, X6)
    before = size(tree)
    for position, text in enumerate((X1, X2, X3, X4, X6), start=10):
        tree.add(position, tamis.parse(text))
    assert size(tree) == before


@given(st.lists(st.sampled_from([X1, X2, X6, "a = 1", "true", "a in (null)"]), max_size=12), events())
def test_copies_in_bulk_end_at_the_same_nodes(texts: list[str], event: dict[str, Any]) -> None:
    conditions = [tamis.parse(text) for text in texts]
    at_once, one_by_one = ATree(), ATree()
    at_once.add_many(range(len(texts)), conditions)
    for position, condition in enumerate(conditions):
        one_by_one.add(position, condition)
    assert size(at_once) == size(one_by_one)
    assert sorted(at_once.match(event)) == sorted(one_by_one.match(event))
    for position in range(len(texts)):
        at_once.remove(position)
        at_once.check_invariants()
    assert at_once.nodes.count == at_once.space.predicates == 0
    assert not at_once.never
    assert not at_once.always


def test_copies_are_looked_for_where_there_are_enough() -> None:
    small, large = tamis.parse("a = 1"), tamis.parse(X1)
    different = [tamis.parse(f"a = {number} and b = 1") for number in range(10_000)]
    assert not _repeat_themselves([])
    # To take a predicate apart again costs nothing.
    assert not _repeat_themselves([small, small])
    assert _repeat_themselves([large, small, large])
    assert not _repeat_themselves(different)
    assert _repeat_themselves(different + different)
    # A copy here and there is not worth it.
    assert not _repeat_themselves(different[:1000] + different[:10])
    assert _repeat_themselves(different[:1000] + different[:100])


@pytest.mark.parametrize("mode", MODES)
@given(
    history=st.lists(st.tuples(expressions(), st.integers(0, 9)), min_size=1, max_size=12),
    seen=st.lists(events(), min_size=1, max_size=4),
    order=st.randoms(use_true_random=False),
)
@settings(max_examples=80)
def test_all_modes_agree_with_the_language_whatever_comes_and_goes(
    mode: str, history: list[tuple[Expression, int]], seen: list[dict[str, Any]], order: Any
) -> None:
    # About 40 % of the subscriptions are removed again, at once or later, and all are in the end.
    tree = MODES[mode]()
    alive: dict[int, Expression] = {}
    for position, (expression, lot) in enumerate(history):
        tree.add(position, expression)
        alive[position] = expression
        if lot < 4:
            gone = order.choice(sorted(alive))
            tree.remove(gone)
            del alive[gone]
        tree.check_invariants()
        # Twice, and others in between: nothing of one event may be left in the next.
        for event in (*seen, *seen):
            assert sorted(tree.match(event)) == [each for each in alive if alive[each].matches(event)]
    for position in alive:
        tree.remove(position)
        tree.check_invariants()
    assert tree.nodes.count == 0
    assert tree.space.predicates == 0


@pytest.mark.parametrize("copies", [1, 80])
@pytest.mark.parametrize("mode", MODES)
def test_a_disjunction_below_another_is_read_once(mode: str, copies: int) -> None:
    """Where a constant falls away, a connective has one of its own kind as an operand, and with it its operands."""
    texts = [f"x = {n} or y = 2 or ((x = {n} or y = 2) and true)" for n in range(copies)]
    tree = MODES[mode]()
    tree.add_many(range(copies), [tamis.parse(text) for text in texts])
    tree.check_invariants()
    assert tree.match({"x": 0}) == [0]
    assert sorted(tree.match({"y": 2})) == list(range(copies))


@given(st.lists(expressions(), min_size=2, max_size=8), st.lists(events(), min_size=1, max_size=4), st.data())
@settings(max_examples=60)
def test_the_order_of_insertion_never_changes_a_result(
    given_: list[Expression], seen: list[dict[str, Any]], data: st.DataObject
) -> None:
    order = data.draw(st.permutations(range(len(given_))))
    one_by_one, at_once = ATree(), ATree()
    for position in order:
        one_by_one.add(position, given_[position])
    at_once.add_many(range(len(given_)), given_)
    assert one_by_one.nodes.count == at_once.nodes.count
    for event in seen:
        assert sorted(one_by_one.match(event)) == sorted(at_once.match(event))


#: Connectives over few predicates, so that their operands are often subsets of one another.
@st.composite
def crowded(draw: st.DrawFn) -> str:
    outer, inner = draw(st.sampled_from([(" and ", " or "), (" or ", " and ")]))
    letters = st.lists(st.sampled_from("abcdef"), min_size=1, max_size=5, unique=True)
    groups = draw(st.lists(letters, min_size=1, max_size=3))
    return outer.join("(" + inner.join(f"{letter} = 1" for letter in group) + ")" for group in groups)


@pytest.mark.parametrize("demand", [True, False])
@given(history=st.lists(st.tuples(crowded(), st.integers(0, 9)), max_size=25), event=st.sets(st.sampled_from("abcdef")))
@settings(max_examples=150)
def test_operands_are_covered_by_what_is_shared(demand: bool, history: list[tuple[str, int]], event: set[str]) -> None:
    tree = ATree(demand)
    alive: dict[int, Expression] = {}
    seen = dict.fromkeys(event, 1)
    for position, (text, lot) in enumerate(history):
        expression = tamis.parse(text)
        tree.add(position, expression)
        alive[position] = expression
        if lot < 4:
            gone = list(alive)[lot % len(alive)]
            tree.remove(gone)
            del alive[gone]
        tree.check_invariants()
        assert sorted(tree.match(seen)) == [each for each in alive if alive[each].matches(seen)]


def test_all_modes_in_bulk() -> None:
    spec = msgspec.structs.replace(workloads()["abe-gen"], subscriptions=600, events=300, dimensions=30)
    workload = generate(spec)
    conditions = [tamis.parse(text) for text in workload.conditions.texts().to_pylist()]
    rows = list(workload.events.rows())
    expected = [[each for each, condition in enumerate(conditions) if condition.matches(row)] for row in rows[:60]]
    for make in MODES.values():
        tree = make()
        tree.add_many(range(len(conditions)), conditions)
        tree.check_invariants()
        offsets, found = tree.match_encoded(encode(tree.space, rows))
        answers = [sorted(part.tolist()) for part in np.split(found, offsets[1:-1])]
        assert answers[:60] == expected


def test_demand_saves_evaluations() -> None:
    spec = msgspec.structs.replace(workloads()["abe-gen"], subscriptions=2_000, events=100)
    workload = generate(spec)
    conditions = [tamis.parse(text) for text in workload.conditions.texts().to_pylist()]
    rows = list(workload.events.rows())
    evaluated = []
    for make in MODES.values():
        tree = make()
        tree.add_many(range(len(conditions)), conditions)
        tree.match_encoded(encode(tree.space, rows))
        evaluated.append(tree.stats()["candidates"])
    assert evaluated == sorted(evaluated, reverse=True)


def test_how_many_subscriptions_share_an_expression() -> None:
    tree = holding(X1, X2, X3, X4, X2, X6, "true")
    for text, negated, count in (
        ("e = 1 or f = 1", False, 3),
        ("a = 1 or b = 1 or c = 1", False, 2),
        ("g = 1 or h = 1", True, 1),
        ("g = 1 or h = 1", False, 2),
        ("d = 1", False, 3),
        ("d = 2", False, 0),
        ("a = 1 or b = 1", False, 0),
        ("true", False, None),
    ):
        assert tree.shared_by(tamis.parse(text), negated) == count


def test_an_explanation_tells_what_is_shared() -> None:
    index = tamis.Index(engine="atree")
    index.add_many(["one", "two", "three"], [X1, X2, X6])
    explanation = index.explain("two", {"e": 1, "g": 0, "h": 0})
    assert [part.shared for part in explanation.parts] == [2, 1]
    assert [part.truth for part in explanation.parts] == [True, False]
    assert "any of: true   [shared by 2 subscriptions]" in str(explanation)
    (negated,) = index.explain("three", {"g": 0, "h": 0}).parts
    assert negated.shared == 1
    assert index.explain("one", {}).to_dict()["parts"][0]["shared"] == 1


def test_the_clock_of_a_thread_starts_anew(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("tamis.matching.algorithms.atree.LAST_TICK", 3)
    tree = holding(X1, X2, X3)
    for _ in range(8):
        assert tree.match({"b": 1}) == [2]
        assert tree.match({"e": 1, "g": 1}) == [1]


def test_rooms_are_used_again() -> None:
    tree = ATree()
    for _ in range(3):
        for position in range(300):
            tree.add(position, tamis.parse(f"(a = {position} or b = 1) and (c = {position} or d = 2 or e = 3)"))
        for position in range(300):
            tree.remove(position)
    tree.check_invariants()
    state = tree.nodes.arrays.state
    assert state[module.NODES] <= 2_000
    assert state[module.SLOTS] <= 4_000
