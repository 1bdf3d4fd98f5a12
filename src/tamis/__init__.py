"""Content-based publish/subscribe: every event reaches exactly the subscribers whose condition it meets."""

from tamis.language import Expression, ExpressionError, parse
from tamis.matching import Index, Matches, SubscriptionError, engines

__all__ = ["Expression", "ExpressionError", "Index", "Matches", "SubscriptionError", "engines", "parse"]
