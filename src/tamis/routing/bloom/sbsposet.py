"""The sbsposet (specs/004 §5, thesis §5.3.1): from the content of an event to its bits, once for each event.

For every attribute there is the Hasse diagram of the predicates on it, below a root that stands for any value. An event
that meets a predicate meets all above it, so whoever goes down from the root through predicates that are met passes
every one of them. Theorem: the bits of an event are those of all predicates here that it meets.
"""

from collections.abc import Iterator, Mapping
from typing import Any

from tamis.language import Kind
from tamis.language.names import parts_of
from tamis.language.values import ORDERED_KINDS, read
from tamis.routing.bloom.filters import Predicate
from tamis.routing.bloom.forwarding import Places


class Node:
    """A predicate in the diagram of its attribute, or the root, which has none."""

    __slots__ = ("count", "parents", "places", "points", "predicate", "ranges")

    def __init__(self, predicate: Predicate | None, places: Places) -> None:
        self.predicate = predicate
        self.places = places
        #: How many filters have the predicate.
        self.count = 0
        self.parents: dict[Node, None] = {}
        #: Children that hold for a single value, by that value; nothing is below them. [ours] Such as `symbol = 'A'`
        #: are many, and a lookup finds the one that matters.
        self.points: dict[tuple[Kind, Any], Node] = {}
        self.ranges: dict[Node, None] = {}

    def children(self) -> "Iterator[Node]":
        """Go through those immediately below."""
        yield from self.points.values()
        yield from self.ranges


class Diagram:
    """The predicates on one attribute, each below the narrowest that cover it."""

    def __init__(self) -> None:
        self.root = Node(None, ())
        self.nodes: dict[str, Node] = {}
        #: How many predicates are true of an event without the attribute.
        self.nulls = 0

    def add(self, predicate: Predicate, places: Places) -> None:
        """Add a predicate, or count it once more."""
        node = self.nodes.get(predicate.text)
        if node is None:
            node = self.nodes[predicate.text] = self._placed(predicate, places)
            self.nulls += predicate.values.null
        node.count += 1

    def _placed(self, predicate: Predicate, places: Places) -> Node:
        node = Node(predicate, places)
        above = self._lowest_above(predicate)
        below = [] if predicate.point else _highest_below(predicate, above)
        for low in below:
            for high in above:
                if high in low.parents:
                    _unlink(high, low)
            _link(node, low)
        for high in above:
            _link(high, node)
        return node

    def _lowest_above(self, predicate: Predicate) -> list[Node]:
        """Return those that cover a predicate and have no child that does."""
        lowest: list[Node] = []
        waiting = [self.root]
        seen = set(waiting)
        while waiting:
            high = waiting.pop()
            further = [each for each in high.ranges if _covers(each, predicate)]
            if not further:
                lowest.append(high)
            waiting += [each for each in further if each not in seen]
            seen.update(further)
        return lowest

    def remove(self, predicate: Predicate) -> None:
        """Take back one adding of a predicate; those below it come below those above it, where nothing is between."""
        node = self.nodes[predicate.text]
        node.count -= 1
        if node.count:
            return
        del self.nodes[predicate.text]
        self.nulls -= predicate.values.null
        above, below = list(node.parents), list(node.children())
        for high in above:
            _unlink(high, node)
        for low in below:
            _unlink(node, low)
        for low in below:
            assert low.predicate is not None
            for high in above:
                if not any(_covers(each, low.predicate) for each in high.ranges if each is not low):
                    _link(high, low)

    def gather(self, event: Mapping[str, Any], kind: Kind, value: Any, found: set[int]) -> None:
        """Add the bits of all predicates that an event meets, whose attribute has been read already."""
        single = (kind, value) if kind in ORDERED_KINDS else None
        waiting = [self.root]
        seen = set(waiting)
        while waiting:
            node = waiting.pop()
            found.update(node.places)
            if single is not None:
                point = node.points.get(single)
                if point is not None:
                    found.update(point.places)
            for child in node.ranges:
                if child not in seen:
                    seen.add(child)
                    assert child.predicate is not None
                    if child.predicate.met_by(kind, value, event):
                        waiting.append(child)

    def edges(self) -> set[tuple[str | None, str]]:
        """Return who is immediately above whom, by their texts; the root has none."""
        return {
            (high.predicate and high.predicate.text, text) for text, node in self.nodes.items() for high in node.parents
        }

    def check_invariants(self) -> None:
        """Raise `AssertionError` unless this is the Hasse diagram of the predicates."""
        every = [self.root, *self.nodes.values()]
        assert {(high, low) for high in every for low in high.children()} == {
            (high, low) for low in every for high in low.parents
        }
        predicates = [node.predicate for node in self.nodes.values() if node.predicate is not None]
        edges = self.edges()
        over = {low.text: {high.text for high in predicates if high.covers(low)} for low in predicates}
        for low, highs in over.items():
            near = highs - {far for high in highs for far in over[high]}
            assert {above for above, below in edges if below == low} == (near if near else {None})
        assert all(node.count > 0 for node in self.nodes.values())
        assert self.nulls == sum(each.values.null for each in predicates)
        for node in every:
            for point, child in node.points.items():
                assert child.predicate is not None
                assert child.predicate.point == point
                assert not [*child.children()]
            assert all(each.predicate and each.predicate.point is None for each in node.ranges)


def _covers(node: Node, predicate: Predicate) -> bool:
    return node.predicate is not None and node.predicate.covers(predicate)


def _highest_below(predicate: Predicate, above: list[Node]) -> list[Node]:
    """Return those that a predicate covers and have no parent that it covers, given those immediately above it."""
    verdicts: dict[Node, bool] = {}

    def is_below(node: Node) -> bool:
        if node not in verdicts:
            verdicts[node] = node.predicate is not None and predicate.covers(node.predicate)
        return verdicts[node]

    # All that it covers is below every one that covers it.
    waiting = list(min(above, key=lambda node: len(node.points) + len(node.ranges)).children())
    seen = set(waiting)
    covered: list[Node] = []
    while waiting:
        node = waiting.pop()
        if is_below(node):
            covered.append(node)
            continue
        further = [each for each in node.children() if each not in seen]
        waiting += further
        seen.update(further)
    # One that was reached past a parent may still be below it.
    return [node for node in covered if not any(is_below(parent) for parent in node.parents)]


def _link(high: Node, low: Node) -> None:
    low.parents[high] = None
    assert low.predicate is not None
    if low.predicate.point is None:
        high.ranges[low] = None
    else:
        high.points[low.predicate.point] = low


def _unlink(high: Node, low: Node) -> None:
    del low.parents[high]
    assert low.predicate is not None
    if low.predicate.point is None:
        del high.ranges[low]
    else:
        del high.points[low.predicate.point]


class SbsPoset:
    """The predicates of all filters, each with its bits.

    The diagram does not depend on the order in which predicates came. [ours] A node has its own bits only, not those of
    all above it as in Listing 5.1: the way down passes these anyway, and adding or removing a predicate need not
    correct all below it.
    """

    def __init__(self) -> None:
        self._diagrams: dict[str, Diagram] = {}
        #: The attributes that an event may have, by the first part of their names.
        self._by_key: dict[str, dict[str, Diagram]] = {}
        #: The attributes of which something is true where they are missing.
        self._missing: dict[str, Diagram] = {}

    def add(self, predicate: Predicate, places: Places) -> None:
        """Add a predicate with its bits, or count it once more."""
        name = predicate.attribute
        diagram = self._diagrams.get(name)
        if diagram is None:
            diagram = self._diagrams[name] = Diagram()
            self._by_key.setdefault(parts_of(name)[0], {})[name] = diagram
        diagram.add(predicate, places)
        if predicate.values.null:
            self._missing[name] = diagram

    def remove(self, predicate: Predicate) -> None:
        """Take back one adding of a predicate."""
        name = predicate.attribute
        diagram = self._diagrams[name]
        diagram.remove(predicate)
        if not diagram.nulls:
            self._missing.pop(name, None)
        if not diagram.nodes:
            del self._diagrams[name]
            key = parts_of(name)[0]
            del self._by_key[key][name]
            if not self._by_key[key]:
                del self._by_key[key]

    def match(self, event: Mapping[str, Any]) -> Places:
        """Return the bits of all predicates that an event meets, in ascending order."""
        concerned = dict(self._missing)
        for key in event:
            concerned.update(self._by_key.get(key, ()))
        found: set[int] = set()
        for name, diagram in concerned.items():
            diagram.gather(event, *read(event, name), found)
        return tuple(sorted(found))

    def __len__(self) -> int:
        """Return how many different predicates there are."""
        return sum(len(diagram.nodes) for diagram in self._diagrams.values())

    def layout(self) -> dict[str, set[tuple[str | None, str]]]:
        """Return for each attribute who is immediately above whom."""
        return {name: diagram.edges() for name, diagram in self._diagrams.items()}

    def check_invariants(self) -> None:
        """Raise `AssertionError` if something does not fit together."""
        assert {name: diagram for named in self._by_key.values() for name, diagram in named.items()} == self._diagrams
        assert all(self._by_key.values())
        assert self._missing == {name: diagram for name, diagram in self._diagrams.items() if diagram.nulls}
        for diagram in self._diagrams.values():
            assert diagram.nodes
            diagram.check_invariants()
