"""Destination-based routing with leases: refreshes are numbered, ends are silent."""

from typing import Any

import networkx as nx
import pytest

from tamis.healing import broker_of
from tamis.routing.destinations.leased import LeasedMatching
from tamis.routing.leasable import Row
from tamis.routing.messages import Arrived, Send
from tamis.routing.packets import Offered, Snapshot, Wanted
from tamis.simulation import Overlay


@pytest.fixture
def net() -> Overlay:
    """Alice at 0 wants what bob at 2 offers."""
    made = Overlay(nx.path_graph(3), "ddbr")
    made.advertise(2, "bob", "x > 0")
    made.subscribe(0, "alice", "x > 3")
    made.run()
    return made


def broker(net: Overlay, name: int) -> LeasedMatching:
    made = broker_of(net.machines[name])
    assert isinstance(made, LeasedMatching)
    return made


WANTED = Row("broker", ("everybody", 0), "x > 3")
OFFERED = Row("broker", ("everybody", 2), "@advert x > 0")


def test_rows(net: Overlay) -> None:
    assert list(broker(net, 0).rows()) == [Row("client", "alice", "x > 3"), OFFERED]
    assert list(broker(net, 1).rows()) == [OFFERED]
    assert list(broker(net, 2).rows()) == [Row("advert", "bob", "x > 0"), WANTED]
    assert broker(net, 0).holds(OFFERED)
    assert broker(net, 2).holds(WANTED)
    assert not broker(net, 0).holds(WANTED)
    assert not broker(net, 0).holds(Row("broker", ("nowhere", 2), "x > 0"))


def sent(actions: list[Any]) -> list[Any]:
    return [each.packet for each in actions if isinstance(each, Send)]


def test_a_refresh_is_a_change_that_changes_nothing(net: Overlay) -> None:
    (wanted,) = sent(broker(net, 0).retell(Row("client", "alice", "x > 3")))
    assert isinstance(wanted, Wanted)
    assert (wanted.destinations, wanted.remove, wanted.add) == ((2,), (), ("x > 3",))
    assert broker(net, 2).spoken(Arrived(1, wanted)) == ([], [WANTED])
    assert broker(net, 1).spoken(Arrived(0, wanted)) == ([], []), "it is not for that broker"
    rows = list(broker(net, 2).rows())
    assert not sent(broker(net, 2).handle(Arrived(1, wanted), 1.0))
    assert list(broker(net, 2).rows()) == rows
    (offered,) = sent(broker(net, 2).retell(Row("advert", "bob", "x > 0")))
    assert isinstance(offered, Offered)
    assert sorted(offered.destinations) == [0, 1]
    assert broker(net, 0).spoken(Arrived(1, offered)) == ([], [OFFERED])
    assert not broker(net, 2).retell(WANTED), "nothing that others told is told on"


def test_what_a_snapshot_does_not_name_is_gone(net: Overlay) -> None:
    head = "everybody", 2, (0,), 9, 0, 99
    gone, come = broker(net, 0).spoken(Arrived(1, Snapshot(*head, (), ("y = 1",))))
    assert gone == [OFFERED]
    assert come == [Row("broker", ("everybody", 2), "y = 1")]


@pytest.mark.parametrize(
    ("name", "row"),
    [
        (0, Row("client", "alice", "x > 3")),
        (0, OFFERED),
        (2, Row("advert", "bob", "x > 0")),
        (2, WANTED),
    ],
)
def test_what_lapses_is_gone_and_nobody_is_told(net: Overlay, name: int, row: Row) -> None:
    made = broker(net, name)
    assert not made.lapse(row)
    assert not made.holds(row)
    assert not made.lapse(row), "it is gone already"
    made.check_invariants()
    packets = net.metrics.sent_by_kind.copy()
    net.run()
    assert net.metrics.sent_by_kind == packets


def test_what_is_derived_is_made_anew(net: Overlay) -> None:
    made = broker(net, 0)
    peer = made.clusters["everybody"].peers[2]
    peer.announced.clear()
    made.derive()
    made.check_invariants()
    assert not made.retell(Row("client", "alice", "x > 3")), "nobody offers that"
