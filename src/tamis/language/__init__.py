"""What does a condition mean? Text -> expression -> truth."""

from tamis.language.errors import ExpressionError
from tamis.language.notify import Notify
from tamis.language.parser import parse
from tamis.language.subscription import Subscription, parse_subscription
from tamis.language.tree import (
    And,
    ArrayContains,
    Between,
    Comparison,
    Constant,
    Expression,
    In,
    IsNull,
    Like,
    Not,
    Or,
    Predicate,
    Xnor,
    Xor,
    compare,
)
from tamis.language.values import Kind

__all__ = [
    "And",
    "ArrayContains",
    "Between",
    "Comparison",
    "Constant",
    "Expression",
    "ExpressionError",
    "In",
    "IsNull",
    "Kind",
    "Like",
    "Not",
    "Notify",
    "Or",
    "Predicate",
    "Subscription",
    "Xnor",
    "Xor",
    "compare",
    "parse",
    "parse_subscription",
]
