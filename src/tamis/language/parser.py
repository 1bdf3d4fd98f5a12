"""From text to tree: a hand-written recursive descent (the measured reason is in docs/architecture.md).

condition   := conjunction ("or" conjunction)*
conjunction := negation ("and" negation)*
negation    := "not" negation | primary
primary     := "(" condition ")" [("=" | "<>") operand] | predicate | "true" | "false"
operand     := "(" condition ")" | name | "true" | "false"
predicate   := name | name comparison value | value comparison name
             | name ["not"] "between" value "and" value
             | name ["not"] "in" "(" value ("," value)* ")"
             | name ["not"] "like" string ["escape" string]
             | name "is" ["not"] "null"
             | name ("=" | "<>") "(" condition ")"
             | "array_contains" "(" name "," value ")"
"""

from collections.abc import Callable
from typing import Final, TypeVar

from tamis.language import literals
from tamis.language.errors import ExpressionError
from tamis.language.like import pattern
from tamis.language.limits import MAX_IN_LIST, MAX_NESTING, MAX_TEXT_BYTES, MAX_XOR_NESTING
from tamis.language.names import RESERVED, quoted
from tamis.language.tokens import END, position, tokens
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
    Xnor,
    Xor,
)
from tamis.language.values import Kind, Literal

T = TypeVar("T")

_COMPARISONS: Final = {
    "=": "=",
    "==": "=",
    "<>": "<>",
    "!=": "<>",
    "<": "<",
    "<=": "<=",
    ">": ">",
    ">=": ">=",
}
_FLIPPED: Final = {"=": "=", "<>": "<>", "<": ">", "<=": ">=", ">": "<", ">=": "<="}
_LETTERS: Final = frozenset("abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ_`")
#: How a number begins.
DIGITS: Final = frozenset("0123456789.")
_LITERAL_STARTS: Final = DIGITS | frozenset("'-+")
_KIND_NAMES: Final = {
    Kind.NUMBER: "a number",
    Kind.STRING: "a string",
    Kind.BOOLEAN: "a Boolean",
    Kind.TIMESTAMP: "a timestamp",
    Kind.DATE: "a date",
}


def parse(text: str | bytes) -> Expression:
    """Return the expression that a text states, or raise `ExpressionError`. Bytes are read as UTF-8."""
    return Parser(checked_text(text)).parse()


def checked_text(text: str | bytes) -> str:
    """Return a text that can be parsed, or raise what is wrong with it as a whole."""
    if isinstance(text, bytes):
        text = _decoded(text)
    if not isinstance(text, str):
        raise TypeError(f"a condition is a str, not {type(text).__name__}")
    if len(text) > MAX_TEXT_BYTES or (not text.isascii() and _utf8_length(text) > MAX_TEXT_BYTES):
        raise ExpressionError(f"a condition has at most {MAX_TEXT_BYTES:,} bytes", text, 0)
    return text


def _decoded(text: bytes) -> str:
    try:
        return text.decode()
    except UnicodeDecodeError as error:
        shown = text.decode(errors="replace")
        raise ExpressionError("a condition is UTF-8 text", shown, len(text[: error.start].decode())) from None


def _utf8_length(text: str) -> int:
    try:
        return len(text.encode())
    except UnicodeEncodeError as error:
        raise ExpressionError("half of a surrogate pair is not a character", text, error.start) from None


class Parser:
    """Goes through the tokens of one text. `subscription.py` adds what may follow a condition."""

    __slots__ = ("at", "depth", "text", "tokens")

    #: What may follow a condition.
    follow = "'and', 'or' or the end"

    def __init__(self, text: str) -> None:
        self.text = text
        self.tokens = tokens(text)
        self.at = 0
        self.depth = 0

    def parse(self) -> Expression:
        expression = self.condition()
        if self.tokens[self.at] is not END:
            if self.word() == "notify":
                raise self.error("a condition is wanted here; a 'notify' clause belongs to a subscription")
            raise self.left_over(expression)
        return expression

    def left_over(self, expression: Expression) -> ExpressionError:
        """Return what is wrong with a text that goes on after its condition."""
        bare = isinstance(expression, Comparison) and self.at == 1
        return self.error(f"expected an operator, {self.follow}" if bare else f"expected {self.follow}")

    # --- errors -----------------------------------------------------------------------------------

    def error(self, message: str, back: int = 0) -> ExpressionError:
        index = self.at - back
        token = self.tokens[index]
        if token is END:
            found = ", found the end"
        elif token == "'":
            message, found = "this string has no closing quote", ""
        elif token == '"':
            message, found = "write strings in single quotes and names in back-ticks", ""
        elif token == "`":
            message, found = "this name is empty or has no closing back-tick", ""
        elif message.startswith("expected"):
            found = f", found {_shown(token)}"
        else:
            found = ""
        return ExpressionError(message + found, self.text, position(self.text, index))

    def attempt(self, build: Callable[..., T], *arguments: object, back: int = 1) -> T:
        """Call a function whose `ValueError` is about the token just taken."""
        try:
            return build(*arguments)
        except ValueError as error:
            raise self.error(str(error), back) from None

    # --- tokens -----------------------------------------------------------------------------------

    def word(self) -> str:
        """Return the next token in lower case."""
        return self.tokens[self.at].lower()

    def expect(self, token: str, message: str) -> None:
        if self.word() != token:
            raise self.error(message)
        self.at += 1

    def deeper(self) -> None:
        self.depth += 1
        if self.depth > MAX_NESTING:
            raise self.error(f"a condition is nested at most {MAX_NESTING} deep")

    # --- Boolean structure ------------------------------------------------------------------------

    def condition(self) -> Expression:
        first = self.conjunction()
        if self.word() != "or":
            return first
        operands = [first]
        while self.word() == "or":
            self.at += 1
            operands.append(self.conjunction())
        return Or(tuple(operands))

    def conjunction(self) -> Expression:
        first = self.negation()
        if self.word() != "and":
            return first
        operands = [first]
        while self.word() == "and":
            self.at += 1
            operands.append(self.negation())
        return And(tuple(operands))

    def negation(self) -> Expression:
        if self.word() != "not":
            return self.primary()
        self.at += 1
        if self.word() == "array_contains" and self.tokens[self.at + 1] == "(":
            return self.array_contains(negated=True)
        self.deeper()
        operand = self.negation()
        self.depth -= 1
        return Not(operand)

    def primary(self) -> Expression:
        token = self.tokens[self.at]
        if token == "(":
            left = self.parenthesis()
            comparison = _COMPARISONS.get(self.tokens[self.at])
            return left if comparison is None else self.pair(left, comparison)
        if token[:1] in _LETTERS:
            word = token.lower()
            if word in RESERVED:
                return self.constant()
            following = self.tokens[self.at + 1]
            if following == "(" and word == "array_contains":
                return self.array_contains(negated=False)
            if not (following[:1] == "'" and len(following) > 1 and word in ("timestamp", "date")):
                return self.predicate()
        elif token[:1] not in _LITERAL_STARTS:
            raise self.error("expected a condition")
        return self.flipped()

    def parenthesis(self) -> Expression:
        self.deeper()
        self.at += 1
        inner = self.condition()
        if self.tokens[self.at] != ")":
            raise self.error("expected 'and', 'or' or ')'")
        self.at += 1
        self.depth -= 1
        return inner

    def constant(self) -> Expression:
        word = self.word()
        if word not in ("true", "false"):
            raise self.error("expected a condition")
        self.at += 1
        return Constant(word == "true")

    def pair(self, left: Expression, comparison: str) -> Expression:
        """Parse the right side of a comparison between two conditions."""
        if comparison not in ("=", "<>"):
            raise self.error("conditions are compared with = and <> only")
        self.at += 1
        right: Expression
        if self.tokens[self.at] == "(":
            right = self.parenthesis()
        elif self.word() in ("true", "false"):
            right = self.constant()
        elif self.tokens[self.at][:1] in _LETTERS:
            right = Comparison(self.name(), "=", True, Kind.BOOLEAN)
        else:
            raise self.error("expected a condition")
        if max(_xor_depth(left), _xor_depth(right)) >= MAX_XOR_NESTING:
            raise self.error(f"conditions are compared with conditions at most {MAX_XOR_NESTING} deep", back=1)
        return Xor(left, right) if comparison == "<>" else Xnor(left, right)

    # --- predicates -------------------------------------------------------------------------------

    def predicate(self) -> Expression:
        attribute = self.name()
        token = self.tokens[self.at]
        comparison = _COMPARISONS.get(token)
        if comparison is not None:
            if self.tokens[self.at + 1] == "(":
                return self.pair(Comparison(attribute, "=", True, Kind.BOOLEAN), comparison)
            self.at += 1
            value, kind = self.literal()
            return Comparison(attribute, comparison, value, kind)
        word = token.lower()
        negated = word == "not"
        if negated:
            self.at += 1
            word = self.word()
        if word == "between":
            return self.between(attribute, negated)
        if word == "in":
            return self.membership(attribute, negated)
        if word == "like":
            return self.like(attribute, negated)
        if negated:
            raise self.error("expected 'between', 'in' or 'like' after 'not'")
        if word == "is":
            return self.null_test(attribute)
        return Comparison(attribute, "=", True, Kind.BOOLEAN)

    def flipped(self) -> Expression:
        """Parse `10 < price`."""
        value, kind = self.literal()
        comparison = _COMPARISONS.get(self.tokens[self.at])
        if comparison is None:
            raise self.error("expected a comparison (= <> < <= > >=)")
        self.at += 1
        return Comparison(self.name(), _FLIPPED[comparison], value, kind)

    def between(self, attribute: str, negated: bool) -> Expression:
        self.at += 1
        low, kind = self.literal()
        self.expect("and", "expected 'and' and the upper end")
        high, _ = self.literal(kind)
        return Between(attribute, low, high, kind, negated)

    def membership(self, attribute: str, negated: bool) -> Expression:
        self.at += 1
        self.expect("(", "expected '(' and a list of values")
        values: dict[Literal, None] = {}
        kind: Kind | None = None
        has_null = False
        count = 0
        while True:
            count += 1
            if count > MAX_IN_LIST:
                raise self.error(f"a list has at most {MAX_IN_LIST} values")
            if self.word() == "null":
                self.at += 1
                has_null = True
            else:
                value, kind = self.literal(kind)
                values[value] = None
            if self.tokens[self.at] != ",":
                break
            self.at += 1
        self.expect(")", "expected ',' or ')'")
        return In(attribute, tuple(values), kind or Kind.NULL, negated, has_null)

    def like(self, attribute: str, negated: bool) -> Expression:
        self.at += 1
        text = self.quoted_string("expected a pattern in single quotes")
        at = self.at
        escape = None
        if self.word() == "escape":
            self.at += 1
            escape = self.quoted_string("expected one character in single quotes")
            if len(escape) != 1:
                raise self.error("an escape is one character", back=1)
        self.attempt(pattern, text, escape, back=self.at - at + 1)
        return Like(attribute, text, escape, negated)

    def null_test(self, attribute: str) -> Expression:
        self.at += 1
        negated = self.word() == "not"
        self.at += negated
        self.expect("null", "expected 'null'" if negated else "expected 'null' or 'not null'")
        return IsNull(attribute, negated)

    def array_contains(self, negated: bool) -> Expression:
        self.at += 2
        attribute = self.name()
        self.expect(",", "expected ',' and a value")
        value, kind = self.literal()
        self.expect(")", "expected ')'")
        return ArrayContains(attribute, value, kind, negated)

    # --- names and values -------------------------------------------------------------------------

    def name(self) -> str:
        name = self.name_part()
        while self.tokens[self.at] == ".":
            self.at += 1
            name = f"{name}.{self.name_part()}"
        return name

    def name_part(self) -> str:
        token = self.tokens[self.at]
        if token[:1] not in _LETTERS or token == "`":
            raise self.error("expected the name of an attribute")
        if token[0] == "`":
            self.at += 1
            return quoted(token[1:-1].replace("``", "`"))
        if token.lower() in RESERVED:
            raise self.error(
                f"expected the name of an attribute ({token} is a word of the language: quote it as `{token}`)"
            )
        self.at += 1
        return token

    def quoted_string(self, message: str) -> str:
        token = self.tokens[self.at]
        if token[:1] != "'" or len(token) < 2:
            raise self.error(message)
        self.at += 1
        return literals.string(token)

    def literal(self, wanted: Kind | None = None) -> tuple[Literal, Kind]:
        """Parse a value; if a kind is wanted, of that kind."""
        start = self.at
        value, kind = self.any_literal()
        if wanted is not None and kind is not wanted:
            self.at = start
            raise self.error(f"expected {_KIND_NAMES[wanted]} like the value before it")
        return value, kind

    def any_literal(self) -> tuple[Literal, Kind]:
        token = self.tokens[self.at]
        first = token[:1]
        if first in DIGITS and token != ".":
            self.at += 1
            return self.attempt(literals.number, token, False), Kind.NUMBER
        if first == "'" and len(token) > 1:
            self.at += 1
            return literals.string(token), Kind.STRING
        if token in ("-", "+"):
            digits = self.tokens[self.at + 1]
            if digits[:1] not in DIGITS or digits == ".":
                self.at += 1
                raise self.error(f"expected a number after '{token}'")
            self.at += 2
            return self.attempt(literals.number, digits, token == "-"), Kind.NUMBER
        word = token.lower()
        if word in ("true", "false"):
            self.at += 1
            return word == "true", Kind.BOOLEAN
        if word in ("timestamp", "date"):
            self.at += 1
            text = self.quoted_string(f"expected a {word} in single quotes")
            if word == "timestamp":
                return self.attempt(literals.timestamp, text), Kind.TIMESTAMP
            return self.attempt(literals.date, text), Kind.DATE
        if word == "null":
            raise self.error("a comparison with null is never true; write 'is null' or 'is not null'")
        if first in _LETTERS:
            raise self.error("expected a value (attributes are compared with values, not with each other)")
        raise self.error("expected a value")


def _xor_depth(expression: Expression) -> int:
    deepest = max((_xor_depth(child) for child in expression.children()), default=0)
    return deepest + isinstance(expression, Xor | Xnor)


def _shown(token: str) -> str:
    token = token if len(token) <= 30 else token[:29] + "…"
    return token if token[0] in "'`" else f"'{token}'"
