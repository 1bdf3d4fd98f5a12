"""From any state to the right one: rounds against the diameter (specs/000 §7, Theorem 5 of Shen's thesis)."""

from collections import defaultdict
from random import Random
from typing import Final, Literal, get_args

import msgspec
import networkx as nx

from tamis.healing import Healing, Stabilise, broker_of
from tamis.healing.legality import globally_illegal, locally_illegal, spoilt
from tamis.healing.spoiling import spoil
from tamis.healing.stabilise import mendable
from tamis.lab.experiment import Context, Experiment, Figure, Outcome, Row, Scale, Series, Table
from tamis.routing.packets import AnyPacket, Held, Name, Observe
from tamis.simulation import Overlay
from tamis.simulation.observer import Observer
from tamis.simulation.topologies import graph_of

Exchange = Literal["full", "sketch"]
EXCHANGES: Final[tuple[Exchange, ...]] = get_args(Exchange)
#: Trees, and brokers in the largest.
SIZES: Final[dict[Scale, tuple[int, int]]] = {Scale.QUICK: (15, 12), Scale.FULL: (300, 20)}
#: Subscriptions for each broker, of so many different ones.
SUBSCRIPTIONS: Final = 2
DIFFERENT: Final = 60
EVERY: Final = 1.0
#: A round has come to its end so many seconds after it has begun.
EXCHANGE: Final = 0.05
#: Entries of the table whose exchange is measured, and bytes of an entry (L1636).
ENTRIES: Final = 1_000
BYTES: Final = 50


class Healed(msgspec.Struct, frozen=True):
    """What it took for one overlay to become right."""

    diameter: int
    rounds: int
    #: Corrections until it was right, and afterwards.
    corrections: int
    needless: int


class Bytes(Observer):
    """Counts the bytes, as they would be on the wire, of broker 0 observing and the others answering."""

    def __init__(self) -> None:
        self.total = 0

    def sent(self, now: float, broker: Name, neighbour: Name, packet: AnyPacket) -> None:  # noqa: ARG002
        if isinstance(packet, Held if broker else Observe):
            self.total += len(msgspec.msgpack.encode(packet))


def run(context: Context) -> Outcome:
    """Spoil all brokers of many trees, with both kinds of exchange."""
    trees, most = SIZES[context.scale]
    found: dict[Exchange, list[Healed]] = {exchange: [] for exchange in EXCHANGES}
    points = [(exchange, most, context.seed * trees + tree) for tree in range(trees) for exchange in EXCHANGES]
    for (exchange, *_), healed in zip(points, context.each(heal, points), strict=True):
        found[exchange].append(healed)
    sizes = {exchange: exchanged(exchange) for exchange in EXCHANGES}
    series = [_most(f"{exchange}, most", healed) for exchange, healed in found.items()]
    diameters = sorted({each.diameter for healed in found.values() for each in healed})
    return Outcome(
        rows=[
            *(
                Row(f"{name}: rounds / diameter, most", max(_ratios(healed)), 1.0, good="smaller")
                for name, healed in found.items()
            ),
            *(Row(f"{name}: rounds / diameter, mean", _mean(_ratios(healed))) for name, healed in found.items()),
            *(
                Row(f"{name}: corrections once all was right", sum(each.needless for each in healed), 0, good="exact")
                for name, healed in found.items()
            ),
            Row(
                f"bytes of an exchange, {ENTRIES:,} entries that are right: full / sketch",
                sizes["full"] / sizes["sketch"],
                100,
                tolerance=0.1,
            ),
        ],
        figure=Figure(
            "diameter",
            "rounds",
            [Series("diameter", [float(each) for each in diameters], [float(each) for each in diameters]), *series],
        ),
        tables=[
            Table(
                "Trees whose brokers were all spoilt",
                ["exchange", "trees", "largest diameter", "rounds, mean", "corrections, mean", "bytes, one direction"],
                [
                    [
                        name,
                        trees,
                        max(each.diameter for each in healed),
                        _mean([each.rounds for each in healed]),
                        _mean([each.corrections for each in healed]),
                        sizes[name],
                    ]
                    for name, healed in found.items()
                ],
            )
        ],
        notes=[
            "A sketch has 4 bits for each item, of which an item sets 2, and a digest of 8 bytes. By bits alone a "
            "round may miss a difference, and the theorem holds with some probability only (000-sketch-error).",
            "Tables, and what is derived from them, are spoilt at every broker; `identity` routing. The tests do "
            "the same with all strategies that have a table for each neighbour, and with garbage on links.",
            "While all is right, a sketch is not answered; the full exchange takes a question and an answer.",
        ],
    )


def heal(exchange: Exchange, most: int, seed: int) -> Healed:
    """Spoil the brokers of one tree, and count rounds until every table is right."""
    random = Random(seed)  # noqa: S311 - to be repeated
    stabilise = Stabilise(every=EVERY, exchange=exchange)
    net = Overlay(_tree(random, most), "identity", healing=Healing(stabilise=stabilise), seed=seed)
    brokers = net.brokers
    for number in range(SUBSCRIPTIONS * len(brokers)):
        net.subscribe(random.choice(brokers), f"c{number}", f"x = {random.randrange(DIFFERENT)}")
    net.run()
    # Rounds begin at full seconds.
    net.run(until=int(net.now) + 0.5)
    items = [f"x = {number}" for number in range(2 * DIFFERENT)]
    for machine in net.machines.values():
        spoil(machine, random, items)
    rounds = 0
    while _is_wrong(net):
        net.run(until=int(net.now) + EVERY + EXCHANGE)
        rounds += 1
    corrections = net.metrics.total("corrections")
    net.run(until=net.now + 3 * EVERY)
    if _is_wrong(net):
        raise RuntimeError(f"seed {seed}: tables were right and are wrong again")
    needless = net.metrics.total("corrections") - corrections
    return Healed(nx.diameter(net.graph), rounds, int(corrections), int(needless))


def exchanged(exchange: Exchange) -> float:
    """Return the bytes of one exchange over a link about a table that is right, in one direction."""
    net = Overlay((2, [(0, 1)]), "identity", healing=Healing(stabilise=Stabilise(every=EVERY, exchange=exchange)))
    for number in range(ENTRIES):
        text = f"name = '{number}"
        net.subscribe(0, "client", text.ljust(BYTES - 1, "-") + "'")
    net.run()
    counted = Bytes()
    net.watch(counted)
    net.run(until=EVERY + EXCHANGE)
    assert len(mendable(net.machines[1]).held(0)) == ENTRIES
    assert broker_of(net.machines[0]).stored() == ENTRIES
    return float(counted.total)


def _tree(random: Random, most: int) -> "nx.Graph[Name]":
    """Return a tree of any shape from a line to a star."""
    count = random.randint(2, most)
    reach = random.choice((1, 2, 4, most))
    return graph_of(
        (count, ((number, random.randint(max(0, number - reach), number - 1)) for number in range(1, count)))
    )


def _is_wrong(net: Overlay) -> bool:
    return bool(spoilt(net.machines) or locally_illegal(net.machines) or globally_illegal(net.machines))


def _most(name: str, healed: list[Healed]) -> Series:
    by_diameter: defaultdict[int, list[int]] = defaultdict(list)
    for each in healed:
        by_diameter[each.diameter].append(each.rounds)
    x = sorted(by_diameter)
    return Series(name, [float(each) for each in x], [float(max(by_diameter[each])) for each in x])


def _ratios(healed: list[Healed]) -> list[float]:
    return [each.rounds / each.diameter for each in healed]


def _mean(figures: list[int] | list[float]) -> float:
    return sum(figures) / len(figures)


EXPERIMENT: Final = Experiment(
    id="000-stabilise",
    title="From any state to the right one",
    source="specs/000 §7 and §8, Theorem 5 of the thesis (L1475-1616)",
    setup="All tables of a tree of brokers become garbage; brokers observe and correct each other in rounds.",
    run=run,
    grid="counted",
)
