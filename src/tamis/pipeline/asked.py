"""What conditions ask for, and whether the columns of events can give it.

A condition on an attribute that no column has, or on values of another kind than its column's, is no error: it is
unknown and never true. But most often it is a slip of the pen, so it is told.
"""

from collections import Counter
from collections.abc import Iterable, Mapping
from typing import Final

import msgspec
from pyspark.sql.types import (
    ArrayType,
    BooleanType,
    CharType,
    DataType,
    DateType,
    NumericType,
    StringType,
    StructType,
    TimestampNTZType,
    TimestampType,
    VarcharType,
)

from tamis.language import ArrayContains, Expression, IsNull, Kind, Like
from tamis.language.names import parts_of

#: What `is null` asks for.
ANY: Final = "any"
_ARRAY_OF: Final = "array of "
_KINDS: Final[list[tuple[tuple[type[DataType], ...], str]]] = [
    ((NumericType,), "number"),
    ((StringType, CharType, VarcharType), "string"),
    ((BooleanType,), "boolean"),
    ((TimestampType, TimestampNTZType), "timestamp"),
    ((DateType,), "date"),
]
#: Names in one message.
_SHOWN: Final = 10

#: By attribute and by what it is compared with, in how many predicates.
Asked = dict[str, dict[str, int]]


def asked_by(conditions: Iterable[Expression]) -> Asked:
    """Count what conditions ask for."""
    found: Counter[tuple[str, str]] = Counter()
    for condition in conditions:
        for each in condition.predicates():
            if isinstance(each, IsNull):
                wanted = ANY
            elif isinstance(each, Like):
                wanted = "string"
            else:
                kind: Kind = each.kind  # type: ignore[attr-defined]  # all other predicates compare
                wanted = f"{_ARRAY_OF if isinstance(each, ArrayContains) else ''}{kind.name.lower()}"
            found[each.attribute, wanted] += 1
    return _nested(found)


def total(several: Iterable[Asked], less: Asked | None = None) -> Asked:
    """Add up what was counted, and take something away."""
    found: Counter[tuple[str, str]] = Counter()
    for each in several:
        found.update(_flat(each))
    if less is not None:
        found.subtract(_flat(less))
    return _nested(+found)


def _flat(asked: Asked) -> dict[tuple[str, str], int]:
    return {(name, kind): count for name, kinds in asked.items() for kind, count in kinds.items()}


def _nested(counts: Mapping[tuple[str, str], int]) -> Asked:
    found: Asked = {}
    for (name, kind), count in sorted(counts.items()):
        found.setdefault(name, {})[kind] = count
    return found


class Findings(msgspec.Struct, frozen=True):
    """What some events cannot give: predicates on it are unknown. Counts are of predicates."""

    #: Attributes without a column.
    missing: dict[str, int]
    #: Attributes whose column is of another kind: what it is and what is asked, with the counts.
    mismatched: dict[str, tuple[str, dict[str, int]]]

    def __bool__(self) -> bool:
        return bool(self.missing or self.mismatched)

    def __str__(self) -> str:
        lines = []
        if self.missing:
            names = [f"{name} ({count})" for name, count in self.missing.items()]
            lines.append(f"no column for {_some(names)}: these predicates are never true")
        for name, (column, wanted) in self.mismatched.items():
            counts = " and ".join(f"{kind} in {count}" for kind, count in wanted.items())
            lines.append(f"column {name} is {column}, but is compared with {counts} predicates, which are never true")
        return "; ".join([*lines[:_SHOWN], *(["…"] if len(lines) > _SHOWN else [])])


def findings(asked: Asked, schema: StructType) -> Findings:
    """Say what events of a schema cannot give."""
    missing: dict[str, int] = {}
    mismatched: dict[str, tuple[str, dict[str, int]]] = {}
    for name, kinds in asked.items():
        column = _column(schema, name)
        if column is None:
            missing[name] = sum(kinds.values())
            continue
        there = _kind(column)
        wrong = {kind: count for kind, count in kinds.items() if kind not in (ANY, there)}
        if wrong:
            mismatched[name] = column.simpleString(), wrong
    return Findings(missing, mismatched)


def _column(schema: StructType, name: str) -> DataType | None:
    """Return the type of the column of an attribute, with the same letters; none if there is none."""
    found: DataType = schema
    for part in parts_of(name):
        if not isinstance(found, StructType):
            return None
        types = [field.dataType for field in found.fields if field.name == part]
        if not types:
            return None
        found = types[0]
    return found


def _kind(column: DataType) -> str:
    if isinstance(column, ArrayType):
        return _ARRAY_OF + _kind(column.elementType)
    return next((kind for types, kind in _KINDS if isinstance(column, types)), "other")


def _some(names: list[str]) -> str:
    return ", ".join(names[:_SHOWN]) + (f" and {len(names) - _SHOWN} more" if len(names) > _SHOWN else "")
