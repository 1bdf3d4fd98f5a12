"""Brokers in a tree that know of each other's subscriptions only by runs (specs/001 §4, 11).

Every broker has a table of its own clients. For each neighbour it counts what its own table and the other
neighbours cover; what comes to be covered, or is covered no more, goes on to that neighbour.
"""

from dataclasses import dataclass, field
from typing import Any, Literal

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from tamis.covering.ranges import ContentSpace, RangeTable
from tamis.geometry import curve
from tamis.geometry.countmap import CountMap
from tamis.geometry.leaves import Runs
from tamis.geometry.runset import RunSet

SIDE = 8
Box = tuple[list[int], list[int]]
Sign = Literal["+", "-"]


@dataclass
class Broker:
    """One broker: its clients' boxes, what its neighbours cover, and what it covers for each of them."""

    table: RangeTable
    clients: dict[int, Box] = field(default_factory=dict)
    heard: dict[int, RunSet] = field(default_factory=dict)
    told: dict[int, CountMap] = field(default_factory=dict)


class Tree:
    """Brokers 0, 1, 2, …; broker n hangs below `parents[n - 1]`, which is an earlier one."""

    def __init__(self, parents: list[int], theta: int, max_runs: int | None) -> None:
        self.space = ContentSpace(curve("hilbert", 2, 3), max_runs=max_runs, node_cap=max_runs and 6)
        self.brokers = [Broker(RangeTable(self.space, theta)) for _ in range(len(parents) + 1)]
        for child, parent in enumerate(parents, start=1):
            for here, there in ((child, parent), (parent, child)):
                self.brokers[here].heard[there] = RunSet()
                self.brokers[here].told[there] = CountMap()

    def subscribe(self, broker: int, client: int, box: Box) -> None:
        self.brokers[broker].clients[client] = box
        self.spread(broker, None, "+", self.brokers[broker].table.add(client, *box))

    def unsubscribe(self, broker: int, client: int) -> None:
        del self.brokers[broker].clients[client]
        self.spread(broker, None, "-", self.brokers[broker].table.remove(client))

    def spread(self, here: int, origin: int | None, sign: Sign, runs: Runs) -> None:
        """Let all neighbours but one know what they must, and these theirs."""
        for there, counts in self.brokers[here].told.items():
            if there == origin or not len(runs[0]):
                continue
            news = counts.add(*runs) if sign == "+" else counts.remove(*runs)
            heard = self.brokers[there].heard[here]
            if sign == "+":
                heard.insert(*news)
            else:
                heard.cut(*news)
            self.spread(there, here, sign, news)

    def publish(self, here: int, point: list[int], origin: int | None = None) -> list[int]:
        """Return which clients a publication reaches, each as often as it does."""
        (key,) = self.space.keys([point]).tolist()
        broker = self.brokers[here]
        found = [client for client, (low, high) in broker.clients.items() if _inside(low, point, high)]
        for there, runs in broker.heard.items():
            if there != origin and runs.match(key):
                found += self.publish(there, point, here)
        return found


def _inside(low: list[int], point: list[int], high: list[int]) -> bool:
    return all(a <= x <= b for a, x, b in zip(low, point, high, strict=True))


_cells = st.integers(0, SIDE - 1)
_sides = st.tuples(_cells, _cells).map(sorted)


@pytest.mark.parametrize(("theta", "max_runs"), [(1, None), (4, None), (1, 2), (4, 2)])
@settings(max_examples=60, deadline=None)
@given(data=st.data())
def test_every_client_gets_exactly_its_matches_once(theta: int, max_runs: int | None, data: st.DataObject) -> None:
    size = data.draw(st.integers(1, 6))
    tree = Tree([data.draw(st.integers(0, child - 1)) for child in range(1, size)], theta, max_runs)
    anywhere = st.integers(0, size - 1)
    homes: dict[int, int] = {}
    boxes: dict[int, Box] = {}
    for client in range(data.draw(st.integers(1, 12))):
        leaves: bool = data.draw(st.booleans())
        if homes and leaves:
            gone = data.draw(st.sampled_from(sorted(homes)))
            tree.unsubscribe(homes.pop(gone), gone)
            del boxes[gone]
        sides: Any = [data.draw(_sides) for _ in range(2)]
        homes[client], boxes[client] = data.draw(anywhere), ([low for low, _ in sides], [high for _, high in sides])
        tree.subscribe(homes[client], client, boxes[client])
        for _ in range(3):
            point = [data.draw(_cells), data.draw(_cells)]
            expected = [each for each, (low, high) in boxes.items() if _inside(low, point, high)]
            assert sorted(tree.publish(data.draw(anywhere), point)) == sorted(expected)
    for each, home in homes.items():
        tree.unsubscribe(home, each)
    assert all(len(runs) == 0 for broker in tree.brokers for runs in broker.heard.values()), "nothing is left behind"
