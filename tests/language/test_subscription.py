"""Subscriptions: a condition and a clause, as text and as fields."""

import random

import pytest
from hypothesis import given
from hypothesis import strategies as st

import tamis
from support.strategies import expressions
from tamis.language import (
    And,
    Between,
    Comparison,
    Expression,
    ExpressionError,
    In,
    IsNull,
    Kind,
    Like,
    Not,
    Notify,
    Or,
    Subscription,
    Xor,
    compare,
    parse_subscription,
)
from tamis.language.limits import MAX_TEXT_BYTES

WORDS = ("notify", "moves", "per", "by", "factor", "Notify", "PER")
ACME = compare("symbol", "=", "ACME")


@pytest.mark.parametrize(
    ("text", "clause"),
    [
        ("symbol = 'ACME' notify price moves 2", Notify("price", radius=2)),
        ("symbol = 'ACME' notify price moves .5", Notify("price", radius=0.5)),
        ("symbol = 'ACME' notify price moves 5%", Notify("price", relative=0.05)),
        ("symbol = 'ACME' notify price moves 0.7 %", Notify("price", relative=0.007)),
        ("symbol = 'ACME' notify price moves between 1 and 3", Notify("price", radius=3, may=1)),
        ("symbol = 'ACME' notify price moves between 1% and 3%", Notify("price", relative=0.03, may=0.01)),
        ("symbol = 'ACME' notify price moves by factor 1.5", Notify("price", factor=1.5)),
        ("symbol = 'ACME' notify price moves by factor between 1.1 and 2", Notify("price", factor=2, may=1.1)),
        ("symbol = 'ACME' NOTIFY price MOVES 2 PER symbol", Notify("price", radius=2, key="symbol")),
        ("symbol = 'ACME' notify a.`b c` moves 2 per `in`.x", Notify("a.`b c`", radius=2, key="`in`.x")),
        ("symbol = 'ACME' notify moves moves 2 per per", Notify("moves", radius=2, key="per")),
        ("symbol = 'ACME'\nnotify notify\tmoves 2e300", Notify("notify", radius=2e300)),
        ("symbol = 'ACME'", None),
    ],
)
def test_texts_and_clauses(text: str, clause: Notify | None) -> None:
    subscription = parse_subscription(text)
    assert subscription == Subscription(ACME, clause)
    assert parse_subscription(str(subscription)) == subscription
    assert parse_subscription(text.encode()) == subscription
    assert hash(parse_subscription(str(subscription))) == hash(subscription)


@pytest.mark.parametrize(
    "condition", ["urgent", "not urgent", "date", "timestamp", "array_contains", *WORDS, "x.notify"]
)
def test_a_bare_attribute_may_stand_before_the_clause(condition: str) -> None:
    found = parse_subscription(f"{condition} notify price moves 2")
    assert found == Subscription(tamis.parse(condition), Notify("price", radius=2))


def named_by_words() -> st.SearchStrategy[Expression]:
    """Conditions on attributes that are called like the words of the clause."""
    word = st.sampled_from(WORDS) | st.builds("{}.{}".format, st.sampled_from(WORDS), st.sampled_from(WORDS))
    number = st.integers(0, 9)
    predicate = (
        st.builds(compare, word, st.sampled_from(("=", "<", ">=")), number)
        | st.builds(Comparison, word, st.just("="), st.just(True), st.just(Kind.BOOLEAN))
        | st.builds(Between, word, number, number, st.just(Kind.NUMBER))
        | st.builds(In, word, st.just((1, 2)), st.just(Kind.NUMBER))
        | st.builds(IsNull, word, st.booleans())
        | st.builds(Like, word, st.just("x%"))
    )
    return st.recursive(
        predicate,
        lambda inner: (
            st.builds(Not, inner)
            | st.builds(Xor, inner, inner)
            | st.lists(inner, min_size=2, max_size=3)
            .map(tuple)
            .flatmap(lambda many: st.sampled_from((And(many), Or(many))))
        ),
        max_leaves=6,
    )


def clauses() -> st.SearchStrategy[Notify | None]:
    name = st.sampled_from((*WORDS, "price", "`odd name`", "a.b"))
    far = st.floats(min_value=1, exclude_min=True, allow_infinity=False)
    pair = st.tuples(far, far | st.none())

    def made(measure: str, attribute: str, key: str | None, both: tuple[float, float | None]) -> Notify:
        must, may = max(each for each in both if each), both[1] and min(both)  # type: ignore[type-var] # no None left
        return Notify(attribute, key=key, may=may, **{measure: must})

    return st.none() | st.builds(made, st.sampled_from(("radius", "relative", "factor")), name, st.none() | name, pair)


@given(expressions() | named_by_words(), clauses())
def test_canonical_text_parses_back(condition: Expression, clause: Notify | None) -> None:
    subscription = Subscription(condition, clause)
    assert parse_subscription(str(subscription)) == subscription
    normal = subscription.normalized()
    assert normal.condition == condition.normalized()
    assert normal.normalized() == normal == parse_subscription(str(normal))


@given(expressions() | named_by_words())
def test_the_words_of_the_clause_are_not_reserved(condition: Expression) -> None:
    assert tamis.parse(str(condition)) == condition
    assert parse_subscription(str(condition)) == Subscription(condition)


BROKEN = [
    ("urgent notify", "", "expected the name of an attribute, found the end"),
    ("urgent notify in moves 2", "in", "quote it as `in`"),
    ("urgent notify price", "", "expected 'moves' and how far, found the end"),
    ("urgent notify price 2", "2", "expected 'moves' and how far"),
    ("urgent notify price moves", "", "expected a number above 0, found the end"),
    ("urgent notify price moves 0", "0", "expected a number above 0, found '0'"),
    ("urgent notify price moves 0.0%", "0.0", "expected a number above 0"),
    ("urgent notify price moves 1e-400", "1e-400", "expected a number above 0"),
    ("urgent notify price moves -1", "-1", "expected a number above 0, found '-'"),
    ("urgent notify price moves nan", "nan", "expected a number above 0, found 'nan'"),
    ("urgent notify price moves inf", "inf", "expected a number above 0"),
    ("urgent notify price moves '2'", "'2'", "expected a number above 0"),
    ("urgent notify price moves ٣", "٣", "expected a number above 0"),
    ("urgent notify price moves 1e999", "1e999", "too large"),
    ("urgent notify price moves 1e999%", "1e999", "too large"),
    ("urgent notify price moves between 1", "", "expected 'and' and from where on"),
    ("urgent notify price moves between 3 and 1", "1", "not below the one before 'and'"),
    ("urgent notify price moves between 3% and 1%", "1%", "not below the one before 'and'"),
    ("urgent notify price moves between 1% and 3", "", "expected '%', as after the other number"),
    ("urgent notify price moves between 1% and 3 per k", "per", "expected '%', as after the other number"),
    ("urgent notify price moves between 1 and 3%", "%", "expected no '%', or one after both"),
    ("urgent notify price moves by 2", "2", "expected 'factor'"),
    ("urgent notify price moves by factor 1", "1", "expected a number above 1"),
    ("urgent notify price moves by factor 5%", "%", "expected 'per' or the end"),
    ("urgent notify price moves 2 %%", "%", "expected 'per' or the end"),
    ("urgent notify price moves 2 and x = 1", "and", "expected 'per' or the end, found 'and'"),
    ("urgent notify price moves 2 per", "", "expected the name of an attribute"),
    ("urgent notify price moves 2 per 'x'", "'x'", "expected the name of an attribute"),
    ("urgent notify price moves 2 per symbol now", "now", "expected the end, found 'now'"),
    ("notify price moves 2", "price", "expected an operator, 'and', 'or', 'notify' or the end"),
    ("x = 1 notifies", "notifies", "expected 'and', 'or', 'notify' or the end"),
    ("(urgent notify price moves 2)", "notify", "expected 'and', 'or' or ')'"),
    ("x = notify price moves 2", "notify", "expected a value"),
    ("", "", "expected a condition, found the end"),
]


@pytest.mark.parametrize(("text", "token", "message"), BROKEN)
def test_broken_texts_point_at_the_offending_token(text: str, token: str, message: str) -> None:
    with pytest.raises(ExpressionError) as caught:
        parse_subscription(text)
    error = caught.value
    assert message in error.message
    assert text[error.position :].startswith(token)
    _, line, caret = str(error).split("\n")
    assert line[caret.index("^") :].startswith(token)


def test_where_a_condition_is_wanted_a_clause_is_refused() -> None:
    text = "symbol = 'ACME' notify price moves 2"
    with pytest.raises(
        ExpressionError, match="a condition is wanted here; a 'notify' clause belongs to a subscription"
    ):
        tamis.parse(text)
    index = tamis.Index()
    with pytest.raises(ExpressionError) as caught:
        index.add("alice", text)
    assert caught.value.position == text.index("notify")
    assert len(index) == 0


def test_limits_and_what_is_no_text() -> None:
    with pytest.raises(ExpressionError, match="at most 65,536 bytes"):
        parse_subscription("a notify b moves 2" + " " * MAX_TEXT_BYTES)
    with pytest.raises(TypeError, match="not int"):
        parse_subscription(5)  # type: ignore[arg-type] # that is the point


def test_random_texts_parse_as_before_or_raise_expression_errors() -> None:
    source = random.Random(3)
    words = [
        *WORDS,
        "a",
        "and",
        "or",
        "not",
        "between",
        "in",
        "(",
        ")",
        "=",
        "<",
        "1",
        "2.5",
        "%",
        "-",
        ".",
        "'x'",
        "is",
    ]
    parsed = 0
    for _ in range(30_000):
        text = " ".join(source.choices(words, k=source.randrange(12)))
        try:
            condition = tamis.parse(text)
        except ExpressionError:
            try:
                found = parse_subscription(text)
            except ExpressionError as error:
                assert 0 <= error.position <= len(text)
                continue
            assert found.notify is not None
            assert parse_subscription(str(found)) == found
        else:
            parsed += 1
            assert parse_subscription(text) == Subscription(condition)
    assert parsed > 500
