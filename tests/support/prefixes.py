"""Conditions that split each other much, and what a routing tree should say about them."""

from typing import Any

from hypothesis import strategies as st

from support.histories import crowded_conjunctions, crowded_events
from support.strategies import conjunctions, events, expressions
from tamis.language import Expression, parse
from tamis.routing.prefix import Filter, RoutingTree, Snapshot, Tags, extract, filters

#: Of substrings alone: they cover each other, but there is nothing outside of them.
_TEXTS = ("a", "b", "ab", "ba", "aba", "bab", "abab")
substrings = st.sampled_from([parse(f"s like '%{text}%'") for text in _TEXTS] + [parse("s > 'b'"), parse("s = 'ab'")])
#: Conjunctions of intervals, sets and nulls, without filters.
crowded = crowded_conjunctions()
conditions = crowded | conjunctions() | expressions() | substrings
happenings = crowded_events() | events() | st.sampled_from([{"s": text} for text in (*_TEXTS, "", "c")])


def tree_of(wanted: list[Expression]) -> RoutingTree:
    tree = RoutingTree()
    for each in wanted:
        for part in filters(each):
            tree.insert(part)
    return tree


def tags_of(snapshot: Snapshot, wanted: list[Expression], **options: Any) -> Tags[int]:
    """Tag the snapshot: the interface of a condition is its place in the list."""
    tags: Tags[int] = Tags(snapshot, **options)
    for interface, each in enumerate(wanted):
        for part in filters(each):
            tags.add(interface, part)
    return tags


def reached(tags: Tags[int], event: dict[str, Any], depth: int | None = None) -> set[int]:
    return tags.forward(extract(tags.snapshot, event, depth))


def expected(wanted: list[Expression], event: dict[str, Any]) -> set[int]:
    """The oracle: ask every condition."""
    return {interface for interface, each in enumerate(wanted) if each.matches(event)}


def one_filter(text: str) -> Filter:
    (only,) = filters(parse(text))
    return only


#: specs/004 §4, Figures 4.2 and 4.4: the filters of the interfaces 1, 2 and 3, and an event.
GOLDEN = ("x > 5 and y < 3", "x < 9 and y > 2 and z > 1", "y > 4")
GOLDEN_EVENT = {"x": 6, "y": 5, "z": 2}


def golden_tree() -> RoutingTree:
    return tree_of([parse(text) for text in GOLDEN])


def golden_tags(snapshot: Snapshot, **options: Any) -> Tags[int]:
    tags: Tags[int] = Tags(snapshot, **options)
    for interface, text in enumerate(GOLDEN, 1):
        tags.add(interface, one_filter(text))
    return tags
