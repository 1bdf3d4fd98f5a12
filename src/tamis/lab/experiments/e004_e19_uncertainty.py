"""Leases extended by how much ages differ, not by ages. Figures 9.35 to 9.37 of the thesis (specs/004 §9, E19)."""

from collections.abc import Mapping, Sequence
from statistics import fmean, median
from typing import Final

from tamis.healing import Leases
from tamis.healing.lease import LeaseTable
from tamis.lab.experiment import Context, Experiment, Figure, Outcome, Row, Scale, Series, Table
from tamis.lab.experiments.e004_e18_extension import FIRST, LAST, LONGER, SLOW_ONE
from tamis.lab.lease_chains import EUROPE, Refreshed, refreshed

BOUND: Final = "bound"
SECONDS: Final = "uncertainty, 20 s"
MESSAGES: Final = "uncertainty, 200 messages"
POLICIES: Final[Mapping[str, Leases]] = {
    BOUND: Leases(extension="bound"),
    SECONDS: Leases(extension="uncertainty", window=20.0),
    MESSAGES: Leases(extension="uncertainty", window=200, window_of="messages"),
}
REFRESHES: Final = {Scale.QUICK: 290, Scale.FULL: 2_000}
#: So many are drawn.
DRAWN: Final = 320
#: Refresh 75 is slowed down on the first link, so that all brokers see it, by less than a lease leaves.
SLOWER: Final = 0.15
#: An extension has recovered when it is below so many seconds again.
RECOVERED: Final = 0.1
#: Utilisation at one of the last brokers, by the bound and by uncertainty.
PAPER: Final = (0.6, 0.8)


def run(context: Context) -> Outcome:
    """Refresh the same subscription on the same chain under all policies, and once with a refresh that is later."""
    refreshes = REFRESHES[context.scale]
    total = 2 * len(POLICIES)
    found: dict[str, list[list[Refreshed]]] = {}
    late: dict[str, list[list[Refreshed]]] = {}
    for done, (name, leases) in enumerate(POLICIES.items()):
        context.progress(2 * done, total)
        found[name] = refreshed(EUROPE, leases, refreshes, context.seed, {SLOW_ONE: (0, SLOWER)})
        context.progress(2 * done + 1, total)
        late[name] = refreshed(EUROPE, leases, SLOW_ONE + 1, context.seed, {SLOW_ONE: (0, LONGER)})
    context.progress(total, total)
    last = {name: came[LAST - 1] for name, came in found.items()}
    sink = found[SECONDS][-1]
    by_ages = _by_true_ages(sink)
    gaps = [abs(each.extension - other) for each, other in zip(sink, by_ages, strict=True)]
    return Outcome(
        rows=[
            Row(f"{BOUND}: utilisation at one of the last brokers, mean", _used(last[BOUND]), PAPER[0], tolerance=0.1),
            Row(f"{SECONDS}: utilisation at one of the last brokers, mean", _used(last[SECONDS]), PAPER[1]),
            Row(f"{MESSAGES}: utilisation at one of the last brokers, mean", _used(last[MESSAGES]), None),
            Row(
                f"{SECONDS}: extension at one of the last brokers / at the first one, medians",
                _extension(last[SECONDS]) / _extension(found[SECONDS][FIRST - 1]),
                1.0,
                good="order",
            ),
            Row(
                f"{SECONDS}: extensions above the bound on the age, one of the last brokers",
                sum(each.extension > each.bound for each in last[SECONDS]),
                0,
                good="exact",
            ),
            *(
                Row(f"{name}: refreshes until the extension recovers, first broker", _recovery(found[name][FIRST - 1]))
                for name in (SECONDS, MESSAGES)
            ),
            Row("by bounds and by true ages: extensions differ by, mean, where the chain ends", fmean(gaps), None, "s"),
            Row(
                "by bounds / by true ages: extension, mean, where the chain ends",
                fmean(each.extension for each in sink) / fmean(by_ages),
                1.0,
            ),
            *(
                Row(f"{name}: leases that ended, all brokers", sum(each.used > 1 for at in came for each in at))
                for name, came in found.items()
            ),
            *(
                Row(
                    f"{name}: brokers where the lease ended before a refresh that is {LONGER:g} s late",
                    sum(at[SLOW_ONE - 1].used > 1 for at in came),
                )
                for name, came in late.items()
            ),
        ],
        figure=Figure("refresh", "seconds; share", _series(found, by_ages)),
        notes=[
            f"The chain, the hosts and the delays of 004-E18, a model. Refresh {SLOW_ONE} is slowed down on the first "
            f"link by {SLOWER:g} s, which a lease of 1 s that is refreshed every 0.8 s takes without any extension.",
            "The windows of each broker and each subscription are its own. In 20 s there are 25 refreshes, so the slow "
            "one is forgotten after these, and with a window of 200 messages after 200, as in the thesis.",
            "The thesis finds the extension similar at the first broker and at the last. Ours is "
            f"{1000 * _extension(found[SECONDS][FIRST - 1]):.1f} ms at the first and "
            f"{1000 * _extension(last[SECONDS]):.1f} ms at one of the last, because here the jitter of all links adds "
            f"up; both are small beside the bound there, {1000 * median(each.bound for each in last[SECONDS]):.0f} ms.",
            "The thesis compares bounds with true ages at the host that is first and last. Here true ages are known "
            "everywhere. Where the chain ends, the same policy was fed with true ages, too.",
            f"[ours] What the thesis does not tell: if a refresh is {LONGER:g} s late after a calm time, leases that "
            "uncertainty extends have ended by then, at all brokers behind the slow link, and those extended by the "
            "bound only where the bound is small. Utilisation is bought with that.",
        ],
        tables=[
            Table(
                "By broker, mean utilisation",
                ["broker", *POLICIES],
                [
                    [host, *(_used(came[number]) for came in found.values())]
                    for number, host in enumerate(EUROPE.hosts[1:])
                ],
            )
        ],
    )


def _used(came: Sequence[Refreshed]) -> float:
    return fmean(each.used for each in came)


def _extension(came: Sequence[Refreshed]) -> float:
    return median(each.extension for each in came)


def _recovery(came: Sequence[Refreshed]) -> float:
    """Return how many refreshes after the slow one the extension is small again."""
    after = [each.extension for each in came[SLOW_ONE - 1 :]]
    return next((number for number, each in enumerate(after) if number and each < RECOVERED), len(after))


def _by_true_ages(came: Sequence[Refreshed]) -> list[float]:
    """Return the extensions that the same refreshes have if their true ages are known."""
    leases = POLICIES[SECONDS]
    table: LeaseTable[str] = LeaseTable(leases)
    extensions = []
    for number, each in enumerate(came):
        table.grant("", number * leases.refresh + each.age, each.age)
        extensions.append(table[""].extension)
    return extensions


def _series(found: Mapping[str, Sequence[Sequence[Refreshed]]], by_ages: Sequence[float]) -> list[Series]:
    x = [float(number) for number in range(1, min(DRAWN, len(by_ages)) + 1)]
    series = [
        Series(name, x, [each.extension for each in found[name][broker - 1][: len(x)]], f"extension, s, {where}")
        for where, broker in (("first broker", FIRST), ("one of the last", LAST))
        for name in (SECONDS, MESSAGES)
    ]
    series += [
        Series(name, x, [each.used for each in found[name][LAST - 1][: len(x)]], "utilisation, one of the last")
        for name in (BOUND, SECONDS)
    ]
    sink = [each.extension for each in found[SECONDS][-1][: len(x)]]
    return [
        *series,
        Series("by bounds", x, sink, "extension, s, where the chain ends"),
        Series("by true ages", x, list(by_ages[: len(x)]), "extension, s, where the chain ends"),
    ]


EXPERIMENT: Final = Experiment(
    id="004-E19",
    title="Leases extended by the uncertainty of ages",
    source="specs/004 §9 E19, Figures 9.35 to 9.37 (thesis L5542-5603)",
    setup="The subscription of 004-E18 is leased by three policies under the same delays.",
    run=run,
)
