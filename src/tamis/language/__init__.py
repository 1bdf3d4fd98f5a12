"""What does a condition mean? Text -> expression -> truth."""

from tamis.language.errors import ExpressionError
from tamis.language.parser import parse
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
    "Or",
    "Predicate",
    "Xnor",
    "Xor",
    "compare",
    "parse",
]
