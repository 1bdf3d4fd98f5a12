"""Which subscriptions does an event meet? One protocol, many engines, one Index."""

from typing import TYPE_CHECKING

from tamis.later import later

if TYPE_CHECKING:
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
    "engines",
]

__getattr__ = later(
    __name__,
    {
        **dict.fromkeys(["BudgetWarning", "Estimate"], "tamis.matching.estimate"),
        **dict.fromkeys(["Capabilities", "engines"], "tamis.matching.engine"),
        **dict.fromkeys(["IndexChangedError", "IndexFileError", "SubscriptionError"], "tamis.matching.errors"),
        "Index": "tamis.matching.index",
        "Matches": "tamis.matching.matches",
    },
)
