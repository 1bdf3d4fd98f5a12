"""Prefix forwarding: match an event once, follow numbers everywhere else (specs/004 §4)."""

from tamis.routing.prefix.epochs import Epochs
from tamis.routing.prefix.filters import Filter, filters, filters_of
from tamis.routing.prefix.forwarding import ForwardingTree, extract
from tamis.routing.prefix.optimizer import Optimizer
from tamis.routing.prefix.snapshot import Snapshot, decoded, wdiff
from tamis.routing.prefix.tags import Split, Tags
from tamis.routing.prefix.tree import RoutingTree

__all__ = [
    "Epochs",
    "Filter",
    "ForwardingTree",
    "Optimizer",
    "RoutingTree",
    "Snapshot",
    "Split",
    "Tags",
    "decoded",
    "extract",
    "filters",
    "filters_of",
    "wdiff",
]
