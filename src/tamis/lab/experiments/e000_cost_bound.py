"""How often does G_k ask for coverers? Lemma 1 and Theorem 1 of the thesis (specs/000 §5)."""

from collections.abc import Mapping
from statistics import fmean, stdev
from typing import Final, TypeAlias

import msgspec

from tamis.lab.experiment import Context, Experiment, Figure, Outcome, Row, Scale, Series, Table
from tamis.lab.replay import History, history, oldest_first, replay_once

KS: Final = (1, 2, 3, 5, 10)
LEAVING: Final = (0.1, 0.2, 0.3, 0.4, 0.45)
OPERATIONS: Final = {Scale.QUICK: 2_000, Scale.FULL: 20_000}
SEEDS: Final = {Scale.QUICK: 8, Scale.FULL: 60}
ATTRIBUTES: Final = 2
#: Lemma 1: searches for each unsubscription. Theorem 1: searches with k = 1 for each with another k.
LEMMA, THEOREM = 1.0, 2.0


class Asked(msgspec.Struct, frozen=True):
    """Operations of a history, and how often coverers were asked for."""

    additions: int
    removals: int
    on_adding: int
    on_removing: int

    @property
    def cost(self) -> int:
        """The cost in the sense of Theorem 1."""
        return self.on_adding + self.on_removing


#: Probability -> k -> what was asked with each seed.
Meters: TypeAlias = Mapping[float, Mapping[int, list[Asked]]]


def run(context: Context) -> Outcome:
    """Replay histories of many seeds, once with those who leave chosen at random and once with the oldest leaving."""
    operations, seeds = OPERATIONS[context.scale], range(context.seed, context.seed + SEEDS[context.scale])
    uniform: dict[float, dict[int, list[Asked]]] = {p: {k: [] for k in KS} for p in LEAVING}
    oldest: dict[float, list[Asked]] = {p: [] for p in LEAVING}
    for found in context.each(_replayed, [(operations, seed) for seed in seeds]):
        for p, (by_k, with_oldest) in found.items():
            for k, asked in by_k.items():
                uniform[p][k].append(asked)
            oldest[p].append(with_oldest)
    return Outcome(
        rows=_rows(uniform, oldest),
        figure=Figure(
            "probability that an operation unsubscribes",
            "searches for each unsubscription",
            [
                *(Series(f"k = {k}", list(LEAVING), [_per_removal(uniform[p][k]) for p in LEAVING]) for k in KS),
                Series("k = 1, the oldest leaves", list(LEAVING), [_per_removal(oldest[p]) for p in LEAVING]),
                Series("Lemma 1, k = 1", list(LEAVING), [LEMMA] * len(LEAVING)),
            ],
        ),
        notes=[
            f"{len(seeds)} seeds, {operations:,} operations each, {ATTRIBUTES} attributes; detector: K-d tree.",
            "The paper's column holds bounds on what is expected, not measurements: below them is as it should be. The "
            "lemma speaks of k = 1 and of unsubscriptions that are as likely for every live subscription. Histories "
            "differ much, since few have many that depend on them: the table has standard errors of the means.",
            "That all are as likely matters. A subscription knows only coverers that came before it, so the old have "
            "many that depend on them; if always the oldest leaves, as with subscriptions that expire, each "
            "unsubscription asks more often, and the lemma does not hold. Those rows have no figure in the paper.",
        ],
        tables=[
            Table(
                "Searches, mean of all seeds",
                [
                    "p",
                    "k",
                    "subscriptions",
                    "searches on them",
                    "unsubscriptions",
                    "searches on them",
                    "standard error",
                    "cost_1 / cost",
                ],
                [
                    [
                        f"{p:g}",
                        k,
                        fmean(each.additions for each in found),
                        fmean(each.on_adding for each in found),
                        fmean(each.removals for each in found),
                        fmean(each.on_removing for each in found),
                        stdev(each.on_removing for each in found) / len(found) ** 0.5,
                        _quotient(by_k[1], found),
                    ]
                    for p, by_k in uniform.items()
                    for k, found in by_k.items()
                ],
            )
        ],
    )


def _replayed(operations: int, seed: int) -> dict[float, tuple[dict[int, Asked], Asked]]:
    """Return for each probability what was asked with each k, and with k = 1 if the oldest leaves."""
    found = {}
    for p in LEAVING:
        given = history(operations, p, ATTRIBUTES, seed)
        found[p] = {k: _asked(given, k) for k in KS}, _asked(oldest_first(given), 1)
    return found


def _asked(given: History, k: int) -> Asked:
    cost = replay_once(given, "kdtree", k)
    return Asked(given.additions, given.removals, cost.add_calls, cost.remove_calls)


def _per_removal(found: list[Asked]) -> float:
    return sum(each.on_removing for each in found) / sum(each.removals for each in found)


def _quotient(first: list[Asked], other: list[Asked]) -> float:
    return fmean(each.cost for each in first) / fmean(each.cost for each in other)


def _rows(uniform: Meters, oldest: Mapping[float, list[Asked]]) -> list[Row]:
    every = [each for by_k in uniform.values() for found in by_k.values() for each in found]
    rows = [
        Row("searches for each subscription, any k", max(each.on_adding / each.additions for each in every), 1.0),
        *(
            Row(f"p = {p:g}: searches for each unsubscription, k = 1", _per_removal(by_k[1]), LEMMA, good="smaller")
            for p, by_k in uniform.items()
        ),
        *(
            Row(
                f"p = {p:g}: cost for k = 1 / cost for k = {k}",
                _quotient(by_k[1], by_k[k]),
                THEOREM,
                good="smaller",
            )
            for p, by_k in uniform.items()
            for k in KS[1:]
        ),
    ]
    single = [each.on_removing / each.removals for by_k in uniform.values() for each in by_k[1]]
    rows.append(Row("of all histories alone: most searches for each unsubscription, k = 1", max(single)))
    return rows + [
        Row(f"p = {p:g}, the oldest leaves: searches for each unsubscription, k = 1", _per_removal(found))
        for p, found in oldest.items()
    ]


EXPERIMENT: Final = Experiment(
    id="000-cost-bound",
    title="How often coverers are asked for",
    source="specs/000 §5, Lemma 1 and Theorem 1 (thesis L905-960)",
    setup="Boxes that come and go, in G_k; every search for coverers is counted.",
    run=run,
    grid="counted",
)
