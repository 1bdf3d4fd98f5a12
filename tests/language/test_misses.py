import pytest
from hypothesis import given

import tamis
from support.strategies import events, expressions
from tamis.language import Expression
from tamis.language.misses import misses


@pytest.mark.parametrize(
    ("condition", "expected"),
    [
        ("price > 10", []),
        ("price > 20", ["price > 20"]),
        ("price > 20 and symbol = 'X' and price < 15", ["price > 20", "symbol = 'X'"]),
        ("price > 20 and symbol = 'X' or volume > 3", ["volume > 3"]),
        ("not (price > 10 or symbol = 'X')", ["price <= 10"]),
        ("(price > 20) <> (symbol = 'ACME')", []),
    ],
)
def test_the_fewest_that_are_missing(condition: str, expected: list[str]) -> None:
    found = misses(tamis.parse(condition), {"price": 12, "symbol": "ACME"})
    assert found is not None
    assert [str(each) for each in found] == expected


def test_what_nothing_can_make_true() -> None:
    assert misses(tamis.parse("false and a = 1"), {"a": 1}) is None
    assert misses(tamis.parse("true or a = 1"), {}) == ()


@given(expressions(), events())
def test_nothing_is_missing_exactly_if_it_matches(expression: Expression, event: dict[str, object]) -> None:
    assert (misses(expression, event) == ()) == expression.matches(event)
