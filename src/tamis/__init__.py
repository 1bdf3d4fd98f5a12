"""Content-based publish/subscribe: every event reaches exactly the subscribers whose condition it meets."""

from importlib import import_module
from typing import TYPE_CHECKING, Any

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

if TYPE_CHECKING:
    from tamis.client import connect
    from tamis.notification import Watch, WatchSet
    from tamis.routing.registry import strategies
    from tamis.simulation import Overlay

#: What is imported when somebody asks for it: a program that only matches need not wait for it.
_LATER = {
    "Overlay": "tamis.simulation",
    "Watch": "tamis.notification",
    "WatchSet": "tamis.notification",
    "connect": "tamis.client",
    "strategies": "tamis.routing.registry",
}

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


def __getattr__(name: str) -> Any:
    if name not in _LATER:
        raise AttributeError(f"module 'tamis' has no attribute {name!r}")
    return getattr(import_module(_LATER[name]), name)
