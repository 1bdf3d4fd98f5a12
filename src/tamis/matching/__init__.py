"""Which subscriptions does an event meet? One protocol, many engines, one Index."""

from tamis.matching import algorithms
from tamis.matching.engine import Capabilities, engines
from tamis.matching.errors import SubscriptionError
from tamis.matching.index import Index
from tamis.matching.matches import Matches

__all__ = ["Capabilities", "Index", "Matches", "SubscriptionError", "algorithms", "engines"]
