"""Bloom-filter routing (specs/004 §5): what brokers keep to forward events by bits. Importing this registers tables."""

from tamis.routing.bloom import counting, matrix, sbstree, skiptree
from tamis.routing.bloom.filters import Filter, Predicate, filters_of
from tamis.routing.bloom.forwarding import ForwardingTable, Interface, Places, make_table, tables
from tamis.routing.bloom.sbsposet import SbsPoset
from tamis.routing.bloom.store import Store

__all__ = [
    "Filter",
    "ForwardingTable",
    "Interface",
    "Places",
    "Predicate",
    "SbsPoset",
    "Store",
    "counting",
    "filters_of",
    "make_table",
    "matrix",
    "sbstree",
    "skiptree",
    "tables",
]
