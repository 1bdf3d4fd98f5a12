"""Random typed conditions and events that DuckDB and Spark SQL can judge.

The conditions are those in which Tamis promises what SQL promises. Where it differs on purpose, `DIFFERENCES`
pins the difference, and docs/language.md tells it.
"""

import datetime as dt
import random
from typing import Any

import pyarrow as pa

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
    Xnor,
    Xor,
)

SCHEMA = pa.schema(
    {
        "i": pa.int64(),
        "j": pa.int64(),
        "d": pa.float64(),
        "s": pa.string(),
        "b": pa.bool_(),
        "t": pa.timestamp("us", "UTC"),
        "day": pa.date32(),
        "tags": pa.list_(pa.string()),
        "codes": pa.list_(pa.int64()),
        "n": pa.struct({"x": pa.int64(), "y": pa.string()}),
    }
)

_INTEGERS = [0, 1, 2, -1, 7, 2**31, 2**53 - 1, 2**53, 2**53 + 1, -(2**53) - 1, 2**63 - 1, -(2**63), 2**62 + 1]
#: Beyond 2**53 the judges compare an integer with a double inexactly; see `DIFFERENCES`.
_SMALL_INTEGERS = [0, 1, 2, -1, 7, 2**31, 2**53 - 1, 2**53, -(2**53)]
_FRACTIONS = [0.5, -0.5, 1.5, 0.1, 0.30000000000000004, 5e-324, 1e300, -1e300, 1e22, 123456.789]
_DOUBLES = [*_FRACTIONS, 0.0, -0.0, 1.0, 2.0, 7.0, 2.0**53, -(2.0**53), 2.0**31]
_STRINGS = ["", "a", "A", "ab", "abc", "b", "a%b", "a_b", "it's", "é", "e\u0301", "😀", "\uffff", "a b", "50%", "ß"]
_TIMES = [
    dt.datetime(2026, 1, day, hour, 0, 0, micro, dt.UTC) for day in (1, 2) for hour in (0, 23) for micro in (0, 1)
]
_DAYS = [dt.date(1969, 12, 31), dt.date(1970, 1, 1), dt.date(2026, 2, 28), dt.date(2024, 2, 29)]
_PATTERNS = ["", "%", "a%", "%b", "%b%", "a_b", "_", "__", "%é%", "a%c", "A%", "%'%", "😀", "_%_", "%%"]
_ESCAPED = [("50!%", "!"), ("a!_%", "!"), ("%!!%", "!"), ("a#%b", "#")]

_LITERALS: dict[str, tuple[Kind, list[Any]]] = {
    "i": (Kind.NUMBER, _INTEGERS + _FRACTIONS[:6]),
    "j": (Kind.NUMBER, _INTEGERS),
    "d": (Kind.NUMBER, _FRACTIONS + _SMALL_INTEGERS),
    "s": (Kind.STRING, _STRINGS),
    "b": (Kind.BOOLEAN, [True, False]),
    "t": (Kind.TIMESTAMP, _TIMES),
    "day": (Kind.DATE, _DAYS),
    "n.x": (Kind.NUMBER, _INTEGERS),
    "n.y": (Kind.STRING, _STRINGS),
}

#: What Tamis says differently from both judges on purpose: text, type and value of `x`, theirs, ours.
DIFFERENCES: list[tuple[str, pa.DataType, Any, bool | None, bool | None]] = [
    # No implicit casts.
    ("x = '5'", pa.int64(), 5, True, None),
    ("x = timestamp '2026-01-01 00:00:00'", pa.date32(), dt.date(2026, 1, 1), True, None),
    # Integers and doubles compare exactly.
    ("x = 9007199254740993", pa.float64(), 2.0**53, True, False),
    ("x in (5e-1, 9007199254740993)", pa.int64(), 2**53, True, False),
    # NaN is null to Tamis, and the largest number to SQL.
    ("x > 5", pa.float64(), float("nan"), True, None),
    ("x is null", pa.float64(), float("nan"), False, True),
    # Names of attributes keep their case.
    ("X = 5", pa.int64(), 5, True, None),
]


def assert_agreement(
    conditions: list[Expression], events: list[dict[str, Any]], answers: list[list[bool | None]]
) -> None:
    """Compare the judge's answers, one row per event, with the reference; and see that they are not all alike."""
    truths = [condition.truth(event) for event in events for condition in conditions]
    for truth in (True, False, None):
        assert truths.count(truth) > len(truths) // 12, f"too few pairs are {truth}"
    mismatches = [
        f"{condition}\n  on {event}: the judge says {theirs}, Tamis {ours}"
        for event, row in zip(events, answers, strict=True)
        for condition, theirs in zip(conditions, row, strict=True)
        if (ours := condition.truth(event)) is not theirs
    ]
    assert not mismatches, f"{len(mismatches)} mismatches, the first: {mismatches[0]}"


class Source:
    """Seeded random events and conditions."""

    def __init__(self, seed: int, null_elements: bool) -> None:
        self._random = random.Random(seed)
        self._null_elements = null_elements

    def events(self, count: int) -> list[dict[str, Any]]:
        """Return events; an absent attribute is left out or null."""
        return [self._event() for _ in range(count)]

    def _event(self) -> dict[str, Any]:
        choose = self._random.choice
        whole = {
            "i": choose(_INTEGERS),
            "j": choose(_INTEGERS),
            "d": choose(_DOUBLES),
            "s": choose(_STRINGS),
            "b": choose([True, False]),
            "t": choose(_TIMES),
            "day": choose(_DAYS),
            "tags": self._elements(_STRINGS),
            "codes": self._elements(_INTEGERS),
            "n": {"x": choose([*_INTEGERS, None]), "y": choose([*_STRINGS, None])},
        }
        absent = self._random.sample(sorted(whole), self._random.choice([0, 1, 2, 4]))
        return {name: value for name, value in whole.items() if name not in absent} | {
            name: None for name in absent if self._random.random() < 0.5
        }

    def _elements(self, pool: list[Any]) -> list[Any]:
        return self._random.choices(pool + [None] * self._null_elements, k=self._random.randrange(4))

    def condition(self, depth: int = 3) -> Expression:
        """Return a condition whose predicates fit the types of their columns."""
        if depth == 0 or self._random.random() < 0.25:
            return self._predicate()
        below = [self.condition(depth - 1) for _ in range(self._random.choice([2, 2, 3]))]
        match self._random.randrange(8):
            case 0 | 1 | 2:
                return And(tuple(below))
            case 3 | 4:
                return Or(tuple(below))
            case 5:
                return Not(below[0])
            case 6:
                return self._random.choice([Xor, Xnor])(below[0], below[1])
            case _:
                return Not(Not(Or((below[0], Constant(self._random.random() < 0.3)))))

    def _comparable(self, pool: list[Any]) -> list[Any]:
        """Return what may stand in one predicate: beside a double the judges round every integer (`DIFFERENCES`)."""
        large = [value for value in pool if isinstance(value, int) and abs(value) >= 2**53]
        doubles = [value for value in pool if isinstance(value, float)]
        left_out: list[Any] = self._random.choice([large, doubles])
        return [value for value in pool if value not in left_out]

    def _predicate(self) -> Expression:
        choose = self._random.choice
        negated = self._random.random() < 0.5
        shape = self._random.randrange(10)
        if shape == 0:
            return IsNull(choose([*_LITERALS, "tags", "n"]), negated)
        if shape == 1:
            if self._random.random() < 0.5:
                return ArrayContains("tags", choose(_STRINGS), Kind.STRING, negated)
            return ArrayContains("codes", choose(_INTEGERS), Kind.NUMBER, negated)
        if shape <= 3:
            text, escape = choose([*((pattern, None) for pattern in _PATTERNS), *_ESCAPED])
            return Like(choose(["s", "n.y"]), text, escape, negated)
        attribute = choose(list(_LITERALS))
        kind, pool = _LITERALS[attribute]
        if shape <= 5:
            pool = self._comparable(pool)
        if shape == 4:
            return Between(attribute, choose(pool), choose(pool), kind, negated)
        if shape == 5:
            values = tuple(dict.fromkeys(self._random.choices(pool, k=3)))
            return In(attribute, values, kind, negated, has_null=self._random.random() < 0.4)
        return Comparison(attribute, choose(["=", "<>", "<", "<=", ">", ">="]), choose(pool), kind)
