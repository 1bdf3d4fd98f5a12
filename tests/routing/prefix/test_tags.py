"""Tags: `insertR` changes no node and loses no event."""

import random
from typing import Any, get_args

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from support.prefixes import (
    GOLDEN_EVENT,
    conditions,
    expected,
    golden_tags,
    golden_tree,
    happenings,
    one_filter,
    reached,
    tags_of,
    tree_of,
)
from tamis.language import Expression
from tamis.routing.prefix import Split, Tags, filters
from tamis.routing.prefix import tags as module
from tamis.routing.prefix.snapshot import Spot
from tamis.routing.prefix.tags import nearest

splits = st.sampled_from(get_args(Split))


def test_events_of_figure_4_4() -> None:
    tags = golden_tags(golden_tree().snapshot())
    assert reached(tags, GOLDEN_EVENT) == {2, 3}
    assert reached(tags, GOLDEN_EVENT, depth=1) == {1, 2, 3}


def at(tags: Tags[int], *path: int) -> Spot:
    spot = tags.snapshot.root
    for place in path:
        spot = spot.children[place]
    return spot


@pytest.mark.parametrize("split", get_args(Split))
def test_the_filters_of_figure_4_5(split: Split) -> None:
    tags: Tags[int] = Tags(golden_tree().snapshot(), split)
    assert nearest(tags.snapshot, one_filter("x > 5 and y < 7"), split) == [at(tags, 0)]
    assert nearest(tags.snapshot, one_filter("y > 8 and z < 6"), split) == [at(tags, 2)]
    halves = nearest(tags.snapshot, one_filter("x < 7 and y > 4"), split)
    assert set(halves) == ({at(tags)} if split == "stop" else {at(tags, 0, 0), at(tags, 1, 0)})


@given(
    st.lists(conditions, max_size=8),
    st.lists(conditions, max_size=8),
    st.lists(happenings, min_size=1, max_size=4),
    splits,
    st.randoms(),
)
@settings(max_examples=70)
def test_no_event_is_lost_with_whatever_tree(
    planted: list[Expression], wanted: list[Expression], some: list[dict[str, Any]], split: Split, chance: random.Random
) -> None:
    snapshot = tree_of(planted).snapshot()
    before = snapshot.encoded, [(spot.region, spot.number) for spot in snapshot.spots()]
    tags = tags_of(snapshot, wanted, split=split)
    tags.check_invariants()
    assert before == (snapshot.encoded, [(spot.region, spot.number) for spot in snapshot.spots()])
    for event in some:
        assert reached(tags, event) >= expected(wanted, event)
    gone = {interface for interface in range(len(wanted)) if chance.random() < 0.5}
    for interface in gone:
        for part in filters(wanted[interface]):
            tags.remove(interface, part)
    tags.check_invariants()
    for event in some:
        assert expected(wanted, event) - gone <= reached(tags, event) <= set(range(len(wanted))) - gone


def test_the_root_has_tags_too() -> None:
    tags: Tags[int] = Tags(golden_tree().snapshot())
    tags.add(1, one_filter("true"))
    tags.add(2, one_filter("a > 5"))
    assert tags.at(tags.snapshot.root) == {1: 1, 2: 1}
    assert reached(tags, {}) == {1, 2}
    tags.remove(1, one_filter("true"))
    assert reached(tags, GOLDEN_EVENT) == {2}


def test_a_filter_for_too_many_nodes_is_tagged_at_the_root(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(module, "MOST_TAGS", 1)
    tags: Tags[int] = Tags(golden_tree().snapshot())
    assert nearest(tags.snapshot, one_filter("x < 7 and y > 4"), "fork") == [tags.snapshot.root]


def test_tags_are_counted() -> None:
    tags: Tags[int] = Tags(golden_tree().snapshot())
    for text in ("x > 5 and y < 7", "x > 5 and y < 8"):
        tags.add(1, one_filter(text))
    assert tags.at(at(tags, 0)) == {1: 2}
    tags.remove(1, one_filter("x > 5 and y < 7"))
    assert reached(tags, {"x": 6}) == {1}
    tags.remove(1, one_filter("x > 5 and y < 8"))
    assert reached(tags, {"x": 6}) == set()
    tags.check_invariants()
