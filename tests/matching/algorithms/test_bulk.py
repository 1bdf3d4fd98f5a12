from collections.abc import Iterator
from typing import Any

import msgspec
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import tamis
from support.strategies import events, expressions
from tamis.lab.workloads import generate, workloads
from tamis.language import Expression
from tamis.matching.algorithms import atree
from tamis.matching.algorithms.atree import ATree
from tamis.matching.algorithms.nodes import OP, SIZE
from tamis.matching.algorithms.threevalued import PlainATree
from tamis.matching.ranks.forms import LEAF

X1 = "(a = 1 or b = 1 or c = 1) and d = 1 and (e = 1 or f = 1)"
X2 = "(e = 1 or f = 1) and (g = 1 or h = 1)"
X3 = "a = 1 or b = 1 or c = 1 or d = 1"
X4 = "(a = 1 or b = 1 or c = 1) and d = 1"
X6 = "not (g = 1 or h = 1)"


@pytest.fixture(autouse=True, scope="module")
def always_in_bulk() -> Iterator[None]:
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(atree, "MANY", 1)
        patch.setattr(atree, "_SHARE", 1000)
        yield


def one_by_one(tree: ATree, first: int, conditions: list[Expression]) -> None:
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(atree, "MANY", len(conditions) + 1)
        for position, condition in enumerate(conditions, start=first):
            tree.add(position, condition)


def size(tree: ATree) -> tuple[int, int, int]:
    tree.check_invariants()
    stats = tree.stats()
    return stats["nodes"], stats["edges"], stats["levels"]


def holding(*texts: str, demand: bool = True) -> ATree:
    tree = ATree(demand)
    tree.add_many(range(len(texts)), [tamis.parse(text) for text in texts])
    return tree


@pytest.mark.parametrize("demand", [True, False])
def test_the_example_of_the_specification(demand: bool) -> None:
    # specs/002 §7: cost is nodes and edges together. The order in which they come does not matter here.
    assert size(holding(X1, X2, demand=demand)) == (13, 12, 3)
    assert size(holding(X3, X2, X1, demand=demand))[:2] == (14, 14)
    assert size(holding(X4, X3, X2, X1, demand=demand))[:2] == (15, 15)
    tree = holding(X6, X3, X4, X1, X2, X2, demand=demand)
    assert size(tree)[::2] == (18, 4)
    assert sorted(tree.match({"a": 1, "e": 0, "g": 0, "h": 0})) == [0, 1]


def test_a_part_is_found_among_what_was_there_before_and_the_other_way_round() -> None:
    small, large = tamis.parse("a = 1 or b = 1 or c = 1"), tamis.parse(X3)
    for first, second in ((small, large), (large, small)):
        tree = ATree()
        tree.add_many([0], [first])
        tree.add_many([1], [second])
        assert size(tree) == (6, 5, 3)


def test_a_chain_of_parts_gets_its_levels_and_is_woken() -> None:
    # Every one is a part of the next, and the largest come first.
    letters = "abcdefgh"
    texts = [" and ".join(f"{letter} = 1" for letter in letters[:count]) for count in range(len(letters), 1, -1)]
    tree = holding(*texts)
    assert size(tree) == (15, 14, 8)
    assert sorted(tree.match(dict.fromkeys("abcd", 1))) == [4, 5, 6]
    # What only others end is woken although it ends nothing itself.
    tree.remove(6)
    tree.check_invariants()
    assert sorted(tree.match(dict.fromkeys("abcd", 1))) == [4, 5]


#: Connectives over few predicates, so that their operands are often subsets of one another.
@st.composite
def crowded(draw: st.DrawFn) -> str:
    outer, inner = draw(st.sampled_from([(" and ", " or "), (" or ", " and ")]))
    letters = st.lists(st.sampled_from("abcdef"), min_size=1, max_size=5, unique=True)
    groups = draw(st.lists(letters, min_size=1, max_size=3))
    return outer.join("(" + inner.join(f"{letter} = 1" for letter in group) + ")" for group in groups)


@pytest.mark.parametrize("demand", [True, False])
@given(
    batches=st.lists(st.tuples(st.lists(crowded(), max_size=12), st.booleans(), st.sets(st.integers(0, 40)))),
    event=st.sets(st.sampled_from("abcdef")),
)
@settings(max_examples=60)
def test_what_comes_at_once_mixes_with_what_comes_and_goes_alone(
    demand: bool, batches: list[tuple[list[str], bool, set[int]]], event: set[str]
) -> None:
    tree = ATree(demand)
    alive: dict[int, Expression] = {}
    seen, first = dict.fromkeys(event, 1), 0
    for texts, at_once, going in batches:
        conditions = [tamis.parse(text) for text in texts]
        if at_once:
            tree.add_many(range(first, first + len(conditions)), conditions)
        else:
            one_by_one(tree, first, conditions)
        alive.update(enumerate(conditions, start=first))
        first += len(conditions)
        tree.check_invariants()
        for position in going & alive.keys():
            tree.remove(position)
            del alive[position]
            tree.check_invariants()
        assert sorted(tree.match(seen)) == [each for each in alive if alive[each].matches(seen)]
    for position in alive:
        tree.remove(position)
    tree.check_invariants()
    assert tree.nodes.count == tree.space.predicates == 0


@pytest.mark.parametrize("make", [ATree, PlainATree])
@given(given_=st.lists(expressions(), max_size=8), seen=st.lists(events(), min_size=1, max_size=3))
@settings(max_examples=60)
def test_bulk_agrees_with_the_language(make: type[ATree], given_: list[Expression], seen: list[dict[str, Any]]) -> None:
    tree, other = make(), make()
    tree.add_many(range(len(given_)), given_)
    tree.check_invariants()
    one_by_one(other, 0, given_)
    assert tree.nodes.count == other.nodes.count
    for event in (*seen, *seen):
        assert sorted(tree.match(event)) == [n for n, each in enumerate(given_) if each.matches(event)]
    for position in range(len(given_)):
        tree.remove(position)
        tree.check_invariants()
    assert tree.nodes.count == 0


def test_covers_are_as_good_as_those_of_one_by_one() -> None:
    spec = msgspec.structs.replace(
        workloads()["abe-gen"], subscriptions=1_500, events=1, event_size=3, dimensions=6, cardinality=3, depth=2
    )
    conditions = [tamis.parse(text) for text in generate(spec).conditions.texts().to_pylist()]
    at_once, in_parts, alone = ATree(), ATree(), ATree()
    at_once.add_many(range(len(conditions)), conditions)
    for first in range(0, len(conditions), 500):
        in_parts.add_many(range(first, first + 500), conditions[first : first + 500])
    one_by_one(alone, 0, conditions)
    nodes, edges, _ = size(alone)
    rows = alone.nodes.arrays.node[alone.nodes.alive()]
    operands = rows[rows[:, OP] != LEAF, SIZE].sum()
    assert edges < operands - 100
    for tree in (at_once, in_parts):
        assert size(tree)[0] == nodes
        assert size(tree)[1] <= 1.01 * edges
