"""How long does it take to match events? Figure 9.15 of the thesis (specs/004 §9, E8)."""

import itertools
from collections.abc import Callable, Mapping, Sequence
from typing import Final

import msgspec
import numpy as np

from tamis.covering.containment import shape
from tamis.lab.bloom import Descent, Growing, Load, Metered, fill_poset, fill_table, load, metered, truth
from tamis.lab.content import best_seconds
from tamis.lab.experiment import Context, Experiment, Figure, Outcome, Row, Scale, Series, Table
from tamis.lab.forwarding import Trie
from tamis.lab.workloads.draws import Flags
from tamis.lab.workloads.xsiena import XSIENA_E7
from tamis.routing.bloom import SbsPoset, make_table
from tamis.sketches import Hashes

#: [ours] How many filters; the numbers of the figure are lost.
SIZES: Final = {Scale.QUICK: (200, 400, 800), Scale.FULL: (1_000, 2_000, 5_000, 10_000)}
#: As many as in the thesis.
EVENTS: Final = {Scale.QUICK: 100, Scale.FULL: 1_000}
#: [ours] The thesis does not say how many bits it used here; these are those of its examples.
HASHES: Final = Hashes()
#: "With increasing number of different attribute names the advantage of the sbsposet is more substantial." So many
#: names, with so many filters.
ALL_NAMES: Final = (200, 2_000, 20_000)
FILTERS: Final = {Scale.QUICK: 200, Scale.FULL: 2_000}
POSET, FOREST, SBSPOSET, SBSTREE = "poset", "forest", "sbsposet", "sbstree"


class Heat(msgspec.Struct, frozen=True):
    """What the events took: microseconds for one by structure, and the work for one."""

    microseconds: Mapping[str, float]
    #: Filters that the poset and the forest test; predicates that the sbsposet tests; nodes that the sbstree visits.
    tested: Mapping[str, float]
    bits: float
    #: Pairs of event and filter: met, missed by any structure, and found by bits alone.
    met: int
    missed: int
    false: int


def run(context: Context) -> Outcome:
    """Match the same events with the same filters in all structures, in turns."""
    sizes, filters, events = SIZES[context.scale], FILTERS[context.scale], EVENTS[context.scale]
    total = len(sizes) + len(ALL_NAMES)
    given = load(msgspec.structs.replace(XSIENA_E7, subscriptions=max(sizes), events=events), context.seed)
    exact, graphs = truth(given.workload), _graphs()
    heats: dict[int, Heat] = {}
    for done, size in enumerate(sizes):
        context.progress(done, total)
        heats[size] = _heat(given, graphs, exact[:, :size])
    by_names: dict[int, Heat] = {}
    for done, names in enumerate(ALL_NAMES, len(sizes)):
        context.progress(done, total)
        spec = msgspec.structs.replace(XSIENA_E7, subscriptions=filters, events=events, names=names)
        given = load(spec, context.seed)
        by_names[names] = _heat(given, _graphs(), truth(given.workload))
    context.progress(total, total)
    return Outcome(
        rows=_rows(heats, by_names, filters),
        figure=Figure("filters", "time per event, µs", _series(heats), log=True),
        notes=_notes(events, heats, by_names, filters),
        tables=[
            *_tables("filters", heats, f"{XSIENA_E7.names:,} names"),
            *_tables("names", by_names, f"{filters:,} filters"),
        ],
    )


def _graphs() -> dict[str, Growing]:
    return {name: Growing(name) for name in (POSET, FOREST)}


def _heat(given: Load, graphs: Mapping[str, Growing], exact: Flags) -> Heat:
    """Let graphs grow to the number of columns, and match all events."""
    size, events = exact.shape[1], given.events
    for grown in graphs.values():
        grown.add(shape(text) for text in given.texts[grown.size : size])
    marked = given.marked(HASHES)[:size]
    poset, watched, table = SbsPoset(), SbsPoset(), make_table(SBSTREE, HASHES.bits)
    fill_poset(poset, marked)
    fill_poset(watched, metered(marked))
    fill_table(table, marked)
    descents = {name: Descent(grown, given.filters[:size]) for name, grown in graphs.items()}
    bits = [poset.match(event) for event in events]
    works: dict[str, Callable[[], object]] = {
        **{
            name: lambda each=descent: [each.match(event) for event in events]  # type: ignore[misc]
            for name, descent in descents.items()
        },
        SBSPOSET: lambda: [poset.match(event) for event in events],
        SBSTREE: lambda: [table.match(each) for each in bits],
    }
    seconds = best_seconds(works)
    found = {name: [descent.match(event) for event in events] for name, descent in descents.items()}
    forwarded = _flags([table.match(each) for each in bits], size)
    answers = [*(_flags([each.filters for each in matched], size) for matched in found.values()), forwarded]
    for event in events:
        watched.match(event)
    trie = Trie(table)
    return Heat(
        microseconds={name: 1e6 * each / len(events) for name, each in seconds.items()},
        tested={
            **{name: sum(each.tested for each in matched) / len(events) for name, matched in found.items()},
            SBSPOSET: Metered.tested / len(events),
            SBSTREE: sum(trie.walk(each).nodes for each in bits) / len(events),
        },
        bits=sum(map(len, bits)) / len(bits),
        met=int(exact.sum()),
        missed=sum(int((exact & ~each).sum()) for each in answers),
        false=int((forwarded & ~exact).sum()),
    )


def _flags(found: Sequence[Sequence[int]], size: int) -> Flags:
    """Return which event, by row, was found to meet which filter, by column."""
    flags = np.zeros((len(found), size), np.bool_)
    for row, numbers in enumerate(found):
        flags[row, list(numbers)] = True
    return flags


def _rows(heats: Mapping[int, Heat], by_names: Mapping[int, Heat], filters: int) -> list[Row]:
    rows = []
    for size, heat in heats.items():
        times = heat.microseconds
        rows += [
            *(Row(f"{size:,} filters: {name} / sbsposet", times[name] / times[SBSPOSET]) for name in (POSET, FOREST)),
            Row(f"{size:,} filters: forest / (sbsposet + sbstree), at the first broker", times[FOREST] / _both(times)),
            Row(f"{size:,} filters: sbstree / sbsposet", times[SBSTREE] / times[SBSPOSET]),
        ]
    every = [*heats.values(), *by_names.values()]
    ahead = sum(
        heat.microseconds[SBSPOSET] < min(heat.microseconds[name] for name in (POSET, FOREST))
        for heat in heats.values()
    )
    advantage = [heat.microseconds[FOREST] / heat.microseconds[SBSPOSET] for heat in by_names.values()]
    return [
        Row(
            f"of {len(heats)} numbers of filters, sbsposet is faster than poset and forest at",
            ahead,
            len(heats),
            good="exact",
        ),
        *rows,
        *(
            Row(f"{filters:,} filters, {names:,} names: forest / sbsposet", each)
            for names, each in zip(by_names, advantage, strict=True)
        ),
        Row(
            f"times, of {len(advantage) - 1}, that more names make the advantage of the sbsposet larger",
            sum(more > fewer for fewer, more in itertools.pairwise(advantage)),
            len(advantage) - 1,
            good="exact",
        ),
        Row("pairs of event and filter that are met", sum(heat.met for heat in every)),
        Row("of these, not found by any one of the structures", sum(heat.missed for heat in every), 0, good="exact"),
    ]


def _both(times: Mapping[str, float]) -> float:
    return times[SBSPOSET] + times[SBSTREE]


def _series(heats: Mapping[int, Heat]) -> list[Series]:
    x = [float(size) for size in heats]
    return [
        Series(name, x, [heat.microseconds[name] for heat in heats.values()])
        for name in (POSET, FOREST, SBSPOSET, SBSTREE)
    ]


def _notes(events: int, heats: Mapping[int, Heat], by_names: Mapping[int, Heat], filters: int) -> list[str]:
    most, fewest = max(heats), min(by_names)
    last, few = heats[most], by_names[fewest]
    return [
        f"{events:,} events of 2 to 5 pairs and the filters of 004-E7, each of another subscriber. The thesis tells "
        "the order of the structures in words; the curves are lost.",
        "All four are Python and test predicates by the same function; an event is read once for all filters. The "
        "poset and the forest are searched from the top down through filters that are met. Processor times, fastest of "
        "some passes in turns.",
        f"With {XSIENA_E7.names:,} names hardly anything is below anything else, so the poset and the forest test "
        f"{last.tested[POSET]:,.0f} and {last.tested[FOREST]:,.0f} of {most:,} filters for each event; most fail at "
        f"the first name. The sbsposet looks up the names of the event and tests {last.tested[SBSPOSET]:,.1f} "
        "predicates; an equality is a lookup and is not counted.",
        f"With so many names an event seldom meets a whole filter: {last.met:,} of {events * most:,} pairs at {most:,} "
        f"filters, and {last.false:,} more by bits. The sbsposet finds {last.bits:,.0f} bits for an event all the "
        f"same, from filters that are met in part. With {fewest:,} names {few.met:,} of {events * filters:,} pairs "
        "are met.",
        "The sbsposet works once for an event; each further broker on its way does only what the sbstree does.",
    ]


def _tables(label: str, heats: Mapping[int, Heat], title: str) -> list[Table]:
    names = (POSET, FOREST, SBSPOSET, SBSTREE)
    return [
        Table(
            f"{title}: time per event, µs",
            [label, *names],
            [[f"{at:,}", *(heat.microseconds[name] for name in names)] for at, heat in heats.items()],
        ),
        Table(
            f"{title}: work per event, and what came of it",
            [
                label,
                "poset: filters tested",
                "forest: filters tested",
                "sbsposet: predicates tested",
                "sbstree: nodes visited",
                "bits",
                "pairs met, all events",
                "found by bits alone",
            ],
            [
                [f"{at:,}", *(heat.tested[name] for name in names), heat.bits, heat.met, heat.false]
                for at, heat in heats.items()
            ],
        ),
    ]


EXPERIMENT: Final = Experiment(
    id="004-E8",
    title="Matching events: sbsposet and sbstree, poset, forest",
    source="specs/004 §9 E8, Figure 9.15 (thesis L5161-5186)",
    setup="Events meet the filters of 004-E7: the sbsposet finds an event's bits, the sbstree who gets it by these; "
    "the poset and the forest find who gets it by its content.",
    run=run,
)
