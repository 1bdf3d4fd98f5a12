import datetime as dt
import random
import string

import pytest
from hypothesis import given

import tamis
from support.strategies import expressions
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
    compare,
)
from tamis.language.limits import MAX_IN_LIST, MAX_NESTING, MAX_TEXT_BYTES, MAX_XOR_NESTING

FLAG = Comparison("flag", "=", True, Kind.BOOLEAN)
A, B, C = compare("a", "=", 1), compare("b", "=", 2), compare("c", "=", 3)


@pytest.mark.parametrize(
    ("text", "tree"),
    [
        ("a = 1", A),
        ("a == 1", A),
        ("a=1.0", A),
        ("1 = a", A),
        ("a != 1", compare("a", "<>", 1)),
        ("10 >= a", compare("a", "<=", 10)),
        ("a > -1.5e3", compare("a", ">", -1500)),
        ("a > .5", compare("a", ">", 0.5)),
        ("a > +5.", compare("a", ">", 5)),
        ("a = -0.0", compare("a", "=", 0)),
        ("a = -9223372036854775808", compare("a", "=", -(2**63))),
        ("a = 1e300", compare("a", "=", 1e300)),
        ("a = 0000000000000000000000000000007", compare("a", "=", 7)),
        ("a = 'it''s'", compare("a", "=", "it's")),
        (r"a = 'back\slash'", compare("a", "=", r"back\slash")),
        ("a = TRUE", Comparison("a", "=", True, Kind.BOOLEAN)),
        ("flag", FLAG),
        ("not flag", Not(FLAG)),
        ("a between 1 and 5", Between("a", 1, 5, Kind.NUMBER)),
        ("a NOT BETWEEN 1 AND 5", Between("a", 1, 5, Kind.NUMBER, negated=True)),
        ("a in (1, 2, 2)", In("a", (1, 2), Kind.NUMBER)),
        ("a not in ('x', null)", In("a", ("x",), Kind.STRING, negated=True, has_null=True)),
        ("a in (null)", In("a", (), Kind.NULL, has_null=True)),
        ("a like 'x%'", Like("a", "x%")),
        ("a not like '!%%' escape '!'", Like("a", "!%%", "!", negated=True)),
        ("a is null", IsNull("a")),
        ("a is not null", IsNull("a", negated=True)),
        ("array_contains(tags, 'x')", ArrayContains("tags", "x", Kind.STRING)),
        ("not array_contains(tags, 1)", ArrayContains("tags", 1, Kind.NUMBER, negated=True)),
        ("not (array_contains(tags, 1))", Not(ArrayContains("tags", 1, Kind.NUMBER))),
        ("array_contains", Comparison("array_contains", "=", True, Kind.BOOLEAN)),
        ("a.b.`c d` = 1", compare("a.b.`c d`", "=", 1)),
        ("`plain` = 1", compare("plain", "=", 1)),
        ("`and` = 1", compare("`and`", "=", 1)),
        ("`a``b` = 1", compare("`a``b`", "=", 1)),
        ("timestamp > timestamp '2026-01-01'", compare("timestamp", ">", dt.datetime(2026, 1, 1, tzinfo=dt.UTC))),
        (
            "t = timestamp '2026-01-01T02:00:00.5+02:00'",
            compare("t", "=", dt.datetime(2026, 1, 1, 0, 0, 0, 500_000, tzinfo=dt.UTC)),
        ),
        ("date < date '2026-02-28'", compare("date", "<", dt.date(2026, 2, 28))),
        ("date '2026-02-28' > date", compare("date", "<", dt.date(2026, 2, 28))),
        ("escape = 1", compare("escape", "=", 1)),
        ("true", Constant(True)),
        ("a = 1 and b = 2 or c = 3", Or((And((A, B)), C))),
        ("a = 1 and (b = 2 or c = 3)", And((A, Or((B, C))))),
        ("a = 1 and b = 2 and c = 3", And((A, B, C))),
        ("(a = 1 and b = 2) and c = 3", And((And((A, B)), C))),
        ("not a = 1 and b = 2", And((Not(A), B))),
        ("(a = 1) <> (b = 2)", Xor(A, B)),
        ("(a = 1) = (b = 2)", Xnor(A, B)),
        ("(a = 1) != flag", Xor(A, FLAG)),
        ("flag <> (a = 1)", Xor(FLAG, A)),
        ("(a = 1) = true", Xnor(A, Constant(True))),
        ("not (a = 1) <> (b = 2)", Not(Xor(A, B))),
        ("\n a\t=\r\n1 ", A),
    ],
)
def test_texts_and_trees(text: str, tree: Expression) -> None:
    parsed = tamis.parse(text)
    assert parsed == tree
    assert tamis.parse(str(parsed)) == tree
    assert tamis.parse(text.encode()) == tree


@given(expressions(leaves=12))
def test_canonical_text_parses_back_to_an_equal_tree(expression: Expression) -> None:
    parsed = tamis.parse(str(expression))
    assert parsed == expression
    assert hash(parsed) == hash(expression)
    assert str(parsed) == str(expression)


def test_one_and_true_are_different_conditions() -> None:
    assert tamis.parse("x = 1") != tamis.parse("x = true")
    assert tamis.parse("x in (1)") != tamis.parse("x in (true)")


#: text, what the caret stands under, a part of the message
BROKEN = [
    ("price >> 3", ">", 7, "expected a value"),
    ("", "", 0, "expected a condition, found the end"),
    ("price >", "", 7, "expected a value, found the end"),
    ("price 5", "5", 6, "expected an operator, 'and', 'or' or the end"),
    ("price = 5 size = 3", "size", 10, "expected 'and', 'or' or the end"),
    ("and price = 5", "and", 0, "expected a condition"),
    ("price = 5 or", "", 12, "expected a condition"),
    ("(price = 5", "", 10, "expected 'and', 'or' or ')'"),
    ("price = 5)", ")", 9, "expected 'and', 'or' or the end"),
    ("price = 'abc", "'", 8, "no closing quote"),
    ('price = "abc"', '"', 8, "single quotes"),
    ("`price = 3", "`", 0, "no closing back-tick"),
    ("price = size", "size", 8, "not with each other"),
    ("price = null", "null", 8, "is null"),
    ("price between 1", "", 15, "expected 'and' and the upper end"),
    ("price between 1 and 'x'", "'x'", 20, "expected a number"),
    ("price in 5", "5", 9, "expected '('"),
    ("price in ()", ")", 10, "expected a value"),
    ("price in (1 2)", "2", 12, "expected ',' or ')'"),
    ("price in (1, 'a')", "'a'", 13, "expected a number like the value before it"),
    ("price not 5", "5", 10, "expected 'between', 'in' or 'like'"),
    ("price is 5", "5", 9, "expected 'null' or 'not null'"),
    ("name like 5", "5", 10, "expected a pattern"),
    ("name like 'a!' escape '!'", "'a!'", 10, "must stand before"),
    ("name like 'a' escape '!!'", "'!!'", 21, "one character"),
    ("price = 9223372036854775808", "9", 8, "64 bits"),
    ("price = 1e999", "1e999", 8, "too large"),
    ("price = -", "", 9, "expected a number after '-'"),
    ("t > timestamp '2026-13-01'", "'2026", 14, "expected a timestamp like"),
    ("t > date 5", "5", 9, "expected a date in single quotes"),
    ("array_contains(5, 1)", "5", 15, "expected the name of an attribute"),
    ("(a) < (b)", "<", 4, "= and <> only"),
    ("a. = 5", "=", 3, "expected the name of an attribute"),
    ("a.in = 5", "in", 2, "quote it as `in`"),
    ("prix_é = 5", "é", 5, "expected an operator"),
    ("a = 5; b = 6", ";", 5, "expected 'and', 'or' or the end"),
    ("5", "", 1, "expected a comparison"),
]


@pytest.mark.parametrize(("text", "token", "position", "message"), BROKEN)
def test_broken_texts_point_at_the_offending_token(text: str, token: str, position: int, message: str) -> None:
    with pytest.raises(tamis.ExpressionError) as caught:
        tamis.parse(text)
    error = caught.value
    assert message in error.message
    assert error.text == text
    assert error.position == position
    assert text[position:].startswith(token)
    shown, line, caret = str(error).split("\n")
    assert shown == error.message
    assert line[caret.index("^") :].startswith(token)
    assert "\n" not in error.one_line()


def test_the_caret_stands_in_the_right_line_and_window() -> None:
    with pytest.raises(tamis.ExpressionError) as caught:
        tamis.parse("a = 1\nand b >> 2\nand c = 3")
    assert str(caught.value).split("\n")[1:] == ["  and b >> 2", "         ^"]
    with pytest.raises(tamis.ExpressionError) as caught:
        tamis.parse(" and ".join(["a = 1"] * 50) + " b " + " and a = 1" * 50)
    _, line, caret = str(caught.value).split("\n")
    assert line[caret.index("^")] == "b"
    assert len(line) < 90


def test_limits() -> None:
    fits = "a = '" + "x" * (MAX_TEXT_BYTES - 6) + "'"
    tamis.parse(fits)
    for text in (fits + " ", "a = '" + "é" * (MAX_TEXT_BYTES // 2) + "'"):
        with pytest.raises(tamis.ExpressionError, match="at most 65,536 bytes"):
            tamis.parse(text)
    tamis.parse("(" * MAX_NESTING + "a" + ")" * MAX_NESTING)
    for text in ("(" * (MAX_NESTING + 1) + "a" + ")" * (MAX_NESTING + 1), "not " * (MAX_NESTING + 1) + "a"):
        with pytest.raises(tamis.ExpressionError, match="nested at most"):
            tamis.parse(text)
    tamis.parse(f"a in ({', '.join(['1'] * MAX_IN_LIST)})")
    with pytest.raises(tamis.ExpressionError, match="at most 10000 values"):
        tamis.parse(f"a in ({', '.join(['1'] * (MAX_IN_LIST + 1))})")
    left = right = "a"
    for _ in range(MAX_XOR_NESTING):
        left, right = f"({left}) <> (b)", f"(b) <> ({right})"
    tamis.parse(left)
    tamis.parse(right)
    for text in (f"({left}) <> (b)", f"(b) <> ({right})"):
        with pytest.raises(tamis.ExpressionError, match="at most 8 deep"):
            tamis.parse(text)


def test_what_is_no_text_is_refused() -> None:
    with pytest.raises(TypeError, match="not int"):
        tamis.parse(5)  # type: ignore[arg-type]
    with pytest.raises(tamis.ExpressionError, match="UTF-8"):
        tamis.parse(b"a = '\xff'")
    with pytest.raises(tamis.ExpressionError, match="surrogate"):
        tamis.parse("a = '\ud800'")


WORDS = [
    "a",
    "b",
    "`c",
    "d`",
    "and",
    "or",
    "not",
    "in",
    "between",
    "like",
    "is",
    "null",
    "true",
    "false",
    "escape",
    "timestamp",
    "date",
    "array_contains",
    "(",
    ")",
    ",",
    ".",
    "=",
    "<>",
    "<",
    "<=",
    ">",
    ">=",
    "!=",
    "==",
    "'x'",
    "'2026-01-01'",
    "1",
    "2.5",
    "-3",
    "1e400",
    "99999999999999999999",
    "'",
    "`",
    '"',
    ";",
    "é",
    "\x00",
]


def test_a_hundred_thousand_random_texts_raise_nothing_but_expression_errors() -> None:
    source = random.Random(20_26)
    printable = string.printable
    for number in range(100_000):
        text: str | bytes
        if number % 3 == 0:
            text = source.randbytes(source.randrange(40))
        elif number % 3 == 1:
            text = " ".join(source.choices(WORDS, k=source.randrange(14)))
        else:
            whole, _, _, _ = source.choice(BROKEN)
            at = source.randrange(len(whole) + 1)
            text = whole[:at] + source.choice(printable) + whole[at + source.randrange(2) :]
        try:
            parsed = tamis.parse(text)
        except tamis.ExpressionError as error:
            assert 0 <= error.position <= len(error.text)
            assert str(error)
        else:
            assert tamis.parse(str(parsed)) == parsed
