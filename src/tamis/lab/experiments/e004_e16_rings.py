"""Does the bound hold, and how tight is it? Figures 9.26 to 9.28 of the thesis (specs/004 §9, E16)."""

from collections.abc import Mapping
from statistics import linear_regression, median, quantiles
from typing import Final, TypeAlias

from tamis.lab import rings
from tamis.lab.experiment import Context, Experiment, Figure, Outcome, Row, Scale, Series, Table
from tamis.lab.rings import RINGS, Travellers, travelled

EVENTS: Final = {Scale.QUICK: 150, Scale.FULL: 3_600}
#: So many are drawn.
DRAWN: Final = 300
OPTIMISED: Final = "optimised"
UNOPTIMISED: Final = "unoptimised"

#: Ring -> protocol -> what came back.
Found: TypeAlias = Mapping[str, Mapping[str, Travellers]]


def run(context: Context) -> Outcome:
    """Send events round both rings, by both protocols."""
    events = EVENTS[context.scale]
    points = [(ring, events, context.seed, optimised) for ring in RINGS for optimised in (True, False)]
    found: dict[str, dict[str, Travellers]] = {ring.name: {} for ring in RINGS}
    for (ring, _, _, optimised), came in zip(points, context.each(travelled, points), strict=True):
        found[ring.name][OPTIMISED if optimised else UNOPTIMISED] = came
    return Outcome(
        rows=[row for ring, by in found.items() for row in _rows(ring, by)],
        figure=Figure("event", "seconds", _series(found), log_y=True),
        notes=_notes(found, events),
        tables=[_table(ring, by) for ring, by in found.items()],
    )


def _rows(ring: str, by: Mapping[str, Travellers]) -> list[Row]:
    best, plain = by[OPTIMISED], by[UNOPTIMISED]
    spiked = [each.error for each in best if each.spiked]
    rows = [
        *(
            Row(
                f"{ring}, {protocol}: bounds below the true delay",
                sum(each.error < 0 for each in came),
                0,
                good="exact",
            )
            for protocol, came in by.items()
        ),
        *(
            Row(f"{ring}, {protocol}: error, median", 1000 * median(each.error for each in came), None, "ms")
            for protocol, came in by.items()
        ),
        *(
            Row(f"{ring}, {protocol}: error that each second of delay adds", _slope(came), None, "s")
            for protocol, came in by.items()
        ),
        Row(
            f"{ring}: largest error, unoptimised / optimised",
            max(each.error for each in plain) / max(each.error for each in best),
        ),
    ]
    if spiked:
        others = median(each.error for each in best if not each.spiked)
        rows.append(Row(f"{ring}, optimised: error of events that met a spike / of others", median(spiked) / others))
    return rows


def _slope(came: Travellers) -> float:
    return linear_regression([each.age for each in came], [each.error for each in came]).slope


def _series(found: Found) -> list[Series]:
    series = []
    for ring, by in found.items():
        for name, protocol, field in (
            ("delay", OPTIMISED, "age"),
            ("bound, optimised", OPTIMISED, "bound"),
            ("bound, unoptimised", UNOPTIMISED, "bound"),
        ):
            values = [float(getattr(each, field)) for each in by[protocol][:DRAWN]]
            series.append(Series(name, [float(number) for number in range(1, len(values) + 1)], values, ring))
    return series


def _table(ring: str, by: Mapping[str, Travellers]) -> Table:
    rows: list[list[str | float | None]] = [["true delay", *_spread([each.age for each in by[OPTIMISED]])]]
    rows += [[f"error, {protocol}", *_spread([each.error for each in came])] for protocol, came in by.items()]
    return Table(f"{ring}, ms", ["", "least", "median", "99 %", "largest"], rows)


def _spread(seconds: list[float]) -> list[float]:
    cut = quantiles(seconds, n=100)
    return [1000 * each for each in (min(seconds), median(seconds), cut[98], max(seconds))]


def _notes(found: Found, events: int) -> list[str]:
    least = "; ".join(
        f"{ring.name}: {', '.join(f'{1000 * each:.1f}' for each in ring.least())} ms between {', '.join(ring.hosts)} "
        "and back"
        for ring in RINGS
    )
    came = ", ".join(f"{len(by[OPTIMISED]):,} in the {ring} ring" for ring, by in found.items())
    return [
        "A simulation. PlanetLab cannot be had, and all figures of the thesis but those of its prose are lost: delays, "
        "losses and spikes are chosen here. What is tested runs: brokers with the ages layer in strict mode, in a line "
        "whose last broker has the clock of the first, as in the thesis, where one host is both ends of a ring.",
        f"Least delays by distance ({least}): {1e6 * rings.FIBRE:.0f} µs for each km, ways 1.5 times as long as the "
        f"straight line, those to India 4 times, and {1000 * rings.ROUTERS:.0f} ms for routers. On top, each packet "
        f"gets an exponential delay, on average {rings.JITTER:g} of the least; and a link gets congested, for "
        f"{0.5 / rings.ENDS:.0f} s on average, in which {rings.CONGESTION:g} times the least delay are added on "
        f"average. {rings.LOSS:.0%} of packets get lost, and they may overtake each other.",
        f"A broker works {1000 * rings.WORK:g} ms on a packet on average, but {rings.SPIKE} times as long on "
        f"{rings.SPIKES:.1%} of them: the spikes of three orders of magnitude that the thesis met. They are in the "
        "model, not found by it. What is found is that the bound holds through them.",
        f"An event every second, {events:,} in all, and a packet with nothing but a stamp every second in each "
        f"direction of a link. Came back: {came}; the others got lost. Clocks drift by up to "
        f"{1e6 * rings.DRIFT:.0f} ppm and start anywhere.",
        "Optimised: Equations 6.9 to 6.12. Unoptimised: Equation 6.6, the newest packet as the helper. Its error is "
        "the helper's delay, so it grows with the message's own only because congestion lasts and both meet it.",
        "The thesis sees a high error at first, which the choice of helpers soon lowers. Here links begin with pings "
        "in both directions, so the first event finds helpers that are as good as any, unless they met congestion.",
        "Our brokers stamp a packet when they answer, so what they work on it counts as delay of the next link, and "
        "there is no bound on it alone, as there is in Figure 9.28.",
    ]


EXPERIMENT: Final = Experiment(
    id="004-E16",
    title="Upper bounds on the delay of events in rings",
    source="specs/004 §9 E16, Figures 9.26 to 9.28 of the thesis",
    setup="Events go round rings of four simulated hosts, and their bounds are compared with their true delays.",
    run=run,
    grid="counted",
)
