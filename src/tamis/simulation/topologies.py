"""How brokers are linked: the overlays of the sources, by name, each from a seed.

Brokers are 0, 1, …. A graph with clusters names them in `graph.graph["clusters"]`, a list of lists (specs/002 §3.4).
"""

from collections.abc import Callable, Iterable, Mapping
from inspect import Parameter, signature
from itertools import combinations
from random import Random
from typing import Any, TypeAlias

import networkx as nx

from tamis.routing.packets import Name

#: A graph whose nodes are brokers, or how many brokers (0, 1, …) and the links between them.
Topology: TypeAlias = "nx.Graph[Name] | tuple[int, Iterable[tuple[int, int]]]"


def graph_of(topology: Topology) -> "nx.Graph[Name]":
    """Return a topology as a graph. A link to a broker that there is not is a `ValueError`."""
    if not isinstance(topology, tuple):
        return nx.Graph(topology)
    count, links = topology
    graph: nx.Graph[Name] = nx.Graph()
    graph.add_nodes_from(range(count))
    for one, other in links:
        if not (0 <= one < count and 0 <= other < count):
            raise ValueError(f"a link from {one} to {other}: the {count} brokers are 0 to {count - 1}")
        graph.add_edge(one, other)
    return graph


def line(count: int) -> "nx.Graph[Name]":
    """Brokers in a line."""
    return graph_of((count, ((number, number - 1) for number in range(1, count))))


def heap(count: int, arity: int = 2) -> "nx.Graph[Name]":
    """A complete tree, filled row by row like a binary heap, or with more children for each."""
    if arity < 1:
        raise ValueError(f"a broker of a tree has at least 1 child, not {arity}")
    return graph_of((count, ((number, (number - 1) // arity) for number in range(1, count))))


def random_tree(count: int, seed: int = 0) -> "nx.Graph[Name]":
    """A tree in which every broker is linked to any of those before it."""
    random = _random(seed)
    return graph_of((count, ((number, random.randrange(number)) for number in range(1, count))))


def degree(count: int, degree: float = 4, seed: int = 0) -> "nx.Graph[Name]":
    """A random tree and as many random links as give the mean degree (the prototype of specs/002 §9.2)."""
    return graph_of((count, _joined(range(count), degree, _random(seed))))


def power_law(count: int, links: int = 2, seed: int = 0) -> "nx.Graph[Name]":
    """Every broker comes with some links to others, preferably to those that have many (Barabási and Albert)."""
    if not 1 <= links < max(count, 2):
        raise ValueError(f"{count} brokers cannot come with {links} links each")
    graph: nx.Graph[Name] = nx.barabasi_albert_graph(count, links, seed=seed) if count > 1 else graph_of((count, ()))
    return graph


def transit_stub(count: int, stubs: int = 10, degree: float = 4, seed: int = 0) -> "nx.Graph[Name]":
    """A backbone of edge brokers, each of which is also in a stub of its own (specs/002 §9.1, R4).

    The brokers are spread evenly over the stubs; backbone and stubs are linked inside with the mean degree, or fully
    where they are too small for it. The first brokers are the edge brokers. Clusters: the backbone, then the stubs.
    """
    if not 1 <= stubs <= count:
        raise ValueError(f"{count} brokers cannot form {stubs} stubs")
    random = _random(seed)
    clusters = [list(range(stubs))] if stubs > 1 else []
    clusters += [[edge, *range(stubs + edge, count, stubs)] for edge in range(stubs)]
    graph = graph_of((count, (link for cluster in clusters for link in _joined(cluster, degree, random, True))))
    graph.graph["clusters"] = clusters
    return graph


def _joined(brokers: Iterable[int], degree: float, random: Random, small: bool = False) -> list[tuple[int, int]]:
    """Return links that join brokers with a mean degree: a random tree, then any others."""
    members = list(brokers)
    count = len(members)
    wanted = round(count * degree / 2)
    most = count * (count - 1) // 2
    if not small and not count - 1 <= wanted <= most:
        lowest, highest = 2 - 2 / max(count, 1), count - 1
        raise ValueError(f"{count} brokers can be joined with a mean degree of {lowest:g} to {highest}, not {degree:g}")
    if wanted >= most:
        return list(combinations(members, 2))
    links = {(random.randrange(number), number): None for number in range(1, count)}
    while len(links) < wanted:
        one, other = sorted(random.sample(range(count), 2))
        links[one, other] = None
    return [(members[one], members[other]) for one, other in links]


def _random(seed: int) -> Random:
    return Random(seed)  # noqa: S311 - an experiment, to be repeated


_TOPOLOGIES: Mapping[str, Callable[..., "nx.Graph[Name]"]] = {
    "line": line,
    "heap": heap,
    "random-tree": random_tree,
    "degree": degree,
    "power-law": power_law,
    "transit-stub": transit_stub,
}


def topologies() -> dict[str, dict[str, Any]]:
    """Return the names of all topologies, each with its parameters and their defaults, except count and seed."""
    return {
        name: {
            parameter.name: parameter.default
            for parameter in signature(make).parameters.values()
            if parameter.default is not Parameter.empty and parameter.name != "seed"
        }
        for name, make in _TOPOLOGIES.items()
    }


def topology(name: str, count: int, *, seed: int = 0, **parameters: float) -> "nx.Graph[Name]":
    """Return a graph of so many brokers. A name, a parameter or a count that is none is a `ValueError`."""
    if name not in _TOPOLOGIES:
        raise ValueError(f"there is no topology {name!r}; there are: {', '.join(sorted(_TOPOLOGIES))}")
    if count < 1:
        raise ValueError(f"an overlay has at least 1 broker, not {count}")
    make = _TOPOLOGIES[name]
    known = topologies()[name]
    for parameter in parameters:
        if parameter not in known:
            raise ValueError(f"topology {name!r} has no parameter {parameter!r}; it has: {', '.join(known) or 'none'}")
    chance = {"seed": seed} if "seed" in signature(make).parameters else {}
    return make(count, **parameters, **chance)
