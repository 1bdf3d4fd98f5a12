"""Random conditions and events for Hypothesis: few attributes and few values, so that much matches."""

import datetime as dt
from decimal import Decimal
from typing import Any

import numpy as np
from hypothesis import strategies as st

from tamis.language import (
    And,
    ArrayContains,
    Between,
    Comparison,
    Constant,
    Expression,
    In,
    IsNull,
    Kind,
    Like,
    Not,
    Or,
    Predicate,
    Xnor,
    Xor,
    compare,
)

ATTRIBUTES = ("a", "b", "c", "n.x", "n.y", "`odd name`")
NUMBERS = (0, 1, 2, 3, -1, 5, 0.5, 1.5, -0.25, 2**53, 2**53 + 1, 2.0**60, -(2**63), 2**63 - 1, 1e300)
STRINGS = ("", "a", "ab", "abc", "b", "ba", "A", "é", "a%", "a_c", "😀", "\uffff", "it's", "a\\b", "a\nb")
BOOLEANS = (False, True)
TIMES = tuple(dt.datetime(2026, 1, day, 12, 0, 0, micro, tzinfo=dt.UTC) for day in (1, 2) for micro in (0, 1))
DAYS = (dt.date(2026, 1, 1), dt.date(2026, 1, 2), dt.date(1969, 12, 31))
POOLS: dict[Kind, tuple[Any, ...]] = {
    Kind.NUMBER: NUMBERS,
    Kind.STRING: STRINGS,
    Kind.BOOLEAN: BOOLEANS,
    Kind.TIMESTAMP: TIMES,
    Kind.DATE: DAYS,
}
PATTERNS = ("", "%", "a", "a%", "%b", "%b%", "a%c", "_", "a_c", "%a_", "a\\%", "é%", "%%", "a%b%c", "_%")

attributes = st.sampled_from(ATTRIBUTES)
kinds = st.sampled_from(list(POOLS))


@st.composite
def predicates(draw: st.DrawFn, conjunctive: bool = False) -> Predicate:
    attribute = draw(attributes)
    kind = draw(kinds)
    value = st.sampled_from(POOLS[kind])
    negated = draw(st.booleans())
    which = draw(st.integers(0, 5))
    if which <= 1:
        return compare(attribute, draw(st.sampled_from(("=", "<>", "<", "<=", ">", ">="))), draw(value))
    if which == 2:
        return Between(attribute, draw(value), draw(value), kind, negated)
    if which == 3:
        values = tuple(draw(st.lists(value, min_size=1, max_size=4, unique=True)))
        return In(attribute, values, kind, negated, has_null=draw(st.booleans()) and not conjunctive)
    if which == 4:
        return draw(
            st.sampled_from((IsNull(attribute, negated), Comparison(attribute, "=", True, Kind.BOOLEAN)))
            | st.builds(Like, st.just(attribute), st.sampled_from(PATTERNS), st.none(), st.just(negated))
            | st.just(Like(attribute, "a!%b!!%", "!", negated))
        )
    return ArrayContains(attribute, draw(value), kind, negated)


def conjunctions() -> st.SearchStrategy[Expression]:
    """Conjunctions of predicates, several of which may be on one attribute."""
    parts = st.lists(predicates(conjunctive=True), min_size=1, max_size=5)
    return parts.map(lambda each: each[0] if len(each) == 1 else And(tuple(each)))


def expressions(leaves: int = 8) -> st.SearchStrategy[Expression]:
    """Arbitrary expressions, with not, xor and constants."""

    def grown(inner: st.SearchStrategy[Expression]) -> st.SearchStrategy[Expression]:
        many = st.lists(inner, min_size=2, max_size=4).map(tuple)
        return (
            st.builds(And, many)
            | st.builds(Or, many)
            | st.builds(Not, inner)
            | st.builds(Xor, inner, inner)
            | st.builds(Xnor, inner, inner)
        )

    return st.recursive(predicates() | st.builds(Constant, st.booleans()), grown, max_leaves=leaves)


def values() -> st.SearchStrategy[Any]:
    """Values of events: all kinds, and everything that people put into dictionaries."""
    pool = [value for each in POOLS.values() for value in each]
    plain = st.sampled_from(pool)
    odd = st.sampled_from(
        (
            None,
            float("nan"),
            float("inf"),
            -0.0,
            Decimal("1.5"),
            Decimal("NaN"),
            np.int64(2),
            np.float64(0.5),
            np.bool_(True),
            np.float64("nan"),
            2**70,
            dt.datetime(2026, 1, 1, 12),  # noqa: DTZ001 - without a zone on purpose
            dt.datetime(2026, 1, 1, 14, tzinfo=dt.timezone(dt.timedelta(hours=2))),
            {"x": 1},
            b"bytes",
            object(),
        )
    )
    return plain | odd | st.lists(plain | st.none(), max_size=3)


def events() -> st.SearchStrategy[dict[str, Any]]:
    """Events in which attributes are missing, null, of any kind, and nested."""
    nested = st.dictionaries(st.sampled_from(("x", "y", "z")), values(), max_size=3)
    return st.fixed_dictionaries(
        {},
        optional={"a": values(), "b": values(), "c": values(), "odd name": values(), "n": nested | values()},
    )
