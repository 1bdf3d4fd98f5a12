"""Which subscriptions does an event meet? One protocol, many engines, one Index."""

from tamis.matching import betree, counting, kdtree, kindex, opindex, propagation, pstbloom, psthash, scan
from tamis.matching.engine import Capabilities, engines
from tamis.matching.errors import SubscriptionError
from tamis.matching.index import Index
from tamis.matching.matches import Matches

__all__ = [
    "Capabilities",
    "Index",
    "Matches",
    "SubscriptionError",
    "betree",
    "counting",
    "engines",
    "kdtree",
    "kindex",
    "opindex",
    "propagation",
    "pstbloom",
    "psthash",
    "scan",
]
