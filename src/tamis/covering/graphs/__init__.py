"""Relation graphs. Importing this package registers them all."""

from tamis.covering.graphs import dense, flat, forest, poset
from tamis.covering.graphs.graph import Change, Graph, Relation, graphs

__all__ = ["Change", "Graph", "Relation", "dense", "flat", "forest", "graphs", "poset"]
