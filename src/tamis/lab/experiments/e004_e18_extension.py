"""How long leases are when they are extended by bounds on ages. Figure 9.34 of the thesis (specs/004 §9, E18)."""

from collections.abc import Sequence
from statistics import fmean
from typing import Final

from tamis.healing import Leases
from tamis.lab.experiment import Context, Experiment, Figure, Outcome, Row, Scale, Series, Table
from tamis.lab.lease_chains import EUROPE, HOST, SLOW, SLOWED, Refreshed, refreshed
from tamis.lab.rings import JITTER

LEASES: Final = Leases(interval=1.0, refresh=0.8, extension="bound")
REFRESHES: Final = {Scale.QUICK: 100, Scale.FULL: 1_000}
#: So many are drawn.
DRAWN: Final = 150
#: The refresh that the thesis tells of: slowed down between Warsaw and Patras by so many seconds, which is our choice.
SLOW_ONE: Final = 75
LONGER: Final = 0.3
FIRST: Final = EUROPE.hosts.index("Turin")
LAST: Final = EUROPE.hosts.index("Patras")
#: Utilisation at both, and the extension at the latter.
PAPER: Final = (0.8, 0.6, 0.4)


def run(context: Context) -> Outcome:
    """Let one subscription be refreshed again and again."""
    context.progress(0, 1)
    came = refreshed(EUROPE, LEASES, REFRESHES[context.scale], context.seed, {SLOW_ONE: (LAST - 1, LONGER)})
    context.progress(1, 1)
    first, last = came[FIRST - 1], came[LAST - 1]
    slow, after = last[SLOW_ONE - 1], last[SLOW_ONE]
    return Outcome(
        rows=[
            Row("first broker: utilisation, mean", fmean(each.used for each in first), PAPER[0]),
            Row(
                "one of the last brokers: utilisation, mean", fmean(each.used for each in last), PAPER[1], tolerance=0.1
            ),
            Row("one of the last brokers: extension, mean", fmean(each.extension for each in last), PAPER[2], "s"),
            Row(f"one of the last brokers: utilisation at refresh {SLOW_ONE}", slow.used, 1.0, good="smaller"),
            Row(f"one of the last brokers: utilisation at refresh {SLOW_ONE + 1}", after.used),
            Row(
                "leases that ended, all brokers",
                sum(each.used > 1 for broker in came for each in broker),
                0,
                good="exact",
            ),
            Row("bounds below the true age", sum(each.bound < each.age for at in came for each in at), 0, good="exact"),
        ],
        figure=Figure("refresh", "share; seconds", [*_series("utilisation", came), *_series("extension, s", came)]),
        notes=[
            f"A client at {EUROPE.hosts[0]} subscribes; the subscription goes through {len(EUROPE.hosts) - 1} hosts "
            f"and back. T_I = {LEASES.interval:g} s, refreshed every {LEASES.refresh:g} s, extended by the bound on "
            f"its age. First broker: {EUROPE.hosts[FIRST]}; one of the last: {EUROPE.hosts[LAST]}.",
            "PlanetLab is no more: hosts, distances and delays are a model, given below. Brokers, stamps, bounds and "
            "leases are real ones, in virtual time, with clocks that are wrong by up to 100 ppm.",
            f"Delay of a link: fibre and routers as in 004-E16, {1000 * HOST:g} ms at the host, all of that longer by "
            f"{JITTER:.0%} on average with an exponential law; one packet in {1 / SLOW:,.0f} takes up to {SLOWED:g} s "
            "more. The time at the host was chosen so that the bound at one of the last brokers is about that of the "
            "thesis, 0.4 s: the extension there is no finding. That utilisation is 0.8 / (1 + extension) then is "
            "arithmetic: with 0.4 s it is 57 %, which the thesis calls around 60 %.",
            "What is found: the bound is about twice the true age, because no clock is right and only round trips can "
            f"be measured. The slow refresh is {LONGER:g} s late, and without extension a lease would take "
            f"{LEASES.interval - LEASES.refresh:g} s. Here it comes in time, and the next one, which is not slow, "
            "finds a lease of which little has passed.",
        ],
        tables=[
            Table(
                "By broker, means",
                ["broker", "utilisation", "extension, s", "bound on the age, s", "true age, s"],
                [
                    [host, *(fmean(getattr(each, field) for each in at) for field in _FIELDS)]
                    for host, at in zip(EUROPE.hosts[1:], came, strict=True)
                ],
            )
        ],
    )


_FIELDS: Final = ("used", "extension", "bound", "age")


def _series(panel: str, came: Sequence[Sequence[Refreshed]]) -> list[Series]:
    field = "used" if panel == "utilisation" else "extension"
    return [
        Series(
            EUROPE.hosts[broker],
            [float(number) for number in range(1, len(came[broker - 1][:DRAWN]) + 1)],
            [getattr(each, field) for each in came[broker - 1][:DRAWN]],
            panel,
        )
        for broker in (FIRST, LAST - 1, LAST)
    ]


EXPERIMENT: Final = Experiment(
    id="004-E18",
    title="Leases extended by bounds on ages: how much of them is used",
    source="specs/004 §9 E18, Figure 9.34 (thesis L5505-5541)",
    setup="A subscription is refreshed along a chain of hosts; each broker leases it for longer the older it may be.",
    run=run,
)
