"""One suite for every strategy: clients get what they asked for, each event once, whatever happens in between."""

from random import Random
from typing import Any

import networkx as nx
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from support.clauses import CLAUSES, Subscribers
from support.overlays import KINDS, Step, Story, steps
from tamis.routing import make_strategy
from tamis.routing.registry import strategies
from tamis.simulation import Overlay

#: Options under which a strategy is tested besides its defaults.
VARIANTS: dict[str, list[dict[str, Any]]] = {
    "advertisement": [{"trees": False}, {"trees": False, "covering": True}],
    "bloom": [
        {"table": "sbstree", "bits": 8},
        {"table": "skiptree", "hashes": 3, "verify_at_edge": True},
        {"table": "matrix", "bits": 8, "verify_at_edge": True},
    ],
    "covering": [{"graph": "forest"}, {"graph": "poset"}, {"graph": "ranges"}, {"detector": "counting", "k": 2}],
    "ddbr": [{"heartbeat": 0.0}],
    "merc": [
        {"clusters": [[0, 1, 2], [2, 3, 4], [4, 5, 6, 0]]},
        {"clusters": [[0, 1], [1, 2], [2, 3], [3, 0], [1, 3, 5]], "heartbeat": 0.0},
        {"clusters": [[0, 1, 2, 3, 4, 5, 6], [1, 2, 3], [8, 9]]},
    ],
    "mics": [{"axes": {"x": (0, 9), "y": (0, 9)}, "bits": 4}, {"axes": {"x": (2, 6)}, "bits": 2, "max_runs": 2}],
    "prefix": [
        {"threshold": 0.0, "depth": 1},
        {"threshold": 0.0, "split": "stop"},
        {"threshold": 1.0, "interval": 0.02, "verify_at_edge": False},
    ],
    "reuse-never": [{"covering": True}, {"engine": "kdtree"}],
    "reuse-always": [{"engine": "counting"}],
    "reuse-partial": [{"keys": 1}, {"keys": 2, "engine": "kdtree"}, {"covering": True}, {"keys": 1, "covering": True}],
}
#: How many long stories each strategy is told.
STORIES = 15
#: Fast and slow links, so that packets on different ways overtake each other.
LATENCIES = st.sampled_from([0.001, 0.01, 0.05])
CASES = [(name, options) for name in strategies() for options in [{}, *VARIANTS.get(name, [])]]


def name_of(case: tuple[str, dict[str, Any]]) -> str:
    return "-".join([case[0], *(f"{key}={value}" for key, value in case[1].items())])


@st.composite
def trees(draw: st.DrawFn) -> "nx.Graph[Any]":
    count = draw(st.integers(1, 7))
    graph: nx.Graph[Any] = nx.Graph()
    graph.add_node(0)
    for broker in range(1, count):
        graph.add_edge(broker, draw(st.integers(0, broker - 1)), latency=draw(LATENCIES))
    return graph


@st.composite
def graphs(draw: st.DrawFn) -> "nx.Graph[Any]":
    graph = draw(trees())
    for _ in range(draw(st.integers(1, 4)) if len(graph) > 2 else 0):
        one, other = draw(st.sampled_from(list(graph.nodes))), draw(st.sampled_from(list(graph.nodes)))
        if one != other:
            graph.add_edge(one, other, latency=draw(LATENCIES))
    return graph


def tell(net: Overlay, history: list[Step]) -> None:
    story = Story(net)
    for step in history:
        story.do(step)
    story.check()


@pytest.mark.parametrize("case", CASES, ids=name_of)
@settings(max_examples=60, deadline=None)
@given(topology=trees(), history=steps())
def test_exactly_those_who_want_it_get_it_on_trees(
    case: tuple[str, dict[str, Any]], topology: "nx.Graph[Any]", history: list[Step]
) -> None:
    tell(Overlay(topology, routing=case[0], **case[1]), history)


GENERAL = [case for case in CASES if make_strategy(*case).capabilities.general]


@pytest.mark.parametrize("case", GENERAL, ids=name_of)
@settings(max_examples=60, deadline=None)
@given(topology=graphs(), history=steps())
def test_exactly_those_who_want_it_get_it_on_general_graphs(
    case: tuple[str, dict[str, Any]], topology: "nx.Graph[Any]", history: list[Step]
) -> None:
    tell(Overlay(topology, routing=case[0], **case[1]), history)


@pytest.mark.parametrize("case", CASES, ids=name_of)
def test_exactly_those_who_want_it_get_it_in_long_stories(case: tuple[str, dict[str, Any]]) -> None:
    """Hypothesis prefers short and repetitive stories; these are long, and much is delivered in them."""
    deliveries = 0
    for seed in range(STORIES):
        random = Random(seed)
        graph: nx.Graph[Any] = nx.random_labeled_tree(random.randint(2, 8), seed=seed)
        if make_strategy(*case).capabilities.general:
            for _ in range(random.randint(0, 3)):
                graph.add_edge(*random.sample(list(graph.nodes), 2))
        for link in graph.edges:
            graph.edges[link]["latency"] = random.choice([0.001, 0.01, 0.05])
        net = Overlay(graph, routing=case[0], **case[1])
        tell(net, [(random.choice(KINDS), random.randrange(1000), random.randrange(1000)) for _ in range(60)])
        deliveries += len(net.deliveries)
    assert deliveries > 10 * STORIES


@pytest.mark.parametrize("case", CASES, ids=name_of)
def test_clauses_hold_back_what_a_list_says(case: tuple[str, dict[str, Any]]) -> None:
    """One event at a time against the list; then many at once, of which the judge must not complain."""
    exact = make_strategy(*case).capabilities.exact
    held_back = 0
    for seed in range(2):
        random = Random(seed)
        graph: nx.Graph[Any] = nx.random_labeled_tree(5, seed=seed)
        net = Overlay(graph, routing=case[0], service=lambda *_: 0.0004, **case[1])
        judge = Subscribers()
        for broker in range(5):
            net.advertise(broker, f"p{broker}", "true")
        for turn in range(50):
            client = random.randrange(6)
            text = random.choice(["true", "x > 2", "x <= 5", "s = 'a'"]) + random.choice(CLAUSES)
            if (f"c{client}", text) in judge.held:
                net.unsubscribe(client % 5, f"c{client}", text)
                judge.unsubscribe(f"c{client}", text)
            elif random.random() < 0.4:
                net.subscribe(client % 5, f"c{client}", text)
                judge.subscribe(f"c{client}", text)
            net.run()
            broker = random.randrange(5)
            event = {"x": random.randrange(9), "s": random.choice("ab")}
            published = net.publish(broker, event, publisher=f"p{broker}")
            net.run()
            must, got = judge.told(event), {str(who) for who, what in net.deliveries if what == published}
            clauses = {who for who, text in judge.held if "notify" in text}
            assert not {who for who in got - must if exact or who in clauses}, f"turn {turn}"
            assert must <= got, f"turn {turn}"
            held_back += sum(each.condition.matches(event) for (who, _), each in judge.held.items() if who not in got)
        assert net.missing() == []
        for _ in range(40):
            broker = random.randrange(5)
            net.publish(broker, {"x": random.randrange(9), "s": random.choice("ab")}, publisher=f"p{broker}")
            net.run(until=net.now + random.random() / 100)
        net.run()
        net.check_invariants()
        assert net.missing() == []
        assert net.metrics.summary().false_positives == 0 or not exact
    assert held_back > 30
