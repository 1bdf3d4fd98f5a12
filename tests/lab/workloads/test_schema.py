import datetime as dt

import numpy as np
import pyarrow as pa
import pytest

from tamis.lab.workloads.schema import Attribute, Category, Flag, Moment, Number, Tags, conditions, events
from tamis.language import ArrayContains, Between, Comparison, In, IsNull, Like, Not, parse

WORDS = ["north", "south", "east"]


@pytest.mark.parametrize(
    ("attribute", "kinds"),
    [
        (Category("place", WORDS), {Comparison, In, Like, IsNull}),
        (Category("pair", WORDS[:2]), {Comparison, In, Like, IsNull}),
        (Number("level", mean=5, deviation=2), {Comparison, Between}),
        (Flag("open", true=0.5), {Comparison, Not}),
        (Moment("at", start="2026-01-05", hours=2), {Comparison, Between}),
        (Tags("tags", WORDS, most=2), {ArrayContains}),
    ],
)
def test_predicates_are_of_the_kinds_that_suit_the_attribute_and_true_of_some_values(
    attribute: Attribute, kinds: set[type]
) -> None:
    rng = np.random.default_rng(1)
    expressions = [parse(text) for text in attribute.predicates(rng, 300).to_pylist()]
    assert {type(expression) for expression in expressions} == kinds
    assert {name for expression in expressions for name in expression.attributes} == {attribute.name}
    values = attribute.column(rng, 50).to_pylist()
    truths = [expression.truth({attribute.name: value}) for expression in expressions for value in values]
    assert set(truths) == {True, False}


def test_a_share_of_the_values_is_absent() -> None:
    column = Category("place", WORDS, absent=0.3).column(np.random.default_rng(1), 10_000)
    assert column.null_count / 10_000 == pytest.approx(0.3, rel=0.05)


def test_numbers_have_their_decimals_and_stay_between_their_ends() -> None:
    whole = Number("x", mean=50, deviation=40, decimals=0, least=0, greatest=100)
    column = whole.column(np.random.default_rng(1), 1_000)
    assert column.type == pa.int64()
    assert (min(column.to_pylist()), max(column.to_pylist())) == (0, 100)
    tenths = Number("x", mean=1, deviation=0.5, decimals=1, logarithmic=True).column(np.random.default_rng(1), 1_000)
    assert all(value > 0 and round(value, 1) == value for value in tenths.to_pylist())


def test_moments_lie_within_the_hours() -> None:
    column = Moment("at", start="2026-01-05", hours=2).column(np.random.default_rng(1), 1_000)
    start = dt.datetime(2026, 1, 5, tzinfo=dt.UTC)
    assert all(start <= moment < start + dt.timedelta(hours=2) for moment in column.to_pylist())


def test_tags_are_different_words() -> None:
    for tags in Tags("tags", WORDS, most=3).column(np.random.default_rng(1), 200).to_pylist():
        assert len(set(tags)) == len(tags) <= 3


def test_conditions_choose_the_key_and_ask_each_other_attribute_once() -> None:
    others = [Number(f"n{number}", mean=0, deviation=1) for number in range(6)]
    for text in conditions(np.random.default_rng(1), Category("key", WORDS), others, 300).texts().to_pylist():
        names = [predicate.attribute for predicate in parse(text).predicates()]
        assert names[0] == "key"
        assert len(set(names)) == len(names)


def test_names_with_dots_become_nested_columns() -> None:
    attributes = [Flag("a.b.c", true=1), Flag("a.d", true=0), Flag("e", true=1)]
    told = events(np.random.default_rng(1), attributes, 2)
    assert list(told.rows()) == [{"a": {"b": {"c": True}, "d": False}, "e": True}] * 2
