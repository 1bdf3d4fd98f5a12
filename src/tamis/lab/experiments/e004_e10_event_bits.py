"""How many bits does an event carry? Figure 9.17 of the thesis (specs/004 §9, E10)."""

import itertools
from collections.abc import Mapping
from typing import Any, Final, TypeAlias

import msgspec

from tamis.lab.bloom import fill_poset, load
from tamis.lab.experiment import Context, Experiment, Figure, Outcome, Row, Scale, Series, Table
from tamis.lab.workloads.xsiena import XSIENA_E7
from tamis.routing.bloom import SbsPoset
from tamis.sketches import Hashes, dense_bytes, sparse_bytes

#: [ours] Numbers of filters; those of the figure are lost.
SIZES: Final = {Scale.QUICK: (250, 500, 1_000), Scale.FULL: (1_000, 2_000, 5_000, 10_000, 20_000)}
EVENTS: Final = {Scale.QUICK: 200, Scale.FULL: 1_000}
#: [ours] Where Pareto's law is cut off, with so many filters: the thesis says neither.
X_MAX: Final = (5.0, 10.0, 15.0, 20.0)
SWEEP_SIZE: Final = {Scale.QUICK: 500, Scale.FULL: 5_000}
#: [ours] The thesis does not say how many bits it used here.
FAMILIES: Final = (Hashes(1 << 14, 2), Hashes(1 << 14, 4))
#: "An average event will have up to 200 bits set", in numbers of 16 bits.
PAPER_BITS: Final = 200
PAPER_BYTES: Final = 400

#: Number of filters, or x_max -> number of hash functions -> bits of an event.
Bits: TypeAlias = Mapping[float, Mapping[int, float]]


def run(context: Context) -> Outcome:
    """Find the bits of the same events as filters become more, and for other laws of names."""
    sizes, sweep_size = SIZES[context.scale], SWEEP_SIZE[context.scale]
    events, seed = EVENTS[context.scale], context.seed
    points = [(sizes, XSIENA_E7.x_max, events, seed), *(((sweep_size,), cut, events, seed) for cut in X_MAX)]
    by_size, *others = context.each(_bits, points)
    by_cut = {cut: each[sweep_size] for cut, each in zip(X_MAX, others, strict=True)}
    return Outcome(
        rows=_rows(by_size, by_cut, sweep_size),
        figure=Figure("filters; x_max", "bits of an event", _series(by_size, by_cut, sweep_size)),
        notes=[
            f"{EVENTS[context.scale]:,} events and the filters of 004-E7 and 004-E8; m = 2^14. The thesis gives "
            "neither m and k nor the numbers of filters, only that there are up to 200 bits. An event has k bits for "
            "each predicate that it meets, less those that predicates share.",
            "As every filter adds predicates on the names that events have, the bits grow with the filters, nearly in "
            "proportion: a limit holds for a number of filters only. The filters for 200 bits are read off that line.",
            f"At m = 2^14 a bit takes {sparse_bytes(FAMILIES[0].bits, 1)} bytes in an event, all bits together "
            f"{dense_bytes(FAMILIES[0].bits):,}: from {dense_bytes(FAMILIES[0].bits) // 2:,} bits on, these are fewer.",
            "Where Pareto's law is cut off decides how many filters share a name, and so how many bits an event has.",
        ],
        tables=[
            _table("x_max = 10", "filters", by_size),
            _table(f"{sweep_size:,} filters", "x_max", by_cut),
        ],
    )


def _bits(sizes: tuple[int, ...], cut: float, events: int, seed: int) -> dict[float, dict[int, float]]:
    spec: dict[str, Any] = {"subscriptions": max(sizes), "events": events, "x_max": cut}
    given = load(msgspec.structs.replace(XSIENA_E7, **spec), seed)
    found: dict[float, dict[int, float]] = {size: {} for size in sizes}
    for hashes in FAMILIES:
        marked, poset = given.marked(hashes), SbsPoset()
        for first, last in itertools.pairwise((0, *sizes)):
            fill_poset(poset, marked[first:last])
            bits = sum(len(poset.match(event)) for event in given.events)
            found[last][hashes.hashes] = bits / len(given.events)
    return found


def _rows(by_size: Bits, by_cut: Bits, sweep_size: int) -> list[Row]:
    rows = []
    most = max(by_size)
    for hashes in FAMILIES:
        k = hashes.hashes
        rows += [Row(f"{size:,} filters, k = {k}: bits of an event", each[k]) for size, each in by_size.items()]
        rows += [
            Row(f"k = {k}: filters at which an event has {PAPER_BITS} bits", most * PAPER_BITS / by_size[most][k]),
            Row(
                f"k = {k}: bytes of an event with {PAPER_BITS} bits",
                sparse_bytes(hashes.bits, PAPER_BITS),
                PAPER_BYTES,
                "B",
                good="exact",
            ),
        ]
    k = FAMILIES[0].hashes
    return rows + [
        Row(f"{sweep_size:,} filters, k = {k}, x_max = {cut:g}: bits of an event", each[k])
        for cut, each in by_cut.items()
    ]


def _series(by_size: Bits, by_cut: Bits, sweep_size: int) -> list[Series]:
    return [
        Series(f"k = {hashes.hashes}", list(found), [each[hashes.hashes] for each in found.values()], panel)
        for panel, found in (("x_max = 10", by_size), (f"x_max, {sweep_size:,} filters", by_cut))
        for hashes in FAMILIES
    ]


def _table(title: str, label: str, found: Bits) -> Table:
    return Table(
        f"{title}: bits of an event, and bytes that they take",
        [label, *(f"k = {hashes.hashes}, {what}" for hashes in FAMILIES for what in ("bits", "bytes"))],
        [
            [
                f"{at:,g}",
                *(
                    value
                    for hashes in FAMILIES
                    for value in (each[hashes.hashes], sparse_bytes(hashes.bits, 1) * each[hashes.hashes])
                ),
            ]
            for at, each in found.items()
        ],
    )


EXPERIMENT: Final = Experiment(
    id="004-E10",
    title="Bits of an event",
    source="specs/004 §9 E10, Figure 9.17 (thesis L5221-5228)",
    setup="Filters and events of 004-E7 and 004-E8; the bits of all predicates that an event meets are counted.",
    run=run,
    grid="counted",
)
