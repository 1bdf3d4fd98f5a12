"""What telling costs the network: what the experiments of specs/003 §4 on traffic and stress have in common."""

from collections.abc import Iterable, Mapping, Sequence
from functools import cache
from typing import Final, NamedTuple, TypeAlias

import numpy as np

from tamis.lab.experiment import Figure, Row, Scale, Series, Table
from tamis.lab.workloads.draws import Floats, Ints
from tamis.lab.workloads.moving import TICKS
from tamis.simulation.content import ContentNetwork, Cost, Underlay, internet
from tamis.simulation.content.forest import CAPACITY, FILLED
from tamis.simulation.content.meter import ATTRIBUTE, HEADER

UNICAST, CN_LR, CN_C, CN_R, CN_LID, CN_R_LID = "unicast", "CN(lr)", "CN(c)", "CN(r)", "CN(lid)", "CN(r,lid)"
#: Which methods take part for which radii, and what finds out for them who is affected.
DIFFERENT: Final = ("radius-runs", (CN_R, UNICAST, CN_LR))
SAME: Final = ("label-tree", (CN_LID, UNICAST, CN_C, CN_LR))
ALL: Final = ("two-level", (CN_R_LID, UNICAST, CN_LR))
#: Brokers, and routers under them.
NETWORK: Final = {Scale.QUICK: (60, 300), Scale.FULL: (1_000, 20_000)}
#: How many entries a node of the network has: fewer where there are few subscriptions, so that it has nodes at all.
ENTRIES: Final = {Scale.QUICK: 16, Scale.FULL: CAPACITY}
#: Others that are tried.
OTHER_ENTRIES: Final = (16, 64, 256, 1_024)

#: Said on every page.
MODEL: Final = (
    "The network is a B-tree whose root is on the server and whose other nodes are on brokers; a message enters at the "
    "root and goes to every child whose keys it may concern. From node to node on another host it is one overlay hop. "
    "IP hops are those over the links of a power-law graph (instead of INET's), by shortest paths. Publishers' hops to "
    f"the network and brokers' to subscribers are not counted. [ours] A message has {HEADER} bytes and {ATTRIBUTE} for "
    "each attribute or id. Every event is really routed, and whom it reaches is compared with whom it affects: a "
    "difference would end the run."
)
ANEW: Final = (
    "CN(lr) and CN(c) register those affected anew: the leaves that an event reaches give them up and tell the root, "
    "and it sends a message for each end, or centre, to where that is from now on. The paper does not say who does it; "
    "its figures for stress are 2k + 1 and k + 1 for k affected subscriptions, which is only so if one node does it "
    "all. Splitting and joining nodes is counted. Stress is the number of messages that originate at a node, as in "
    "the paper; those that it only passes on are in the column 'sent'."
)
FITTED: Final = (
    f"Fitted, because the paper gives neither: a node has room for {CAPACITY} entries (4 KiB), and leaves are "
    f"{FILLED:.0%} full at the start. The paper has CN(lid) below 100 bytes for an event with up to 50,000 "
    "subscriptions. An event affects one in a hundred of them in the mean, and each leaf on its arc takes a message; "
    "so there cannot have been more than some 230 leaves, though there are 1,000 brokers. With nodes of 16 entries "
    "there are thousands."
)


class Telling(NamedTuple):
    """What a method took; arrays have an entry for each event or, with arrivals among them, for each operation."""

    hops: Ints
    bytes: Ints
    stress: Ints
    sent: Ints
    #: All hops over IP links.
    ip_hops: int

    @property
    def mean_bytes(self) -> float:
        """Bytes for an operation."""
        return float(self.bytes.mean())


#: Method -> what it took.
Tellings: TypeAlias = Mapping[str, Telling]
#: What a chart runs over -> that.
Swept: TypeAlias = Mapping[float, Tellings]


@cache
def underlay(scale: Scale, seed: int) -> Underlay:
    """Return the links under a server and all brokers."""
    brokers, routers = NETWORK[scale]
    return internet(routers, brokers + 1, seed)


def network(case: tuple[str, Sequence[str]], scale: Scale, entries: int | None = None) -> ContentNetwork:
    """Return a network without subscriptions."""
    server, methods = case
    return ContentNetwork(server, methods, NETWORK[scale][0], entries or ENTRIES[scale])


def in_ticks(values: Floats) -> Ints:
    """Return values on the grid of a quarter as whole ticks."""
    return np.rint(values * TICKS).astype(np.int64)


def told(
    net: ContentNetwork, values: Iterable[int], links: Underlay, coming: Mapping[int, Sequence[tuple[int, int]]] = {}
) -> dict[str, Telling]:
    """Let a value move; before event number n, those `coming[n]` subscribe, each a handle and a radius."""
    costs: dict[str, list[Cost]] = {name: [] for name in net.methods}
    for number, value in enumerate(values):
        for handle, radius in coming.get(number, ()):
            for name, cost in net.arrive(handle, radius).items():
                costs[name].append(cost)
        for name, cost in net.update(value).items():
            costs[name].append(cost)
    return {name: _telling(each, links.carry(net.methods[name].meter.trace).hops) for name, each in costs.items()}


def _telling(costs: Sequence[Cost], ip_hops: int) -> Telling:
    hops, sizes, stress, sent = np.array(costs, np.int64).reshape(-1, 4).T.copy()
    return Telling(hops, sizes, stress, sent, ip_hops)


def quotient_row(size: float, tellings: Tellings, more: str, less: str, paper: float | None = None) -> Row:
    """Return how many times the bytes of one method another one takes."""
    ratio = tellings[more].mean_bytes / tellings[less].mean_bytes
    return Row(f"{size:,} subscriptions: bytes, {more} / {less}", ratio, paper, good="order")


def order_row(swept: Swept, names: Sequence[str], full: bool, what: str = "sizes") -> Row:
    """Return at how many points methods come in an order by bytes, most first: the paper says at all of its scale."""
    held = 0
    for tellings in swept.values():
        means = [tellings[name].mean_bytes for name in names]
        held += means == sorted(means, reverse=True)
    label = f"{what}, of {len(swept)}, at which bytes are in the order {' > '.join(names)}"
    return Row(label, held, len(swept) if full else None, good="exact")


def figure(swept: Swept, x_label: str = "subscriptions", per: str = "event") -> Figure:
    """Draw the bytes of all methods."""
    names = next(iter(swept.values()))
    series = [
        Series(name, list(map(float, swept)), [tellings[name].mean_bytes for tellings in swept.values()])
        for name in names
    ]
    return Figure(x_label, f"bytes for an {per}", series, log_y=True)


def table(title: str, swept: Swept, first: str = "subscriptions") -> Table:
    """Return everything that was counted."""
    return Table(
        title,
        [f"{first}, method", "overlay hops", "IP hops", "bytes", "highest stress", "most sent"],
        [
            [
                f"{point:,}, {name}",
                float(each.hops.mean()),
                each.ip_hops / len(each.hops),
                each.mean_bytes,
                int(each.stress.max()),
                int(each.sent.max()),
            ]
            for point, tellings in swept.items()
            for name, each in tellings.items()
        ],
    )
