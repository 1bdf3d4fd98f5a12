"""Which subscriptions does an event meet? One protocol, many engines, one Index."""

from tamis.matching import algorithms
from tamis.matching.engine import Capabilities, engines
from tamis.matching.errors import IndexChangedError, IndexFileError, SubscriptionError
from tamis.matching.estimate import BudgetWarning, Estimate
from tamis.matching.index import Index
from tamis.matching.matches import Matches

__all__ = [
    "BudgetWarning",
    "Capabilities",
    "Estimate",
    "Index",
    "IndexChangedError",
    "IndexFileError",
    "Matches",
    "SubscriptionError",
    "algorithms",
    "engines",
]
