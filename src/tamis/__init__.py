"""Content-based publish/subscribe: every event reaches exactly the subscribers whose condition it meets."""

from tamis.covering import Change, CoverTable, covers, intersects
from tamis.language import Expression, ExpressionError, parse
from tamis.matching import (
    BudgetWarning,
    Estimate,
    Index,
    IndexChangedError,
    IndexFileError,
    Matches,
    SubscriptionError,
    engines,
)

__all__ = [
    "BudgetWarning",
    "Change",
    "CoverTable",
    "Estimate",
    "Expression",
    "ExpressionError",
    "Index",
    "IndexChangedError",
    "IndexFileError",
    "Matches",
    "SubscriptionError",
    "covers",
    "engines",
    "intersects",
    "parse",
]
