import datetime as dt
import math
from typing import Any

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from tamis.language.values import ORDERED_KINDS, Kind
from tamis.matching.ranks.elements import FIRST, beginning, elements

_BIG = 10**400

numbers = (
    st.integers(-(2**63), 2**63 - 1)
    | st.integers(-(2**70), 2**70)
    | st.floats(allow_nan=False)
    | st.sampled_from([0, -0.0, 2**53, 2**53 + 1, 2.0**53, -(2**53) - 1, 2.0**63, 2**63 - 1, _BIG, -_BIG, math.inf])
)
_zones = st.sampled_from([dt.UTC, dt.timezone(dt.timedelta(hours=5, minutes=30)), dt.timezone(dt.timedelta(hours=-12))])
VALUES: dict[Kind, st.SearchStrategy[Any]] = {
    Kind.NUMBER: numbers,
    Kind.STRING: st.text(max_size=3) | st.text("ab\0\uffff😀", max_size=5),
    Kind.BOOLEAN: st.booleans(),
    Kind.TIMESTAMP: st.datetimes(timezones=_zones),
    Kind.DATE: st.dates(),
}


def pairs() -> st.SearchStrategy[tuple[Kind, Any, Any]]:
    """Two values of one kind, often near each other."""

    def of_kind(kind: Kind) -> st.SearchStrategy[tuple[Kind, Any, Any]]:
        values = VALUES[kind]
        near = values.flatmap(lambda value: st.tuples(st.just(value), st.sampled_from(neighbours(kind, value))))
        return (st.tuples(values, values) | near).map(lambda two: (kind, *two))

    return st.sampled_from(ORDERED_KINDS).flatmap(of_kind)


def neighbours(kind: Kind, value: Any) -> list[Any]:
    match kind:
        case Kind.NUMBER if isinstance(value, float):
            around = [math.nextafter(value, -math.inf), math.nextafter(value, math.inf), -value]
            return around if math.isinf(value) else [*around, int(value), int(value) + 1]
        case Kind.NUMBER:
            around = [value - 1, value + 1, -value, value - 0.5 if abs(value) < 2**53 else value - 2]
            return [*around, float(value)] if abs(value) < 2**1000 else around
        case Kind.STRING:
            return [value + "\0", value + "a", value[:-1], ""]
        case Kind.TIMESTAMP:
            return [value.astimezone(dt.UTC) if dt.MINYEAR < value.year < dt.MAXYEAR else value]
        case _:
            return [value]


@given(pairs())
@example((Kind.NUMBER, 2**53 + 1, 2.0**53))
@example((Kind.NUMBER, -0.0, 0))
@example((Kind.NUMBER, -1.5, -2.5))
@example((Kind.NUMBER, math.inf, _BIG))
@example((Kind.NUMBER, 5e-324, -5e-324))
@example((Kind.STRING, "", "\0"))
@example((Kind.STRING, "a", "a\0"))
@example((Kind.TIMESTAMP, dt.datetime.max.replace(tzinfo=dt.UTC), dt.datetime.min.replace(tzinfo=dt.UTC)))
@example((Kind.DATE, dt.date.max, dt.date.min))
def test_elements_keep_the_order_and_no_value_begins_another(case: tuple[Kind, Any, Any]) -> None:
    kind, one, other = case
    first, second = elements(kind, one), elements(kind, other)
    assert (first < second) == (one < other)
    assert (first == second) == (one == other)
    if one != other:
        shorter = min(len(first), len(second))
        assert first[:shorter] != second[:shorter]


@given(pairs(), pairs())
def test_the_kind_comes_first_and_a_kind_begins_before_its_values(
    one: tuple[Kind, Any, Any], other: tuple[Kind, Any, Any]
) -> None:
    for kind, value, _ in (one, other):
        found = elements(kind, value)
        assert found[0] == kind
        assert beginning(kind) < found < beginning(kind + 1)
        assert found[1] > FIRST
    if one[0] < other[0]:
        assert elements(*one[:2]) < elements(*other[:2])


@pytest.mark.parametrize("kind", [Kind.NULL, Kind.OTHER])
def test_values_without_order_lie_where_their_kind_begins(kind: Kind) -> None:
    assert elements(kind, None) == elements(kind, [1]) == beginning(kind)


def test_a_number_has_eighteen_elements_and_the_last_is_what_the_double_leaves_over() -> None:
    assert elements(Kind.NUMBER, 2**53 + 1) == (*elements(Kind.NUMBER, 2.0**53)[:-1], 1)
    assert {len(elements(Kind.NUMBER, value)) for value in (0, -1.5, 2**63 - 1, _BIG, math.inf)} == {18}
