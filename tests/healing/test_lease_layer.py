"""Refreshes travel, leases end in silence, and what the thesis' Figure 7.1 shows is healed (specs/004 §7)."""

from collections.abc import Callable
from pathlib import Path
from typing import Any

import networkx as nx
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import tamis
from tamis.healing import Ages, Healing, Leases, broker_of
from tamis.healing.layer import Layer
from tamis.healing.lease_layer import LeaseLayer
from tamis.routing import make_strategy
from tamis.routing.messages import Advertise, Arrived, NeighbourUp, Record, Send, SetTimer, Subscribe
from tamis.routing.offers import Offer
from tamis.routing.packets import Event, Filters, Name, Plain, Refresh
from tamis.routing.strategies.spreading import Spreading
from tamis.simulation import Clock, Link, Overlay, TraceWriter
from tamis.simulation.replay import replay


def lease_layer(net: Overlay, broker: int) -> LeaseLayer:
    machine = net.machines[broker]
    while not isinstance(machine, LeaseLayer):
        assert isinstance(machine, Layer)
        machine = machine.inner
    return machine


def layer(routing: str = "covering", **settings: Any) -> LeaseLayer:
    """Return a broker with neighbours 1 and 2."""
    made = LeaseLayer(make_strategy(routing).broker(0), Leases(**settings))
    for neighbour in (1, 2):
        made.handle(NeighbourUp(neighbour), 0.0)
    return made


def sends(actions: list[Any]) -> list[Send]:
    return [each for each in actions if isinstance(each, Send)]


# --- refreshes and ends -----------------------------------------------------------------------------------


def test_a_refresh_changes_nothing_and_travels_on() -> None:
    broker = layer()
    told = Filters((), ("x > 3",))
    assert sends(broker.handle(Arrived(1, told), 1.0)) == [Send(2, told)]
    rows = list(broker_of(broker).rows())  # type: ignore[attr-defined]
    for number in range(2, 5):
        actions = broker.handle(Arrived(1, Refresh(told)), number * 0.9)
        assert sends(actions) == [Send(2, Refresh(told))]
        assert Record("refreshes") in actions
        assert list(broker_of(broker).rows()) == rows  # type: ignore[attr-defined]
        broker.check_invariants()


def test_an_end_sends_nothing_and_what_it_hid_is_told_at_its_own_refresh() -> None:
    broker = layer()
    broker.handle(Arrived(1, Filters((), ("x > 3",))), 0.0)
    assert [each.neighbour for each in sends(broker.handle(Subscribe("alice", "x > 5"), 0.5))] == [1]
    actions = broker.handle(Advertise("alice", "true"), 1.2)
    assert Record("lapsed") in actions
    assert not sends(actions)
    assert broker.stored() == 1
    broker.check_invariants()
    assert sends(broker.handle(Subscribe("alice", "x > 5"), 1.3)) == [
        Send(neighbour, Refresh(Filters((), ("x > 5",)))) for neighbour in (1, 2)
    ]


def test_a_refresh_of_what_was_forgotten_is_as_if_new() -> None:
    broker = layer()
    told = Filters((), ("x > 3",))
    broker.handle(Arrived(1, told), 0.0)
    actions = broker.handle(Arrived(1, Refresh(told)), 1.5)
    assert Record("lapsed") in actions
    assert sends(actions) == [Send(2, Refresh(told))]
    event = Plain(Event(1, {"x": 4}))
    assert sends(broker.handle(Arrived(2, event), 1.6)) == [Send(1, event)]


def test_what_is_taken_back_is_forgotten_at_once_and_may_come_again() -> None:
    broker = layer()
    broker.handle(Arrived(1, Filters((), ("x > 3",))), 0.0)
    broker.handle(Arrived(1, Filters(("x > 3",), ())), 0.1)
    assert not len(broker.table)
    actions = broker.handle(Arrived(1, Filters((), ("x > 3",))), 0.2)
    assert sends(actions) == [Send(2, Filters((), ("x > 3",)))]
    assert Record("refreshes") not in actions


def test_the_timer_is_set_for_the_first_end_and_only_then() -> None:
    broker = layer()
    actions = broker.handle(Subscribe("alice", "x > 3"), 2.0)
    (timer,) = [each for each in actions if isinstance(each, SetTimer)]
    assert timer.background
    assert timer.after == pytest.approx(1.0, abs=1e-5)
    assert not [each for each in broker.handle(Subscribe("bob", "x > 3"), 2.5) if isinstance(each, SetTimer)]


def test_a_clock_that_jumps_forgets_nothing_for_ever() -> None:
    broker = layer()
    broker.handle(Advertise("alice", "x > 3"), 1000.0)
    broker.handle(Advertise("alice", "x > 3"), 5.0)
    broker.check_invariants()
    assert Record("lapsed") in broker.handle(Subscribe("bob", "x > 3"), 6.5)


def test_quiet_means_that_only_refreshes_are_under_way() -> None:
    net = Overlay(nx.path_graph(5), "identity", state="soft")
    net.subscribe(0, "alice", "x > 3")
    net.run()
    assert net.now < 0.1
    net.run(until=20.5)
    net.run()
    assert net.now == 20.5
    assert net.metrics.sent_by_kind["Refresh"] == 4 * 25
    assert net.metrics.total("lapsed") == 0


@pytest.mark.parametrize("routing", ["identity", "ddbr"])
def test_clauses_are_leased_with_their_condition(routing: str) -> None:
    net = Overlay(nx.path_graph(3), routing, state="soft")
    net.advertise(2, "bob", "true")
    net.subscribe(0, "alice", "x > 3 notify x moves 5")
    net.subscribe(0, "carl", "x > 3")
    net.run(until=6)
    for x in (10, 11, 20):
        net.publish(2, {"x": x}, "bob")
        net.run(until=net.now + 1)
    assert [event for client, event in net.deliveries if client == "alice"] == [1, 3]
    net.detach("alice", silent=True)
    net.run(until=net.now + 3)
    net.publish(2, {"x": 90}, "bob")
    net.run()
    assert [client for client, event in net.deliveries if event == 4] == ["carl"]
    net.check_invariants()


# --- the survival lemma in the world ----------------------------------------------------------------------


@settings(max_examples=25, deadline=None)
@given(
    delays=st.lists(st.integers(1, 500), min_size=3, max_size=12),
    extension=st.sampled_from(("none", "bound", "uncertainty")),
)
def test_a_lease_survives_if_and_only_if_the_lemma_says_so(delays: list[int], extension: Any) -> None:
    """Clocks that are right: the bound of an age is above it by what stamps cannot tell, and is what counts."""
    leases = Leases(interval=1.0, refresh=0.8, extension=extension)
    net = Overlay((2, [(0, 1)]), "identity", healing=Healing(leases=leases, ages=Ages(drift=0)))
    net.run(until=0.1)
    net.subscribe(0, "alice", "x > 3")
    start, before = net.now, 0.001
    net.run(until=0.5)
    (row,) = lease_layer(net, 1).table
    longer = lease_layer(net, 1).table[row].extension
    for number, each in enumerate(delays, 1):
        delay = each / 1000 + 0.0003
        net.change_link(0, 1, Link(latency=delay))
        lapsed = net.metrics.total("lapsed")
        net.run(until=start + number * 0.8 + 0.55)
        survived = delay - before <= 0.2 + longer
        assert (net.metrics.total("lapsed") == lapsed) == survived
        before, longer = delay, lease_layer(net, 1).table[row].extension


# --- Figure 7.1: a filter reaches a broker before the advertisement does -----------------------------------


def figure(state: Any) -> Overlay:
    """Return P2 at B2, S at B1, and a link between them on which an advertisement takes long."""
    graph: nx.Graph[Any] = nx.Graph()
    graph.add_edge("B1", "B2", latency=0.02)
    net = Overlay(graph, "advertisement", state=state, trees=False)
    net.run()
    net.advertise("B1", "P1", "x > 0")
    net.advertise("B2", "P2", "x > 0")
    net.run(until=net.now + 0.001)
    net.subscribe("B1", "S", "x > 3")
    return net


def arrives(net: Overlay) -> bool:
    event = net.publish("B2", {"x": 5}, "P2")
    net.run()
    return ("S", event) in net.deliveries


@pytest.mark.parametrize("state", ["hard", "soft"])
def test_the_advertisement_that_comes_later_fetches_the_filter(state: str) -> None:
    """Rule 2.43 of the thesis."""
    net = figure(state)
    net.run()
    assert arrives(net)


def dropped(net: Overlay) -> None:
    """B1 has forgotten that the filter is for B2: as if rule 2.43 were not."""
    net.run()
    for broker in ("B1", "B2"):
        machine = broker_of(net.machines[broker])
        assert isinstance(machine, Spreading)
        if broker == "B1":
            machine.offers["B2"] = Offer(machine.pruning())
        else:
            machine.hold("B1", [each for each in machine.held("B1") if each != "x > 3"])


def lost(net: Overlay) -> None:
    """The link fails for a moment, just when the filter is on it."""
    net.disconnect("B1", "B2", silent=True)
    net.run(until=net.now + 0.1)
    net.connect("B1", "B2")


@pytest.mark.parametrize("happens", [dropped, lost])
def test_only_a_refresh_heals_what_was_dropped_or_lost(happens: Callable[[Overlay], None]) -> None:
    hard, soft = figure("hard"), figure("soft")
    for net in (hard, soft):
        happens(net)
        net.run(until=net.now + 0.2)
        assert not arrives(net)
        net.run(until=net.now + 3)
    assert not arrives(hard)
    assert arrives(soft)
    soft.check_invariants()


# --- the whole --------------------------------------------------------------------------------------------


def test_clocks_may_be_wrong() -> None:
    clocks: dict[Name, Clock] = {
        0: Clock(offset=1e6, drift=1e-4),
        1: Clock(offset=-50.0, drift=-1e-4),
        2: Clock(offset=3.0),
    }
    healing = Healing(leases=Leases(extension="uncertainty"), ages=Ages())
    net = Overlay(nx.path_graph(3), "covering", healing=healing, clocks=clocks)
    net.subscribe(0, "alice", "x > 3")
    net.run(until=30)
    assert net.metrics.total("lapsed") == 0
    net.check_invariants()


@pytest.mark.parametrize("routing", ["covering", "ddbr"])
def test_traces_can_be_replayed(tmp_path: Path, routing: str) -> None:
    healing = Healing(leases=Leases(interval=0.5, refresh=0.4, extension="bound"), ages=Ages())
    with TraceWriter(tmp_path / "trace") as trace:
        net = Overlay(nx.path_graph(3), routing, healing=healing, trace=trace)
        net.advertise(2, "bob", "x > 0")
        net.subscribe(0, "alice", "x > 3")
        net.run(until=2)
        net.publish(2, {"x": 4}, "bob")
        net.detach("alice", silent=True)
        net.run(until=4)
    replayed = replay(tmp_path / "trace")
    assert replayed.difference is None
    assert replayed.told > 20


def test_what_cannot_be() -> None:
    with pytest.raises(ValueError, match="need ages"):
        Healing(leases=Leases(extension="bound"))
    with pytest.raises(ValueError, match="'hard' or 'soft', not 'solid'"):
        Overlay((1, []), state="solid")  # type: ignore[arg-type]
    with pytest.raises(ValueError, match="keeps no soft state"):
        Overlay((1, []), "advertisement", state="soft")
    assert tamis.Overlay((1, []), routing="covering", state="soft").healing.leases == Leases()


@pytest.mark.parametrize("routing", ["covering", "ddbr"])
@pytest.mark.parametrize("by", [-100.0, 100.0])
def test_a_clock_that_jumps_costs_a_period_at_most(routing: str, by: float) -> None:
    net = Overlay(nx.path_graph(3), routing, state="soft")
    net.advertise(2, "bob", "x > 0")
    net.subscribe(0, "alice", "x > 3")
    net.run(until=3)
    net.step_clock(1, by)
    net.step_clock(2, by)
    net.run(until=net.now + 1)
    net.publish(2, {"x": 4}, "bob")
    net.run(until=net.now + 1)
    assert net.deliveries == [("alice", 1)]
    net.check_invariants()
