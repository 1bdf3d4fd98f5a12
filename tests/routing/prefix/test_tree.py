"""The routing tree: what its insertion promises, whatever comes and goes."""

import random
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from support.prefixes import (
    GOLDEN,
    GOLDEN_EVENT,
    conditions,
    crowded,
    expected,
    golden_tags,
    golden_tree,
    happenings,
    one_filter,
    reached,
    substrings,
    tags_of,
    tree_of,
)
from tamis.language import Expression, parse
from tamis.routing.prefix import RoutingTree, decoded, filters
from tamis.routing.prefix import tree as module
from tamis.routing.prefix.region import Region
from tamis.routing.prefix.tree import Node


def shape(node: Node) -> list[tuple[Region, Any]]:
    return [(child.region, shape(child)) for child in node.children()]


def described(text: str) -> Region:
    (only,) = one_filter(text)
    return only


def test_the_tree_of_figure_4_2() -> None:
    assert shape(golden_tree().root) == [
        (
            described("x > 5"),
            [
                (described("x > 5 and x < 9"), [(described("y > 2"), [(described("z > 1"), [])])]),
                (described("y < 3"), []),
            ],
        ),
        (described("x <= 5"), [(described("y > 2"), [(described("z > 1"), [])])]),
        (described("y > 4"), []),
    ]


@pytest.mark.parametrize(
    ("first", "second", "outer", "inner"),
    # Table 4.2: how the second filter is split along the first.
    [
        ("x > 5", "x < 9 and y > 2", "x <= 5 and y > 2", "x > 5 and x < 9 and y > 2"),
        ("x >= 5", "x < 9 and y > 2", "x < 5 and y > 2", "x >= 5 and x < 9 and y > 2"),
        ("x < 6", "x > 1 and z < 7", "x >= 6 and z < 7", "x < 6 and x > 1 and z < 7"),
    ],
)
def test_filters_are_split(first: str, second: str, outer: str, inner: str) -> None:
    out, into = one_filter(outer), one_filter(inner)
    assert shape(tree_of([parse(first), parse(second)]).root) == [
        (described(first), [(into[0], [(into[1], [])])]),
        (out[0], [(out[1], [])]),
    ]


def test_a_half_that_would_be_empty_is_dropped_and_one_that_is_there_is_found() -> None:
    # The fourth filter is what the second and third left over, plus a part of the first.
    tree = tree_of([parse(text) for text in ("x > 5", "x between 1 and 5", "x between 1 and 7")])
    assert shape(tree.root) == [
        (described("x > 5"), [(described("x > 5 and x <= 7"), [])]),
        (described("x between 1 and 5"), []),
    ]


def test_all_covered_children_are_moved() -> None:
    tree = tree_of([parse(text) for text in ("x = 1", "x = 3", "x = 9", "x < 5")])
    assert shape(tree.root) == [
        (described("x = 9"), []),
        (described("x < 5"), [(described("x = 1"), []), (described("x = 3"), [])]),
    ]


def test_substrings_are_not_split_and_may_overlap() -> None:
    tree = tree_of(
        [parse(f"q like '%{text}%'") for text in ("real estate", "estate tax", "anderson real estate", "real")]
    )
    assert shape(tree.root) == [
        (described("q like '%estate tax%'"), []),
        (
            described("q like '%real%'"),
            [(described("q like '%real estate%'"), [(described("q like '%anderson real estate%'"), [])])],
        ),
    ]


@given(st.lists(conditions, max_size=12))
@settings(max_examples=80)
def test_siblings_are_disjoint_and_names_ordered(wanted: list[Expression]) -> None:
    tree = tree_of(wanted)
    tree.check_invariants()
    assert len(tree.snapshot()) == len(tree)
    assert tree.snapshot().height == tree.height


@given(st.lists(crowded | substrings, max_size=10), st.lists(happenings, min_size=1, max_size=5), st.randoms())
@settings(max_examples=80)
def test_exact_while_filters_come_and_go(
    wanted: list[Expression], some: list[dict[str, Any]], chance: random.Random
) -> None:
    tree = RoutingTree()
    held: list[Expression] = []
    for condition in wanted:
        held.append(condition)
        for part in filters(condition):
            tree.insert(part)
        if chance.random() < 0.3:
            gone = held.pop(chance.randrange(len(held)))
            for part in filters(gone):
                tree.remove(part)
        tree.check_invariants()
        tags = tags_of(tree.snapshot(), held)
        for event in some:
            assert reached(tags, event) == expected(held, event)
    for condition in held:
        for part in filters(condition):
            tree.remove(part)
    assert len(tree) == 0
    tree.check_invariants()


def test_a_filter_is_counted() -> None:
    tree = RoutingTree()
    once = one_filter("x > 5")
    assert tree.insert(once)
    assert not tree.insert(once)
    assert not tree.remove(once)
    assert once in tree
    assert tree.remove(once)
    assert once not in tree
    with pytest.raises(KeyError, match="there is no filter"):
        tree.remove(once)


def test_deep_trees_need_no_deep_stack() -> None:
    names = [f"a{number}" for number in range(1500)]
    wanted = [parse(" and ".join(f"{name} > 0" for name in names)), parse("b = 1")]
    tree = tree_of(wanted)
    assert tree.height == len(names)
    tags = tags_of(decoded(tree.snapshot().encoded), wanted)
    assert reached(tags, dict.fromkeys(names, 1)) == {0}
    assert reached(tags, dict.fromkeys(names[1:], 1)) == set()
    assert reached(tags, dict.fromkeys(names[1:], 1) | {"a0": 1}, depth=3) == {0}


def test_a_filter_in_too_many_pieces_is_left_out(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(module, "MOST_PIECES", 1)
    tree = golden_tree()
    assert tree.left_out == 1
    assert one_filter(GOLDEN[1]) in tree
    tree.check_invariants()
    tags = golden_tags(tree.snapshot())
    assert reached(tags, GOLDEN_EVENT) >= {2, 3}
    tree.remove(one_filter(GOLDEN[1]))
    assert tree.left_out == 0
    assert shape(tree.root) == [(described("x > 5"), [(described("y < 3"), [])]), (described("y > 4"), [])]
