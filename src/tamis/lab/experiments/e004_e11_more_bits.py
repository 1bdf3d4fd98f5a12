"""What do more bits of an event cost? Figure 9.18 of the thesis (specs/004 §9, E11)."""

import itertools
from collections.abc import Mapping
from math import log
from typing import Final

import msgspec

from tamis.lab.bloom import bits_of, fill_poset, load
from tamis.lab.experiment import Context, Experiment, Figure, Outcome, Row, Scale, Series, Table
from tamis.lab.forwarding import COMPILED, COUNTING, NAMES, SBSTREE, Heat, cells, columns, heat
from tamis.lab.workloads.xsiena import XSIENA_E7
from tamis.routing.bloom import SbsPoset
from tamis.sketches import Hashes

#: [ours] How many filters, and of how many pairs the events are: more pairs meet more predicates.
FILTERS: Final = {Scale.QUICK: 500, Scale.FULL: 10_000}
PAIRS: Final = {Scale.QUICK: (2, 8, 32), Scale.FULL: (1, 4, 16, 64, 256, 1_024)}
EVENTS: Final = {Scale.QUICK: 50, Scale.FULL: 200}
HASHES: Final = Hashes()


def run(context: Context) -> Outcome:
    """Forward events of more and more pairs by the same filters."""
    count, pairs = FILTERS[context.scale], PAIRS[context.scale]
    heats: dict[int, Heat] = {}
    for done, size in enumerate(pairs):
        context.progress(done, len(pairs))
        fields = {"subscriptions": count, "events": EVENTS[context.scale], "fewest_pairs": size, "most_pairs": size}
        # Filters are drawn first, so they are the same for all numbers of pairs.
        given = load(msgspec.structs.replace(XSIENA_E7, **fields), context.seed)
        marked, poset = given.marked(HASHES), SbsPoset()
        fill_poset(poset, marked)
        events = [poset.match(event) for event in given.events]
        heats[size] = heat([bits_of(each) for each in marked], events, HASHES.bits)
    context.progress(len(pairs), len(pairs))
    return Outcome(
        rows=_rows(heats),
        figure=Figure("bits of an event", "time per event, µs; steps per event", _series(heats), log=True),
        notes=_notes(count, heats),
        tables=[
            Table(
                f"{count:,} filters, per event",
                ["pairs", *columns()],
                [[str(size), *cells(each)] for size, each in heats.items()],
            ),
            _growth(heats),
        ],
    )


def _power(before: Heat, after: Heat, what: str) -> float:
    """Return by which power of the bits a figure grows from one point to the next."""
    return log(_figure(after, what) / _figure(before, what)) / log(after.bits / before.bits)


def _powers(heats: Mapping[int, Heat], what: str) -> list[float]:
    return [_power(before, after, what) for before, after in itertools.pairwise(heats.values())]


def _figure(each: Heat, what: str) -> float:
    return each.microseconds[what] if what in NAMES else float(getattr(each, what))


def _rows(heats: Mapping[int, Heat]) -> list[Row]:
    last = heats[max(heats)]
    return [
        Row("counting: largest power of the bits by which postings grow", max(_powers(heats, "postings")), 1.0),
        Row("counting, in Python: largest power by which its time grows", max(_powers(heats, COUNTING)), 1.0),
        Row("sbstree: largest power by which nodes visited grow (paper: exponentially)", max(_powers(heats, "nodes"))),
        Row("sbstree: largest power by which its time grows (paper: exponentially)", max(_powers(heats, SBSTREE))),
        *(
            Row(f"{each.bits:,.0f} bits: sbstree / counting, both in Python", _quotient(each, COUNTING))
            for each in heats.values()
        ),
        *(
            Row(f"{each.bits:,.0f} bits: sbstree / counting, which is compiled", _quotient(each, COMPILED))
            for each in (heats[min(heats)], last)
        ),
        Row("events for which the tables do not agree", sum(each.disagree for each in heats.values()), 0, good="exact"),
    ]


def _quotient(each: Heat, other: str) -> float:
    return each.microseconds[SBSTREE] / each.microseconds[other]


def _series(heats: Mapping[int, Heat]) -> list[Series]:
    x = [each.bits for each in heats.values()]
    return [
        *(Series(name, x, [each.microseconds[name] for each in heats.values()], "time, µs") for name in NAMES),
        Series("sbstree: nodes visited", x, [each.nodes for each in heats.values()], "steps"),
        Series("sbstree: edges looked up", x, [each.looked_up for each in heats.values()], "steps"),
        Series("counting: postings", x, [each.postings for each in heats.values()], "steps"),
    ]


def _notes(count: int, heats: Mapping[int, Heat]) -> list[str]:
    first, last = heats[min(heats)], heats[max(heats)]
    return [
        f"{count:,} filters of 004-E7, m = 2^14, k = 2; events with more and more pairs, whose bits the sbsposet "
        "finds. The thesis gives no numbers, and does not say how it varied the bits.",
        "The counting table of Tamis has a compiled loop; so that tables speak the same language there is one in plain "
        "Python beside it. The steps depend on no language. Processor times, fastest of some passes in turns.",
        "The sbstree visits every node whose bits are all among the event's. Of the nodes at depth d that is about the "
        "share (bits / m)^d as long as bits are independent: a sum of powers, in which the higher ones gain as the "
        f"event fills up, to {last.bits / HASHES.bits:.0%} of all bits here. That is steeper and steeper, but its "
        "power is bounded by the bits of the longest filter, and all nodes are the end of it; an exponential it is "
        "not.",
        "Ours goes through the edges of a node or through the event's bits, whichever are fewer; the thesis goes "
        f"through all edges: {first.edges / first.looked_up:,.1f} times as many at the fewest bits, "
        f"{last.edges / last.looked_up:,.1f} times at the most.",
    ]


def _growth(heats: Mapping[int, Heat]) -> Table:
    figures = {
        SBSTREE: "sbstree, time",
        "nodes": "its nodes",
        COUNTING: "counting in Python, time",
        "postings": "its postings",
    }
    powers = [_powers(heats, what) for what in figures]
    names = [f"{before.bits:,.0f} to {after.bits:,.0f}" for before, after in itertools.pairwise(heats.values())]
    return Table(
        "The power of the bits by which figures grow (1 is linear)",
        ["bits", *figures.values()],
        [[name, *each] for name, *each in zip(names, *powers, strict=True)],
    )


EXPERIMENT: Final = Experiment(
    id="004-E11",
    title="More bits in an event: sbstree and counting",
    source="specs/004 §9 E11, Figure 9.18 (thesis L5230-5244)",
    setup="The same filters in both tables; events of more and more bits.",
    run=run,
)
