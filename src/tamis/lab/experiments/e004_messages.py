"""How many messages do the classic strategies send for subscriptions? Eq. 2.52 to 2.54 of the thesis (specs/004 §3)."""

import itertools
from collections.abc import Mapping, Sequence
from random import Random
from statistics import fmean
from typing import Any, Final, NamedTuple, TypeAlias

import msgspec
import networkx as nx

import tamis
from tamis.lab.experiment import Context, Experiment, Figure, Outcome, Row, Scale, Series, Table
from tamis.lab.workloads import XSiena, generate
from tamis.routing.packets import Adverts, Filters, Name, Subscriptions
from tamis.simulation.topologies import random_tree

#: [ours] Brokers of a random tree, filters, and trees of each size; the thesis counts and does not measure.
BROKERS: Final = {Scale.QUICK: (5, 10), Scale.FULL: (10, 30, 60)}
FILTERS: Final = {Scale.QUICK: 40, Scale.FULL: 300}
TREES: Final = {Scale.QUICK: 2, Scale.FULL: 3}
EVENTS: Final = {Scale.QUICK: 20, Scale.FULL: 100}
#: How many publishers advertise, each at another broker.
PUBLISHERS: Final = (1, 2, 5)
#: Few names and values, so that filters are equal or cover each other; and so many that no two are equal.
ALIKE: Final = XSiena(
    fewest_predicates=1,
    most_predicates=2,
    fewest_pairs=4,
    most_pairs=8,
    names=8,
    name_law="pareto",
    least_value=0,
    greatest_value=10,
)
DISTINCT: Final = msgspec.structs.replace(ALIKE, greatest_value=1_000_000)
#: Strategies that advertise nothing, as they are called here.
STRATEGIES: Final = ("simple", "identity", "covering")
_CONTROL: Final = tuple(kind.__name__ for kind in (Subscriptions, Filters))


class Plan(NamedTuple):
    """A tree of brokers, and who subscribes and publishes where."""

    tree: "nx.Graph[Name]"
    homes: list[int]
    filters: list[str]
    events: list[dict[str, Any]]
    adverts: list[str]
    #: The brokers of the publishers, each another.
    sources: list[int]


class Sent(NamedTuple):
    """Messages for all filters as they come and as they go, filters that a broker keeps, and what events missed."""

    coming: int
    going: int
    stored: float
    missed: int


class Advertised(NamedTuple):
    """Messages with advertisements: for these, for filters, and what is expected of the latter."""

    adverts: int
    filters: int
    #: The links between a filter's broker and those of publishers whom it may concern, for all filters.
    links: int
    #: Eq. 2.53: the diameter for each filter that may concern some publisher.
    estimate: int


#: Brokers -> a figure of each tree, by strategy; and by the number of publishers.
Plain: TypeAlias = Mapping[int, Mapping[str, list[Sent]]]
WithAdverts: TypeAlias = Mapping[int, Mapping[int, list[Advertised]]]


def run(context: Context) -> Outcome:
    """Let clients subscribe, one after the other, on random trees, and count what is sent."""
    brokers, trees = BROKERS[context.scale], TREES[context.scale]
    plain: dict[int, dict[str, list[Sent]]] = {n: {name: [] for name in STRATEGIES} for n in brokers}
    advertised: dict[int, dict[int, list[Advertised]]] = {n: {count: [] for count in PUBLISHERS} for n in brokers}
    points = [(n, context.scale, seed) for n in brokers for seed in range(context.seed, context.seed + trees)]
    for (n, *_), (sent, by_count) in zip(points, context.each(_on_tree, points), strict=True):
        for name, one in sent.items():
            plain[n][name].append(one)
        for count, each in by_count.items():
            advertised[n][count].append(each)
    filters = FILTERS[context.scale]
    return Outcome(
        rows=_rows(plain, advertised, filters),
        figure=Figure("brokers", "messages", _series(plain, advertised)),
        notes=_notes(context.scale, filters),
        tables=[_plain(plain, filters), _with_adverts(advertised)],
    )


def _on_tree(brokers: int, scale: Scale, seed: int) -> tuple[dict[str, Sent], dict[int, Advertised]]:
    alike, distinct = (_plan(spec, brokers, scale, seed) for spec in (ALIKE, DISTINCT))
    return (
        {name: _sent(alike, name, seed) for name in STRATEGIES},
        {count: _advertised(distinct, count, seed) for count in PUBLISHERS},
    )


def _plan(spec: XSiena, brokers: int, scale: Scale, seed: int) -> Plan:
    count, publishers = FILTERS[scale], max(PUBLISHERS)
    workload = generate(msgspec.structs.replace(spec, subscriptions=count + publishers, events=EVENTS[scale]), seed)
    texts = [str(text) for text in workload.conditions.texts().to_pylist()]
    random = Random(seed)  # noqa: S311 - no secret
    return Plan(
        tree=random_tree(brokers, seed),
        homes=[random.randrange(brokers) for _ in range(count)],
        filters=texts[:count],
        events=list(workload.events.rows()),
        adverts=texts[count:],
        sources=random.sample(range(brokers), publishers),
    )


def _sent(plan: Plan, strategy: str, seed: int) -> Sent:
    """Let all subscribe, publish events, and let all leave, in random order."""
    net = tamis.Overlay(plan.tree, routing=strategy, seed=seed)
    _subscribe(net, plan)
    coming = _messages(net, _CONTROL)
    stored = fmean(net.stored().values())
    random = Random(seed)  # noqa: S311 - no secret
    for event in plan.events:
        net.publish(random.randrange(len(plan.tree)), event)
    net.run()
    missed = len(net.missing())
    clients = list(range(len(plan.filters)))
    random.shuffle(clients)
    for client in clients:
        net.unsubscribe(plan.homes[client], client, plan.filters[client])
        net.run()
    return Sent(coming, _messages(net, _CONTROL) - coming, stored, missed)


def _subscribe(net: tamis.Overlay, plan: Plan) -> None:
    for client, (home, text) in enumerate(zip(plan.homes, plan.filters, strict=True)):
        net.subscribe(home, client, text)
        net.run()


def _messages(net: tamis.Overlay, kinds: Sequence[str]) -> int:
    return sum(net.metrics.sent_by_kind[kind] for kind in kinds)


def _advertised(plan: Plan, publishers: int, seed: int) -> Advertised:
    """Let publishers advertise, then all subscribe."""
    adverts = dict(zip(plan.sources[:publishers], plan.adverts, strict=False))
    net = tamis.Overlay(plan.tree, routing="advertisement", seed=seed, trees=False, intersection="thesis")
    for source, advert in adverts.items():
        net.advertise(source, "publisher" + str(source), advert)
        net.run()
    _subscribe(net, plan)
    concerned = [
        [source for source, advert in adverts.items() if tamis.intersects(advert, text, mode="thesis")]
        for text in plan.filters
    ]
    ways = dict(nx.all_pairs_shortest_path(plan.tree))
    return Advertised(
        adverts=_messages(net, (Adverts.__name__,)),
        filters=_messages(net, (Filters.__name__,)),
        links=sum(
            len({frozenset(link) for source in sources for link in itertools.pairwise(ways[home][source])})
            for home, sources in zip(plan.homes, concerned, strict=True)
        ),
        estimate=nx.diameter(plan.tree) * sum(map(bool, concerned)),
    )


def _rows(plain: Plain, advertised: WithAdverts, filters: int) -> list[Row]:
    rows = []
    for n, by_name in plain.items():
        expected = (n - 1) * filters
        rows += [
            Row(f"{n} brokers: simple, messages", _coming(by_name["simple"]), expected, good="exact"),
            *(Row(f"{n} brokers: {name} / simple", _coming(by_name[name]) / expected) for name in STRATEGIES[1:]),
        ]
    pairs = [
        (more.coming, fewer.coming)
        for by_name in plain.values()
        for one, other in itertools.pairwise(STRATEGIES)
        for more, fewer in zip(by_name[one], by_name[other], strict=True)
    ]
    rows.append(
        Row(
            f"of {len(pairs)} cases, identity <= simple and covering <= identity in",
            sum(fewer <= more for more, fewer in pairs),
            len(pairs),
            good="exact",
        )
    )
    every = [each for by_name in plain.values() for found in by_name.values() for each in found]
    rows.append(Row("deliveries that are missing", sum(each.missed for each in every), 0, good="exact"))
    found = [
        (n, count, each) for n, by_count in advertised.items() for count, all_ in by_count.items() for each in all_
    ]
    rows += [
        Row(
            f"of {len(found)} cases with advertisements, (N - 1) messages for each of these in",
            sum(each.adverts == (n - 1) * count for n, count, each in found),
            len(found),
            good="exact",
        ),
        Row(
            f"of {len(found)} cases, a message for each link towards a publisher that a filter may concern in",
            sum(each.filters == each.links for _, _, each in found),
            len(found),
            good="exact",
        ),
        Row(
            f"of {len(found)} cases, more messages than Eq. 2.53 says in",
            sum(each.filters > each.estimate for _, _, each in found),
            0,
            good="exact",
        ),
    ]
    largest = max(advertised)
    return rows + [
        Row(
            f"{largest} brokers, {count} publisher{'s' if count > 1 else ''}: messages for filters / Eq. 2.53",
            sum(each.filters for each in all_) / max(1, sum(each.estimate for each in all_)),
        )
        for count, all_ in advertised[largest].items()
    ]


def _coming(found: Sequence[Sent]) -> float:
    return fmean(each.coming for each in found)


def _series(plain: Plain, advertised: WithAdverts) -> list[Series]:
    x = [float(n) for n in plain]
    return [
        *(
            Series(name, x, [_coming(by_name[name]) for by_name in plain.values()], "filters alike")
            for name in STRATEGIES
        ),
        *(
            Series(
                f"{count} publisher{'s' if count > 1 else ''}{name}",
                x,
                [fmean(getattr(each, what) for each in by_count[count]) for by_count in advertised.values()],
                "filters distinct, advertised",
            )
            for count in PUBLISHERS
            for what, name in (("filters", ""), ("estimate", ", Eq. 2.53"))
        ),
    ]


def _notes(scale: Scale, filters: int) -> list[str]:
    return [
        f"{filters:,} filters of as many clients at random brokers, one after the other; {TREES[scale]} random trees "
        "of each size, of which the tables have the means. Messages are packets between brokers, counted by the "
        "simulator.",
        "Eq. 2.52 is printed as N times the filters less one; on a tree of N brokers it is N - 1 times the filters "
        "(specs/004 §3), and so it comes out. The same goes for advertisements (Eq. 2.54).",
        "Strategies without advertisements have filters with few names and values, so that there are equal ones and "
        f"coverers. {EVENTS[scale]} events are published in between, all of which arrive. As clients leave, covering "
        "has to send what was kept back, in the same messages that take filters away.",
        "With advertisements all filters differ, so that equal ones save nothing and the count is that of simple "
        "routing with advertisements. Whether a filter may concern a publisher is decided as the thesis prints it "
        "(Eq. 2.39).",
        "Eq. 2.53 is called a worst case in the thesis. With one publisher it is: no way is longer than the diameter. "
        "With several, a filter follows all ways to them, which together may be longer: an estimate, no bound.",
    ]


def _plain(plain: Plain, filters: int) -> Table:
    return Table(
        "Filters alike: messages, mean of all trees",
        ["brokers, strategy", "(N - 1) x filters", "as they come", "as they go", "filters that a broker keeps"],
        [
            [
                f"{n}, {name}",
                (n - 1) * filters,
                _coming(found),
                fmean(each.going for each in found),
                fmean(each.stored for each in found),
            ]
            for n, by_name in plain.items()
            for name, found in by_name.items()
        ],
    )


def _with_adverts(advertised: WithAdverts) -> Table:
    return Table(
        "Filters distinct, with advertisements: messages, mean of all trees",
        ["brokers, publishers", "advertisements", "filters", "links towards publishers", "Eq. 2.53"],
        [
            [f"{n}, {count}", *(fmean(values) for values in zip(*found, strict=True))]
            for n, by_count in advertised.items()
            for count, found in by_count.items()
        ],
    )


EXPERIMENT: Final = Experiment(
    id="004-messages",
    title="Messages for subscriptions",
    source="specs/004 §3, Eq. 2.52 to 2.54 (thesis L1684-1722)",
    setup="Clients of a random tree of brokers subscribe, and leave again, with simple, identity-based, covering-based "
    "and advertisement-based routing.",
    run=run,
    grid="counted",
)
