"""The prefix: what an event meets of a tree."""

from typing import Any

from hypothesis import given, settings
from hypothesis import strategies as st

from support.prefixes import GOLDEN_EVENT, conditions, expected, golden_tree, happenings, reached, tags_of, tree_of
from tamis.language import Expression, parse
from tamis.routing.prefix import extract

lists = st.lists(conditions, max_size=8)


def test_the_prefix_of_figure_4_4() -> None:
    snapshot = golden_tree().snapshot(3)
    prefix = extract(snapshot, GOLDEN_EVENT)
    assert prefix.paths() == [(0,), (0, 0), (0, 0, 0), (0, 0, 0, 0), (2,)]
    assert (len(prefix), prefix.height, prefix.epoch) == (5, 4, 3)
    shallow = extract(snapshot, GOLDEN_EVENT, depth=1)
    assert shallow.paths() == [(0,), (2,)]
    assert extract(snapshot, {}).paths() == []


@given(lists, st.lists(happenings, min_size=1, max_size=5))
@settings(max_examples=60)
def test_any_depth_reaches_all_and_deeper_ones_reach_fewer(
    wanted: list[Expression], some: list[dict[str, Any]]
) -> None:
    snapshot = tree_of(wanted).snapshot()
    tags = tags_of(snapshot, wanted)
    for event in some:
        before = reached(tags, event, depth=0)
        assert before == set(tags.holders)
        for depth in range(1, snapshot.height + 1):
            found = reached(tags, event, depth)
            assert expected(wanted, event) <= found <= before
            before = found
        assert reached(tags, event) <= before


def test_wide_trees_are_searched_by_name_and_value() -> None:
    wanted = [parse(f"x{name} between {low} and {low + 4}") for name in range(10) for low in range(0, 100, 5)]
    wanted += [parse(f"n{number} is null") for number in range(20)]
    wanted += [parse("m.x > 5"), parse("`m.x` > 5")]
    snapshot = tree_of(wanted).snapshot()
    tags = tags_of(snapshot, wanted)
    for event in ({"x3": 17, "x4": 99, "n5": 1}, {"x3": 4.5, "n1": None}, {}, {"m": {"x": 6}}, {"m.x": 6}):
        assert reached(tags, event) == expected(wanted, event)


def test_one_value_may_meet_several_nodes_of_a_path() -> None:
    snapshot = tree_of([parse("x > 1"), parse("x > 2"), parse("x > 3 and y = 1")]).snapshot()
    assert extract(snapshot, {"x": 4, "y": 1}).paths() == [(0,), (0, 0), (0, 0, 0), (0, 0, 0, 0)]
