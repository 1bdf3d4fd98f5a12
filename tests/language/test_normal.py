from typing import Any

import pytest
from hypothesis import given, settings

import tamis
from support.strategies import events, expressions
from tamis.language import Expression, Not, Xnor, Xor
from tamis.language.normal import Clause, TooManyClausesError, clauses, without_negation
from tamis.language.values import read
from tamis.language.valueset import ValueSet


def meets(event: dict[str, Any], attribute: str, values: ValueSet) -> bool:
    """The oracle for sets of values: look the value up, then ask each filter."""
    return values.contains(*read(event, attribute)) and all(each.matches(event) for each in values.filters)


def fits(event: dict[str, Any], clause: Clause) -> bool:
    return all(meets(event, attribute, values) for attribute, values in clause.items())


@given(expressions(), events())
@settings(max_examples=500)
def test_every_form_matches_the_same_events(expression: Expression, event: dict[str, Any]) -> None:
    truth = expression.matches(event)
    assert without_negation(expression).matches(event) is truth
    assert expression.normalized().matches(event) is truth
    try:
        disjuncts = clauses(expression)
    except TooManyClausesError:
        return
    assert any(fits(event, clause) for clause in disjuncts) is truth
    assert not (expression.never and truth)
    assert not (expression.always and not truth)


@given(expressions())
@settings(max_examples=300)
def test_normal_form_is_canonical(expression: Expression) -> None:
    normal = expression.normalized()
    assert normal.normalized() == normal
    assert tamis.parse(str(normal)) == normal
    assert normal.attributes <= expression.attributes

    def nodes(each: Expression) -> list[Expression]:
        return [each, *(below for child in each.children() for below in nodes(child))]

    assert not any(isinstance(each, Not | Xor | Xnor) for each in nodes(normal))


@pytest.mark.parametrize(
    ("text", "normal"),
    [
        ("b = 2 and a = 1", "a = 1 and b = 2"),
        ("(a = 1 and b = 2) and a = 1", "a = 1 and b = 2"),
        ("not (a > 1 or b = 2)", "a <= 1 and b <> 2"),
        ("not not a = 1", "a = 1"),
        ("a > 3 and a <> 5 and a <> 7 and a <= 9", "a > 3 and a <= 9 and a not in (5, 7)"),
        ("a = 1 or a = 2 or a between 5 and 9", "a between 5 and 9 or a in (1, 2)"),
        ("a >= 3 and a <= 3", "a = 3"),
        ("a > 5 and a < 3", "false"),
        ("a = 1 and a = 'x'", "false"),
        ("a is null and a = 1", "false"),
        ("a is null or a is not null", "true"),
        ("a is not null and a > 1", "a > 1"),
        ("a in (1, null)", "a = 1"),
        ("a not in (1, null)", "false"),
        ("s like 'ab%'", "s >= 'ab' and s < 'ac'"),
        ("s like 'ab'", "s = 'ab'"),
        ("s like '%b' and s like 'ab%'", "s >= 'ab' and s < 'ac' and s like '%b'"),
        ("s like 'a%b'", "s like 'a%b'"),
        ("s >= ''", "s >= ''"),
        ("flag or flag = false", "flag in (false, true)"),
        ("flag > false", "flag"),
        ("a = 1 or true", "true"),
        ("(a = 1) <> (b = 2)", "a <> 1 and b = 2 or a = 1 and b <> 2"),
        ("not array_contains(t, 1) and array_contains(t, 1)", "false"),
    ],
)
def test_normal_forms(text: str, normal: str) -> None:
    assert str(tamis.parse(text).normalized()) == normal


def test_clauses_report_an_explosion_before_they_make_it() -> None:
    text = " and ".join(f"(a{i} = 1 or b{i} = 1)" for i in range(60))
    with pytest.raises(TooManyClausesError) as caught:
        clauses(tamis.parse(text))
    assert caught.value.count == 2**60
    assert "more than 256" in str(caught.value)
    assert len(clauses(tamis.parse("(a = 1 or b = 1) and (c = 1 or d = 1)"))) == 4


def test_clauses_of_the_thesis_example() -> None:
    # specs/002 §8: X1 = (a or b or c) and d and (e or f) becomes six conjunctions.
    assert len(clauses(tamis.parse("(a or b or c) and d and (e or f)"))) == 6


def test_clauses_drop_contradictions_and_repeats() -> None:
    assert clauses(tamis.parse("(a = 1 or b = 1) and (a = 2 or b = 2)")) == clauses(
        tamis.parse("a = 1 and b = 2 or b = 1 and a = 2")
    )
    assert clauses(tamis.parse("a = 1 and a = 2")) == []
    assert clauses(tamis.parse("true")) == [{}]


@pytest.mark.parametrize(
    ("text", "never", "always"),
    [
        ("a > 5 and a < 3", True, False),
        ("(a = 1 or b = 1) and a = 2 and b = 2", True, False),
        ("a > 5 and not a > 5", True, False),
        ("a between 3 and 2", True, False),
        ("s < ''", True, False),
        ("s like 'a%' and s like 'b%'", True, False),
        ("a = 5 and array_contains(a, 5)", True, False),
        ("false", True, False),
        ("a > 5 or a <= 5", False, False),
        ("a > 5 or a <= 5 or a is null", False, False),
        ("a is null or a is not null", False, True),
        ("a is null or a is not null and (b is null or b is not null)", False, True),
        ("a = 1 or b is null or not (a = 1) or a is null or b is not null", False, True),
        ("true", False, True),
        ("a > 5 and a < 6", False, False),
    ],
)
def test_conditions_that_never_or_always_match(text: str, never: bool, always: bool) -> None:
    expression = tamis.parse(text)
    assert expression.never is never
    assert expression.always is always


def test_deciding_gives_up_rather_than_explode() -> None:
    many = " and ".join(f"(a{i} = 1 or b{i} = 1)" for i in range(60))
    assert not tamis.parse(many).never
    assert not tamis.parse(many).always
