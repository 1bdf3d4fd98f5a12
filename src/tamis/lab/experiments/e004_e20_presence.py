"""Is an advertisement there if it is leased for 20 ms? Figures 9.38 and 9.39 of the thesis (specs/004 §9, E20)."""

from collections.abc import Mapping, Sequence
from itertools import pairwise
from typing import Final, TypeAlias

from tamis.healing import Leases
from tamis.healing.lease import Extension
from tamis.lab.experiment import Context, Experiment, Figure, Outcome, Row, Scale, Series, Table
from tamis.lab.lease_chains import STEP, WORLD, present

INTERVAL: Final = 0.020
REFRESH: Final = 0.016
EXTENSIONS: Final[tuple[Extension, ...]] = ("none", "bound", "uncertainty")
SECONDS: Final = {Scale.QUICK: 2.5, Scale.FULL: 30.0}
#: The first refreshes: so much time after the advertisement came.
FIRST: Final = 1.0
#: How TCP sends small packets.
BATCHES: Final = "in batches"
AT_ONCE: Final = "at once"

#: How TCP sends -> extension -> for each broker whether the advertisement is there, once in `STEP`.
Found: TypeAlias = Mapping[str, Mapping[Extension, Sequence[Sequence[bool]]]]


def run(context: Context) -> Outcome:
    """Lease one advertisement by all policies."""
    cases = [(how, extension) for how in (BATCHES, AT_ONCE) for extension in EXTENSIONS]
    points = [
        (
            WORLD,
            Leases(interval=INTERVAL, refresh=REFRESH, extension=extension),
            SECONDS[context.scale],
            context.seed,
            how == BATCHES,
        )
        for how, extension in cases
    ]
    found: dict[str, dict[Extension, list[list[bool]]]] = {BATCHES: {}, AT_ONCE: {}}
    for (how, extension), each in zip(cases, context.each(present, points), strict=True):
        found[how][extension] = each
    plain = [absent(at) for at in found[BATCHES]["none"]]
    return Outcome(
        rows=[
            Row(f"{BATCHES}, none: absent, share of time, first broker", plain[0]),
            Row(f"{BATCHES}, none: absent, share of time, last broker", plain[-1]),
            Row(
                f"{BATCHES}, none: brokers where it is absent for longer than at the one before",
                sum(more > less for less, more in pairwise(plain)),
                len(plain) - 1,
                good="exact",
            ),
            *(
                Row(
                    f"{how}, {extension}: absent after the first {FIRST:g} s, worst broker",
                    max(absent(at, FIRST) for at in found[how][extension]),
                    0.0 if extension == "bound" else None,
                    good="exact",
                )
                for how in found
                for extension in EXTENSIONS
            ),
        ],
        figure=Figure("seconds since the advertisement came", "share of time so far without it", _series(found)),
        notes=[
            f"An advertisement is leased for {1000 * INTERVAL:g} ms and refreshed every {1000 * REFRESH:g} ms, along "
            f"{len(WORLD.hosts)} hosts on several continents: {', '.join(WORLD.hosts)}. These and their delays are a "
            "model (004-E18): PlanetLab is no more. Time counts from when the advertisement first came to a broker.",
            "The thesis has no numbers: without extension the advertisement is mostly absent, the more the farther "
            "away; with it, absence soon vanishes. Which extension it was is not said; the bound, as it seems.",
            "[ours] Delays that differ from packet to packet by a tenth do not make it absent most of the time: see "
            f"'{AT_ONCE}'. What does is that small packets leave in batches. TCP, unless told otherwise, keeps a small "
            "packet back until what was sent before is acknowledged (Nagle), so on a long link a batch of refreshes "
            "leaves once in a round trip, and between two batches the lease ends. The thesis does not say whether its "
            "brokers had switched that off.",
            "The window of uncertainty is 20 s. It knows little at first: a batch that comes later than any before "
            "finds the lease ended, for some milliseconds. The bound has no such time.",
        ],
        tables=[
            Table(
                f"Absent, share of time, packets {how}",
                ["broker", *(f"{extension}{since}" for extension in EXTENSIONS for since in ("", ", later"))],
                [
                    [
                        host,
                        *(absent(by[extension][number], since) for extension in EXTENSIONS for since in (0.0, FIRST)),
                    ]
                    for number, host in enumerate(WORLD.hosts[1:])
                ],
            )
            for how, by in found.items()
        ],
    )


def since_first(at: Sequence[bool]) -> Sequence[bool]:
    """Return what is seen at a broker from when it first knows the advertisement."""
    return at[at.index(True) :]


def absent(at: Sequence[bool], since: float = 0.0) -> float:
    """Return for which share of the time a broker does not know the advertisement, some time after it first did."""
    seen = since_first(at)[round(since / STEP) :]
    return 1 - sum(seen) / len(seen)


def _series(found: Found) -> list[Series]:
    series = []
    for how, by in found.items():
        for extension in EXTENSIONS:
            for broker in (0, -1):
                seen = since_first(by[extension][broker])
                ends = range(max(1, len(seen) // 60), len(seen) + 1, max(1, len(seen) // 60))
                series.append(
                    Series(
                        f"{extension}, {WORLD.hosts[1:][broker]}",
                        [end * STEP for end in ends],
                        [1 - sum(seen[:end]) / end for end in ends],
                        f"packets leave {how}",
                    )
                )
    return series


EXPERIMENT: Final = Experiment(
    id="004-E20",
    title="Leases of 20 ms across continents: how long an advertisement is absent",
    source="specs/004 §9 E20, Figures 9.38 and 9.39 (thesis L5604-5631)",
    setup="An advertisement is refreshed much more often than once in the time that it takes to the other end.",
    run=run,
    grid="counted",
)
