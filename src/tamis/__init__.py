"""Content-based publish/subscribe: every event reaches exactly the subscribers whose condition it meets."""

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
    "Estimate",
    "Expression",
    "ExpressionError",
    "Index",
    "IndexChangedError",
    "IndexFileError",
    "Matches",
    "SubscriptionError",
    "engines",
    "parse",
]
