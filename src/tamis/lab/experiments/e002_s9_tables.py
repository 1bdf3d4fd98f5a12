"""How large are the tables of links and next hops? Figure 10.1.20 of the thesis (S9)."""

from typing import Final

import msgspec
import networkx as nx

from tamis.lab.experiment import Context, Experiment, Figure, Outcome, Row, Scale, Series, Table
from tamis.lab.overlays import DDBR, MERC, clustered, overlay, plain
from tamis.routing.packets import Links, Name

DEGREE: Final = 6.0
#: Clusters of MERC, with the thesis' bytes for a broker, at most.
PAPER: Final = {70: 5_000.0, 100: 11_000.0}
#: Brokers.
SIZES: Final[dict[Scale, tuple[int, ...]]] = {
    Scale.QUICK: (100, 200),
    Scale.FULL: (100, 200, 400, 600, 800, 1_000),
}
#: Brokers of the overlay in which a link is cut, for MERC in clusters of so many.
CUT: Final[dict[Scale, tuple[int, int]]] = {Scale.QUICK: (30, 10), Scale.FULL: (100, 20)}


def matrix(known: int) -> int:
    """Return the bytes of the thesis' tables: a matrix of links and a next hop of 8 bytes for each broker known."""
    return known * known + 8 * known


def ours(graph: "nx.Graph[Name]") -> float:
    """Return the bytes of our tables for one broker, as they are sent: rows of links, and next hops of 8 bytes."""
    rows = [Links(broker, 0, 1, 0, tuple(graph.adj[broker])) for broker in graph]
    return len(msgspec.msgpack.encode(rows)) + 8 * len(graph)


def updates(strategy: str, graph: "nx.Graph[Name]") -> int:
    """Return how many packets tell brokers of a link that has gone."""
    net = overlay(strategy, graph)
    net.run()
    before = net.metrics.sent_by_kind["LinkState"]
    one, other = next(iter(graph.edges(len(graph) - 1)))
    net.disconnect(one, other)
    net.run()
    return net.metrics.sent_by_kind["LinkState"] - before


def run(context: Context) -> Outcome:
    """Work out the tables of overlays of every size, and cut a link."""
    sizes = SIZES[context.scale]
    brokers, cluster = CUT[context.scale]
    context.progress(0, len(sizes) + 1)
    cut = {
        DDBR: updates(DDBR, plain(brokers, DEGREE, context.seed)),
        MERC: updates(MERC, clustered(brokers, brokers // cluster, DEGREE, context.seed)),
    }
    measured = {}
    for done, size in enumerate(sizes, 1):
        context.progress(done, len(sizes) + 1)
        measured[size] = ours(plain(size, DEGREE, context.seed))
    context.progress(len(sizes) + 1, len(sizes) + 1)
    x = [float(size) for size in sizes]
    in_clusters = {size: ours(plain(size, DEGREE, context.seed)) for size in PAPER}
    return Outcome(
        rows=[
            *(
                Row(f"MERC, clusters of {size}: n² + 8 n bytes", matrix(size), figure, "bytes", tolerance=0.1)
                for size, figure in PAPER.items()
            ),
            *(
                Row(f"MERC, clusters of {size}: our tables", in_clusters[size], figure, "bytes", "smaller")
                for size, figure in PAPER.items()
            ),
            *(
                Row(f"D-DBR, {size:,} brokers: our tables / n² + 8 n", measured[size] / matrix(size))
                for size in (min(sizes), max(sizes))
            ),
            Row(f"D-DBR, {brokers} brokers: packets that tell of a cut link", cut[DDBR], brokers),
            Row(
                f"MERC, {brokers} brokers in clusters of {cluster}: packets that tell of a cut link", cut[MERC], cluster
            ),
        ],
        figure=Figure(
            "brokers",
            "bytes of a broker's tables",
            [
                Series("D-DBR, n² + 8 n", x, [float(matrix(size)) for size in sizes]),
                Series("D-DBR, ours", x, list(measured.values())),
                *(Series(f"MERC, clusters of {size}, n² + 8 n", x, [float(matrix(size))] * len(x)) for size in PAPER),
            ],
            log_y=True,
        ),
        notes=[
            "The thesis' figures are by its formula, it seems: a byte for each pair of brokers and 8 for each next "
            "hop. A broker of MERC knows its cluster alone; an edge broker has such tables for each of its clusters.",
            f"Our tables are rows of links, not a matrix: their size as they are sent, for a mean degree of "
            f"{DEGREE:g}, and 8 bytes for each next hop. In memory Python takes more.",
            "A link that has gone: counted in the world. The thesis counts one message for each broker that knows; "
            "ours are flooded over all links, so that none is needed to know the way, and both ends tell.",
        ],
        tables=[
            Table(
                "Bytes of a broker's tables, D-DBR",
                ["brokers", "n² + 8 n", "ours"],
                [[f"{size:,}", matrix(size), each] for size, each in measured.items()],
            )
        ],
    )


EXPERIMENT: Final = Experiment(
    id="002-S9",
    title="Tables of links and next hops",
    source="specs/002 §9.2 S9, Figure 10.1.20 of the thesis",
    setup="What a broker keeps to find its way, by how many brokers it knows.",
    run=run,
)
