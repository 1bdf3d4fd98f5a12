"""Topologies in files: edge lists, JSON, GraphML."""

import json
from pathlib import Path
from typing import Any
from xml.etree.ElementTree import ParseError

import msgspec
import networkx as nx

from tamis.routing.packets import Name
from tamis.simulation.link import Link


class _Edge(msgspec.Struct, frozen=True, array_like=True, forbid_unknown_fields=True):
    """One link in JSON: two names, and what it is like if that is special."""

    one: Name
    other: Name
    link: Link | None = None


class _Graph(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """An overlay in JSON."""

    links: list[_Edge]
    #: Brokers, of which those without links must be named.
    brokers: list[Name] = []
    clusters: list[list[Name]] | None = None


def load_topology(path: Path) -> "nx.Graph[Name]":
    """Read a topology: .json as `save_topology` writes it, .graphml, and any other file as an edge list.

    A line of an edge list names two brokers; `#` begins a comment. Links in JSON and GraphML may have the attributes
    of a `Link`. Names that are all whole numbers become numbers. What cannot be read is a `ValueError`.
    """
    readers = {".json": _read_json, ".graphml": _read_graphml}
    try:
        graph = readers.get(path.suffix, _read_edges)(path)
    except (msgspec.DecodeError, nx.NetworkXError, ParseError, UnicodeDecodeError) as error:
        raise ValueError(f"{path}: not a topology: {error}") from None
    if not len(graph):
        raise ValueError(f"{path}: there are no brokers in it")
    for one, other, attributes in graph.edges(data=True):
        try:
            msgspec.convert(attributes, Link)
        except msgspec.ValidationError as error:
            known = ", ".join(Link.__struct_fields__)
            raise ValueError(f"{path}: the link from {one} to {other}: {error}; links have: {known}") from None
    return graph


def save_topology(graph: "nx.Graph[Name]", path: Path) -> None:
    """Write a topology to a file .json or .graphml."""
    if path.suffix == ".graphml":
        plain: nx.Graph[Name] = nx.Graph()
        plain.add_nodes_from(graph.nodes)
        plain.add_edges_from(graph.edges(data=True))
        nx.write_graphml(plain, path)
        return
    if path.suffix != ".json":
        raise ValueError(f"{path}: a topology is written to a file .json or .graphml")
    edges = [
        _Edge(one, other, Link(**attributes) if attributes else None)
        for one, other, attributes in graph.edges(data=True)
    ]
    written = _Graph(edges, list(graph.nodes), graph.graph.get("clusters"))
    path.write_bytes(msgspec.json.format(msgspec.json.encode(written), indent=2) + b"\n")


def _read_json(path: Path) -> "nx.Graph[Name]":
    read = msgspec.json.decode(path.read_bytes(), type=_Graph)
    graph: nx.Graph[Name] = nx.Graph()
    graph.add_nodes_from(read.brokers)
    for edge in read.links:
        attributes = {} if edge.link is None else msgspec.structs.asdict(edge.link)
        graph.add_edge(edge.one, edge.other, **attributes)
    if read.clusters is not None:
        graph.graph["clusters"] = read.clusters
    return graph


def _read_graphml(path: Path) -> "nx.Graph[Name]":
    read: nx.Graph[Any] = nx.Graph(nx.read_graphml(path))
    # Only the links matter here; what a drawing program wrote about brokers does not.
    graph: nx.Graph[Name] = nx.Graph()
    graph.add_nodes_from(read.nodes)
    graph.add_edges_from(read.edges(data=True))
    return _numbered(graph)


def _read_edges(path: Path) -> "nx.Graph[Name]":
    graph: nx.Graph[Name] = nx.Graph()
    for number, text in enumerate(path.read_text().splitlines(), 1):
        names = text.partition("#")[0].replace(",", " ").split()
        if not names:
            continue
        if len(names) != 2:
            raise ValueError(
                f"{path}: line {number}: two brokers make a link, here are {len(names)}: {json.dumps(text)}"
            )
        graph.add_edge(*names)
    return _numbered(graph)


def _numbered(graph: "nx.Graph[Name]") -> "nx.Graph[Name]":
    """Return a graph with names turned into numbers where all are whole numbers as one writes them."""
    names = [str(name) for name in graph.nodes]
    if all(name.isascii() and name.isdigit() and str(int(name)) == name for name in names):
        renamed: nx.Graph[Name] = nx.relabel_nodes(graph, {name: int(name) for name in graph.nodes})
        return renamed
    return graph
