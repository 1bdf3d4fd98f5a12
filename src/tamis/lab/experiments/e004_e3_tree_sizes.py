"""How large are routing trees and the prefixes that events carry? Figures 9.1 to 9.4 (specs/004 §9, E3; §11)."""

from collections.abc import Mapping
from statistics import fmean
from typing import Final, TypeAlias

import msgspec

from tamis.lab.experiment import Context, Experiment, Figure, Outcome, Row, Scale, Series, Table
from tamis.lab.prefix import load, no_collection
from tamis.lab.workloads.xsiena import Law, XSiena
from tamis.routing.prefix import RoutingTree, extract

#: [ours] How many filters there are when the trees are looked at; the numbers of the figures are lost.
SIZES: Final = {Scale.QUICK: (200, 400), Scale.FULL: (1_000, 2_000, 5_000, 10_000)}
EVENTS: Final = {Scale.QUICK: 100, Scale.FULL: 500}
#: How many names: the thesis does not say, except that its list has the last number of words.
NAMES: Final = (20, 100, 2_000, 112_505)
LAWS: Final[tuple[Law, ...]] = ("uniform", "normal", "pareto")
#: "The number of nodes of the largest forwarding tree barely exceeds 150."
LARGEST: Final = 150


class Trees(msgspec.Struct, frozen=True):
    """The routing tree of some filters, and the forwarding trees of the events in it."""

    filters: int
    nodes: int
    height: int
    #: Filters that would have been split into too many pieces.
    left_out: int
    largest: int
    mean: float
    highest: int


#: Number of names -> law -> the trees as filters become more.
Grown: TypeAlias = Mapping[int, Mapping[Law, list[Trees]]]


def run(context: Context) -> Outcome:
    """Let a routing tree grow for each number of names and each law, and find the prefixes of events now and then."""
    sizes, events = SIZES[context.scale], EVENTS[context.scale]
    grown: dict[int, dict[Law, list[Trees]]] = {names: {} for names in NAMES}
    points = [(names, law, sizes, events, context.seed) for names in NAMES for law in LAWS]
    for (names, law, *_), trees in zip(points, context.each(_grown, points), strict=True):
        grown[names][law] = trees
    return Outcome(
        rows=_rows(grown),
        figure=Figure("filters", "nodes", _series(grown), log=True),
        notes=_notes(events, grown),
        tables=[_table(names, by_law) for names, by_law in grown.items()],
    )


def _grown(names: int, law: Law, sizes: tuple[int, ...], events: int, seed: int) -> list[Trees]:
    with no_collection():
        return _grow(names, law, sizes, events, seed)


def _grow(names: int, law: Law, sizes: tuple[int, ...], events: int, seed: int) -> list[Trees]:
    spec = XSiena(subscriptions=max(sizes), events=events, names=names, name_law=law, value_law=law)
    given = load(spec, seed)
    tree = RoutingTree()
    found: list[Trees] = []
    held = 0
    for size in sizes:
        for wanted in given.filters[held:size]:
            tree.insert(wanted)
        held = size
        snapshot = tree.snapshot()
        prefixes = [extract(snapshot, event) for event in given.events]
        found.append(
            Trees(
                filters=size,
                nodes=len(tree),
                height=tree.height,
                left_out=tree.left_out,
                largest=max(map(len, prefixes)),
                mean=fmean(map(len, prefixes)),
                highest=max(each.height for each in prefixes),
            )
        )
    return found


def _rows(grown: Grown) -> list[Row]:
    last = {names: {law: each[-1] for law, each in by_law.items()} for names, by_law in grown.items()}
    rows = [
        Row(
            f"{names:,} names, {each.filters:,} filters, {law}: largest forwarding tree",
            each.largest,
            LARGEST,
            "nodes",
            good="smaller",
        )
        for names, by_law in last.items()
        for law, each in by_law.items()
    ]
    count = len(last)
    claims = {
        "Pareto has the fewest nodes": sum(
            trees["pareto"].nodes == min(each.nodes for each in trees.values()) for trees in last.values()
        ),
        "Pareto is higher than uniform": sum(
            trees["pareto"].height > trees["uniform"].height for trees in last.values()
        ),
        "normal is higher than uniform": sum(
            trees["normal"].height > trees["uniform"].height for trees in last.values()
        ),
    }
    rows += [
        Row(f"of {count} numbers of names, {claim} at", held, count, good="exact") for claim, held in claims.items()
    ]
    names, law, most = max(
        ((names, law, each) for names, by_law in last.items() for law, each in by_law.items()),
        key=lambda each: each[2].nodes,
    )
    rows.append(
        Row(
            f"largest routing tree ({names:,} names, {law}, {most.filters:,} filters)",
            most.nodes,
            1e6,
            "nodes",
            "order",
        )
    )
    return rows + [
        Row(
            f"{names:,} names, Pareto, {trees[-1].filters:,} filters / {trees[0].filters:,}: mean forwarding tree",
            trees[-1].mean / trees[0].mean if trees[0].mean else 0.0,
        )
        for names, trees in ((names, by_law["pareto"]) for names, by_law in grown.items())
    ]


def _series(grown: Grown) -> list[Series]:
    series: list[Series] = []
    for names, by_law in grown.items():
        for law, trees in by_law.items():
            x = [float(each.filters) for each in trees]
            series.append(Series(f"{law}, routing tree", x, [float(each.nodes) for each in trees], f"{names:,} names"))
            # A logarithmic axis has no 0: an event that meets nothing has a prefix of no node.
            largest = [max(float(each.largest), 1.0) for each in trees]
            series.append(Series(f"{law}, largest forwarding tree", x, largest, f"{names:,} names"))
    return series


def _notes(events: int, grown: Grown) -> list[str]:
    spec = XSiena()
    left_out = sum(trees[-1].left_out for by_law in grown.values() for trees in by_law.values())
    factor = {names: trees["pareto"][-1].nodes / trees["uniform"][-1].nodes for names, trees in grown.items()}
    return [
        f"Filters of 2 to 8 predicates and {events:,} events of 2 to 12 pairs, values from -50 to 50; names and values "
        f"follow the same law. Pareto's is cut off at x_max = {spec.x_max:g}, which the thesis does not give. The root "
        "is not counted as a node.",
        "The thesis does not say how many names there were, nor how many filters. Both decide everything: with few "
        "names filters split each other and events meet much; with as many names as its list has words, a filter "
        "hardly meets another, and an event next to nothing. So no row stands without its number of names.",
        "That Pareto's law makes the smallest trees, because more predicates are equal, is not what comes out: equal "
        "predicates save nodes, but overlapping ones split filters, and each piece brings the rest of its filter "
        "along. Nodes with Pareto's law / nodes with the uniform one: "
        + ", ".join(f"{each:.2f} at {names:,} names" for names, each in factor.items())
        + ".",
        "The size of a prefix is not settled by the pairs of the event alone: see how it grows with the filters.",
        f"Filters that would have been split into more than a thousand pieces, and are not in a tree: {left_out}.",
    ]


def _table(names: int, by_law: Mapping[Law, list[Trees]]) -> Table:
    return Table(
        f"{names:,} names",
        [
            "law, filters",
            "routing tree: nodes",
            "height",
            "nodes for each filter",
            "forwarding tree: most nodes",
            "mean",
            "greatest height",
        ],
        [
            [
                f"{law}, {each.filters:,}",
                each.nodes,
                each.height,
                each.nodes / each.filters,
                each.largest,
                each.mean,
                each.highest,
            ]
            for law, trees in by_law.items()
            for each in trees
        ],
    )


EXPERIMENT: Final = Experiment(
    id="004-E3",
    title="Sizes of routing trees and forwarding trees",
    source="specs/004 §9 E3 and §11, Figures 9.1 to 9.4 (thesis L4871-4925)",
    setup="Filters go into one routing tree, each of another subscriber; events are matched with it, and what they "
    "meet is the forwarding tree that they carry.",
    run=run,
    grid="counted",
)
