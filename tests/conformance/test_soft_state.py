"""One suite for every strategy with soft state: as exact as without, and right again whatever was in the tables."""

from collections import Counter
from random import Random
from typing import Any

import networkx as nx
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from support.corruption import corrupt
from support.overlays import ADVERTS, CONDITIONS, EVENTS, KINDS, Story
from tamis import parse
from tamis.healing import Ages, Healing, Leases, broker_of
from tamis.routing.registry import leasable, strategies
from tamis.simulation import Link, Overlay

CASES: list[tuple[str, dict[str, Any]]] = [
    ("simple", {}),
    ("identity", {}),
    ("covering", {}),
    ("covering", {"graph": "poset"}),
    ("advertisement", {"trees": False}),
    ("advertisement", {"trees": False, "covering": True}),
    ("bloom", {}),
    ("bloom", {"verify_at_edge": True, "bits": 64}),
    ("ddbr", {}),
]
#: Refreshes may be a second late: more than any change of links in these stories makes them.
LEASES = Leases(interval=2.0, refresh=1.0)
#: Whatever was in the tables, all is right after that.
PROMISED = 2 * LEASES.interval + LEASES.interval + LEASES.refresh + 1
STORIES = 20


def name_of(case: tuple[str, dict[str, Any]]) -> str:
    return "-".join([case[0], *(f"{key}={value}" for key, value in case[1].items())])


def test_all_strategies_with_soft_state_are_tested() -> None:
    assert leasable() == sorted({name for name, _ in CASES})


@pytest.mark.parametrize("name", sorted(set(strategies()) - set(leasable())))
def test_other_strategies_are_refused(name: str) -> None:
    with pytest.raises(ValueError, match="keeps no soft state; these do: advertisement, bloom, covering, ddbr"):
        Overlay((2, [(0, 1)]), name, state="soft")


def random_graph(random: Random, general: bool) -> "nx.Graph[Any]":
    graph: nx.Graph[Any] = nx.random_labeled_tree(random.randint(2, 6), seed=random.randrange(1000))
    for _ in range(random.randint(0, 2) if general else 0):
        graph.add_edge(*random.sample(list(graph.nodes), 2))
    for link in graph.edges:
        graph.edges[link]["latency"] = random.choice([0.001, 0.01, 0.05])
    return graph


class LongStory(Story):
    """A story in which much time passes, so that leases are renewed."""

    def _wait(self, one: int, _two: int) -> None:
        self.net.run(until=self.net.now + one / 100)


@pytest.mark.parametrize("case", CASES, ids=name_of)
def test_exactly_those_who_want_it_get_it(case: tuple[str, dict[str, Any]]) -> None:
    refreshes = 0.0
    for seed in range(STORIES):
        random = Random(seed)
        graph = random_graph(random, case[0] == "ddbr")
        healing = Healing(leases=LEASES)
        if seed % 2:
            healing = Healing(leases=Leases(interval=2.0, refresh=1.0, extension="uncertainty"), ages=Ages())
        net = Overlay(graph, case[0], healing=healing, **case[1])
        story = LongStory(net)
        for _ in range(50):
            story.do((random.choice(KINDS), random.randrange(1000), random.randrange(1000)))
        story.check()
        assert all(broker_of(machine).fits() for machine in net.machines.values())  # type: ignore[attr-defined]
        refreshes += net.metrics.total("refreshes")
    assert refreshes > 50 * STORIES


def populated(case: tuple[str, dict[str, Any]], random: Random, **healing: Any) -> tuple[Overlay, dict[str, set[str]]]:
    """Return an overlay with clients at all brokers, and what they want."""
    net = Overlay(
        random_graph(random, case[0] == "ddbr"), case[0], healing=Healing(leases=LEASES, **healing), **case[1]
    )
    wants: dict[str, set[str]] = {}
    for broker in net.brokers:
        net.advertise(broker, f"publisher{broker}", "true")
        for number in range(random.randint(0, 2)):
            wants[f"c{broker}-{number}"] = set(random.sample(CONDITIONS, random.randint(1, 3)))
            for text in sorted(wants[f"c{broker}-{number}"]):
                net.subscribe(broker, f"c{broker}-{number}", text)
    net.advertise(0, "other", random.choice(ADVERTS))
    net.run()
    return net, wants


def publish_all(net: Overlay) -> dict[Any, dict[str, Any]]:
    return {net.publish(broker, event, f"publisher{broker}"): event for broker in net.brokers for event in EVENTS}


def check_exact(net: Overlay, wants: dict[str, set[str]]) -> None:
    published = publish_all(net)
    net.run(until=net.now + 1)
    net.check_invariants()
    got = Counter(pair for pair in net.deliveries if pair[1] in published)
    must = {
        (client, event_id)
        for event_id, event in published.items()
        for client, texts in wants.items()
        if any(parse(text).matches(event) for text in texts)
    }
    assert must <= got.keys()
    assert set(got.values()) <= {1}
    if net.strategy.capabilities.exact:
        assert must == got.keys()


@pytest.mark.parametrize("case", CASES, ids=name_of)
@settings(max_examples=6, deadline=None)
@given(seed=st.integers(0, 10**6), clients=st.booleans())
def test_right_again_after_tables_were_spoilt(case: tuple[str, dict[str, Any]], seed: int, clients: bool) -> None:
    """Eventual safety (thesis §7.3): refreshes bring back what is right, and leases end what is wrong."""
    random = Random(seed)
    net, wants = populated(case, random)
    check_exact(net, wants)
    corrupt(net, random, clients)
    during: dict[Any, dict[str, Any]] = {}
    since = net.now
    for _ in range(2):
        net.run(until=net.now + 2 * random.random())
        during |= publish_all(net)
    net.run(until=since + PROMISED)
    check_exact(net, wants)
    counts = Counter(net.deliveries)
    assert set(counts.values()) <= {1}
    if not clients and net.strategy.capabilities.exact:
        for client, event_id in counts:
            if event_id in during:
                assert any(parse(text).matches(during[event_id]) for text in wants[str(client)])


@pytest.mark.parametrize("case", CASES, ids=name_of)
def test_who_goes_without_a_word_is_forgotten_without_a_word(case: tuple[str, dict[str, Any]]) -> None:
    net = Overlay(nx.path_graph(4), case[0], healing=Healing(leases=LEASES), **case[1])
    net.advertise(3, "bob", "x > 0")
    net.subscribe(0, "alice", "x > 3")
    net.subscribe(0, "carl", "x > 5")
    net.run()
    net.detach("carl", silent=True)
    net.run(until=net.now + 5)
    assert net.metrics.total("lapsed") > 0
    net.detach("alice", silent=True)
    net.detach("bob", silent=True)
    net.run(until=net.now + 0.5)
    sent = net.metrics.sent_by_kind.copy()
    net.run(until=net.now + 3)
    assert set(net.stored().values()) == {0}
    assert set(net.metrics.sent_by_kind - sent) <= {"Heartbeat"}
    net.check_invariants()


@pytest.mark.parametrize("case", CASES, ids=name_of)
def test_a_broker_that_crashed_in_silence_is_forgotten_and_comes_back(case: tuple[str, dict[str, Any]]) -> None:
    net = Overlay(nx.path_graph(4), case[0], healing=Healing(leases=LEASES), **case[1])
    net.advertise(3, "bob", "x > 0")
    net.subscribe(0, "alice", "x > 3")
    net.subscribe(2, "dora", "x > 3")
    net.run()
    before = net.stored()
    net.crash(0, silent=True)
    net.run(until=net.now + 4)
    assert sum(net.stored().values()) < sum(count for broker, count in before.items() if broker)
    net.publish(3, {"x": 4}, "bob")
    net.run(until=net.now + 1)
    assert net.deliveries == [("dora", 1)]
    net.restart(0)
    net.run(until=net.now + 4)
    net.publish(3, {"x": 4}, "bob")
    net.run(until=net.now + 1)
    assert sorted(net.deliveries[1:]) == [("alice", 2), ("dora", 2)]
    net.check_invariants()


@pytest.mark.parametrize("case", CASES, ids=name_of)
def test_lost_packets_are_made_good(case: tuple[str, dict[str, Any]]) -> None:
    graph = random_graph(Random(5), general=False)
    net = Overlay(graph, case[0], healing=Healing(leases=LEASES), seed=3, **case[1])
    net.run()
    for one, other in graph.edges:
        net.change_link(one, other, Link(latency=0.01, loss=0.3))
    wants = {f"c{broker}": {"x > 3", "y <> 4"} for broker in net.brokers}
    for broker in net.brokers:
        net.advertise(broker, f"publisher{broker}", "true")
        for text in wants[f"c{broker}"]:
            net.subscribe(broker, f"c{broker}", text)
    net.run(until=10)
    for one, other in graph.edges:
        net.change_link(one, other, Link(latency=0.01))
    net.run(until=10 + PROMISED)
    check_exact(net, wants)
