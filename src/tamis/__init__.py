"""Content-based publish/subscribe: every event reaches exactly the subscribers whose condition it meets."""

from typing import TYPE_CHECKING

from tamis.later import later

if TYPE_CHECKING:
    from tamis.client import connect
    from tamis.covering import Change, CoverTable, covers, intersects
    from tamis.language import Expression, ExpressionError, Notify, Subscription, parse, parse_subscription
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
    from tamis.notification import Watch, WatchSet
    from tamis.routing.registry import strategies
    from tamis.simulation import Overlay

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
    "Notify",
    "Overlay",
    "Subscription",
    "SubscriptionError",
    "Watch",
    "WatchSet",
    "connect",
    "covers",
    "engines",
    "intersects",
    "parse",
    "parse_subscription",
    "strategies",
]


__getattr__ = later(
    __name__,
    {
        **dict.fromkeys(["Change", "CoverTable", "covers", "intersects"], "tamis.covering"),
        **dict.fromkeys(
            ["Expression", "ExpressionError", "Notify", "Subscription", "parse", "parse_subscription"], "tamis.language"
        ),
        **dict.fromkeys(["BudgetWarning", "Estimate", "Index", "IndexChangedError"], "tamis.matching"),
        **dict.fromkeys(["IndexFileError", "Matches", "SubscriptionError", "engines"], "tamis.matching"),
        **dict.fromkeys(["Watch", "WatchSet"], "tamis.notification"),
        "Overlay": "tamis.simulation",
        "connect": "tamis.client",
        "strategies": "tamis.routing.registry",
    },
)
