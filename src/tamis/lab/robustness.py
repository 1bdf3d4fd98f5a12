"""What still arrives when brokers or links fail? What 002-S7 and 002-S8 have in common (specs/002 §9.2)."""

from collections.abc import Callable
from statistics import fmean, stdev
from typing import Final, Literal, TypeAlias

import msgspec
import networkx as nx
import numpy as np

from tamis.lab.experiment import Context, Figure, Outcome, Row, Scale, Series, Table
from tamis.lab.overlays import DDBR, FBR, overlay, plain
from tamis.routing.packets import Name

DEGREE: Final = 6.0
#: What fails.
Failing: TypeAlias = Literal["brokers", "links"]
#: The share of which the thesis has figures.
NAMED: Final = 0.5
#: Brokers, shares that fail, and graphs for each.
SIZES: Final[dict[Scale, tuple[int, tuple[float, ...], int]]] = {
    Scale.QUICK: (30, (0.5,), 2),
    Scale.FULL: (100, (0.3, 0.5, 0.7), 1),
}
#: Graphs for the share of which the thesis has figures, and of each kind of which only connections are looked at.
GRAPHS: Final = {Scale.QUICK: 2, Scale.FULL: 100}
MORE_GRAPHS: Final = 100
#: The kind of graph that the other experiments use.
PLAIN: Final = "tree and random links"
#: Seconds between heartbeats, and until events are published after everything failed.
HEARTBEAT: Final = 1.0
NOTICED: Final = 20.0
BROKERS: Final = 100


#: How fast the chance of a link falls with distance in the graphs of Waxman, as a share of the largest distance; the
#: one that is used, and some others.
DECAY: Final = 0.2
DECAYS: Final = (0.1, 0.15, DECAY, 0.4)


class Delivered(msgspec.Struct, frozen=True):
    """What arrived on one graph, in per cent of all pairs of a publisher and a subscriber, dead ones included."""

    ddbr: float
    fbr: float
    #: Pairs that are connected among those that survive.
    connected: float


def failed(graph: "nx.Graph[Name]", failing: Failing, share: float, seed: int) -> "nx.Graph[Name]":
    """Return what is left of an overlay if brokers or links fail by chance."""
    rng = np.random.default_rng(seed)
    left = graph.copy()
    if failing == "brokers":
        gone = rng.permutation(len(graph))[: round(share * len(graph))]
        left.remove_nodes_from([list(graph)[each] for each in gone])
    else:
        links = list(graph.edges)
        left.remove_edges_from([links[each] for each in rng.permutation(len(links))[: round(share * len(links))]])
    return left


def connected(left: "nx.Graph[Name]", brokers: int) -> float:
    """Return the share of pairs, a broker with itself included, between which there is a way, in per cent."""
    return 100 * sum(len(part) ** 2 for part in nx.connected_components(left)) / brokers**2


def waxman(brokers: int, degree: float, decay: float, seed: int) -> "nx.Graph[Name]":
    """Return a connected graph with this mean degree whose links are rather short: the flat random graphs of GT-ITM."""
    rng = np.random.default_rng(seed)
    one, other = np.triu_indices(brokers, 1)
    while True:
        places = rng.random((brokers, 2))
        chances = np.exp(-np.hypot(*(places[one] - places[other]).T) / (decay * np.sqrt(2)))
        chosen = rng.choice(len(one), round(brokers * degree / 2), replace=False, p=chances / chances.sum())
        graph: nx.Graph[Name] = nx.Graph()
        graph.add_nodes_from(range(brokers))
        graph.add_edges_from(zip(one[chosen].tolist(), other[chosen].tolist(), strict=True))
        if nx.is_connected(graph):
            return graph


def survived(failing: Failing, brokers: int, first: int) -> dict[str, list[float]]:
    """Return which share of pairs stays connected when half fails, on many graphs of several kinds."""
    kinds: dict[str, Callable[[int], nx.Graph[Name]]] = {PLAIN: lambda seed: plain(brokers, DEGREE, seed)}
    for decay in DECAYS:
        kinds[_waxman(decay)] = lambda seed, decay=decay: waxman(brokers, DEGREE, decay, seed)  # type: ignore[misc]
    return {
        kind: [
            connected(failed(make(seed), failing, NAMED, seed), brokers) for seed in range(first, first + MORE_GRAPHS)
        ]
        for kind, make in kinds.items()
    }


def _waxman(decay: float) -> str:
    return f"Waxman, {decay:g}"


def arrived(strategy: str, graph: "nx.Graph[Name]", left: "nx.Graph[Name]") -> float:
    """Let brokers or links fail, and every publisher publish; return what arrived, in per cent of all pairs.

    They fail in silence: only who misses heartbeats notices.
    """
    net = overlay(strategy, graph, heartbeat=HEARTBEAT)
    for broker in graph:
        net.subscribe(broker, f"subscriber {broker}", "number >= 0")
    net.run()
    for broker in graph:
        net.advertise(broker, f"publisher {broker}", "number >= 0")
    net.run()
    for one, other in graph.edges:
        if one in left and other in left and not left.has_edge(one, other):
            net.disconnect(one, other, silent=True)
    for broker in set(graph) - set(left):
        net.crash(broker, silent=True)
    net.run(until=net.now + NOTICED)
    for broker in left:
        net.publish(broker, {"number": 1}, f"publisher {broker}")
    net.run(until=net.now + NOTICED)
    return 100 * net.metrics.deliveries / len(graph) ** 2


def suffered(failing: Failing, context: Context) -> dict[float, list[Delivered]]:
    """Let both strategies suffer the same, on several graphs and for several shares."""
    brokers, shares, graphs = SIZES[context.scale]
    points = [
        (failing, brokers, share, seed)
        for share in shares
        for seed in range(context.seed, context.seed + (GRAPHS[context.scale] if share == NAMED else graphs))
    ]
    found: dict[float, list[Delivered]] = {share: [] for share in shares}
    for (_, _, share, _), delivered in zip(points, context.each(_delivered, points), strict=True):
        found[share].append(delivered)
    return found


def _delivered(failing: Failing, brokers: int, share: float, seed: int) -> Delivered:
    graph = waxman(brokers, DEGREE, DECAY, seed)
    left = failed(graph, failing, share, seed)
    return Delivered(arrived(DDBR, graph, left), arrived(FBR, graph, left), connected(left, brokers))


def outcome(
    failing: Failing, scale: Scale, seed: int, found: dict[float, list[Delivered]], paper: tuple[float, float]
) -> Outcome:
    """Set what arrived beside the thesis."""
    brokers, *_ = SIZES[scale]
    half = found[NAMED]
    by_kind = survived(failing, brokers, seed)
    others = [fmean(shares) for kind, shares in by_kind.items() if kind != PLAIN]
    ours, theirs = [each.ddbr for each in half], [each.fbr for each in half]
    papers = paper if brokers == BROKERS else (None, None)
    what = f"{brokers} brokers, {NAMED:.0%} of {failing} failed"
    gap = abs(fmean(ours) - paper[0])
    return Outcome(
        rows=[
            Row(f"{what}: delivered, D-DBR", fmean(ours), papers[0], "%"),
            Row(f"{what}: delivered, FBR", fmean(theirs), papers[1], "%"),
            Row(f"{what}: deliveries of D-DBR / connected pairs", sum(ours) / sum(each.connected for each in half)),
        ],
        figure=Figure(
            f"{failing} failed, %",
            "delivered, %",
            [
                Series(
                    name,
                    [100 * share for share in found],
                    [fmean(getattr(each, field) for each in those) for those in found.values()],
                )
                for name, field in (("D-DBR", "ddbr"), ("FBR", "fbr"))
            ],
        ),
        notes=[
            f"{brokers} brokers in flat random graphs of Waxman with a mean degree of {DEGREE:g}, a kind that GT-ITM "
            "makes; a publisher and a subscriber at each, every event is for all. Of all pairs of a publisher and a "
            "subscriber, dead ones included, the share whose event arrives.",
            f"Both strategies run in the world. What fails does so in silence, {NOTICED:g} s before events are "
            f"published: D-DBR misses heartbeats (one every {HEARTBEAT:g} s) and finds new ways; FBR has none, and "
            "goes on along its trees, as in the thesis. (Told of failures, our FBR plants its trees anew.)",
            f"At {NAMED:.0%}, {len(half)} graphs: D-DBR {min(ours):.1f} to {max(ours):.1f} %, standard deviation "
            f"{stdev(ours):.1f}; FBR {min(theirs):.1f} to {max(theirs):.1f} %, standard deviation {stdev(theirs):.1f}. "
            f"The thesis has one graph, by GT-ITM; its figure for D-DBR is {gap:.1f} percentage points from our mean.",
            "D-DBR delivers to whomever a way leads.",
            "[ours] The thesis took graphs of GT-ITM and does not say of which kind. We first took random trees with "
            f"random links, as the other experiments do: there {fmean(by_kind[PLAIN]):.1f} % of pairs stay connected. "
            "Waxman's graphs were tried after that, and kept because they are that generator's own; how short their "
            f"links are matters little, means are {min(others):.1f} to {max(others):.1f} %. Mean distances, on which "
            "the other experiments depend, are the same in both kinds.",
        ],
        tables=[
            Table(
                "Delivered, % of all pairs",
                [f"{failing} failed, graph", "D-DBR", "FBR", "connected pairs"],
                [
                    [f"{share:.0%}, {number}", each.ddbr, each.fbr, each.connected]
                    for share, those in found.items()
                    for number, each in enumerate(those, seed)
                ],
            ),
            Table(
                f"Connected pairs, %, when {NAMED:.0%} of {failing} have failed: {MORE_GRAPHS} graphs of each kind",
                ["kind of graph", "mean", "standard deviation"],
                [[kind, fmean(shares), stdev(shares)] for kind, shares in by_kind.items()],
            ),
        ],
    )
