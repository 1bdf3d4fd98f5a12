"""Where brokers stand in a picture."""

from typing import Final

import networkx as nx
import numpy as np
import numpy.typing as npt

from tamis.routing.packets import Name

#: A picture of more brokers shows nothing and takes long.
MOST_BROKERS: Final = 2_000
_STEPS: Final = 60
_LONGEST_STEP: Final = 0.1
_CLOSEST: Final = 0.01

Places = dict[Name, tuple[float, float]]


def places(graph: "nx.Graph[Name]") -> Places:
    """Return a place for each broker, the same in every run: trees from above, other graphs by forces."""
    if len(graph) > MOST_BROKERS:
        raise ValueError(f"{len(graph):,} brokers are too many for a picture: {MOST_BROKERS:,} at most")
    return by_rows(graph) if len(graph) and nx.is_tree(graph) else by_forces(graph)


def by_rows(graph: "nx.Graph[Name]") -> Places:
    """Return places for a tree: its middle above, every broker over the middle of those below it."""
    root = nx.center(graph)[0]
    below = nx.bfs_tree(graph, root)
    across: dict[Name, float] = {}
    leaves = 0
    for broker in nx.dfs_postorder_nodes(below, root):
        children = [across[child] for child in below.successors(broker)]
        if children:
            across[broker] = sum(children) / len(children)
        else:
            across[broker] = leaves
            leaves += 1
    depth = nx.single_source_shortest_path_length(below, root)
    return {broker: (across[broker], -depth[broker]) for broker in graph.nodes}


def by_forces(graph: "nx.Graph[Name]") -> Places:
    """Return places after Fruchterman and Reingold: links pull, all brokers push each other away.

    networkx has the same, but needs SciPy for large graphs.
    """
    count = len(graph)
    linked = nx.to_numpy_array(graph, weight="")
    rest = 1 / np.sqrt(max(count, 1))
    at = np.random.default_rng(1).random((count, 2))
    for step in np.linspace(_LONGEST_STEP, 0, _STEPS, endpoint=False):
        apart: npt.NDArray[np.float64] = at[:, None, :] - at[None, :, :]
        distance = np.maximum(np.sqrt((apart**2).sum(axis=2)), _CLOSEST)
        force = rest**2 / distance**2 - linked * distance / rest
        moved = np.einsum("ijk,ij->ik", apart, force)
        at += step * moved / np.maximum(np.sqrt((moved**2).sum(axis=1)), _CLOSEST)[:, None]
    return {broker: (float(x), float(y)) for broker, (x, y) in zip(graph.nodes, at, strict=True)}
