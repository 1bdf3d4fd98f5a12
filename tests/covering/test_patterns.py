"""Which pattern implies another, against all short texts."""

from itertools import product

from hypothesis import given
from hypothesis import strategies as st

from tamis.covering.patterns import common_beginning, implies, is_within, tokens_of
from tamis.language import Like
from tamis.language.like import pattern
from tamis.language.ranges import compared
from tamis.language.valueset import prefixed

#: The third letter is in no pattern, so it stands for all others.
TEXTS = ["".join(letters) for length in range(6) for letters in product("abx", repeat=length)]
patterns = st.text("ab%_", max_size=5)


def fitting(text: str) -> set[str]:
    return {each for each in TEXTS if pattern(text).regex.fullmatch(each)}


@given(patterns, patterns)
def test_never_wrongly_within(inner: str, outer: str) -> None:
    if is_within(tokens_of(pattern(inner)), tokens_of(pattern(outer))):
        assert fitting(inner) <= fitting(outer)


@given(patterns, st.text("ab", max_size=2), st.text("ab_", max_size=2))
def test_pieces_of_a_pattern_are_implied(middle: str, before: str, after: str) -> None:
    whole = tokens_of(pattern(before + middle + after))
    assert is_within(whole, tokens_of(pattern("%" + middle + "%")))
    assert is_within(whole, tokens_of(pattern(before + "%")))
    assert is_within(whole, whole)


def test_examples() -> None:
    assert implies(Like("s", "%abc%"), Like("s", "%b%"))
    assert not implies(Like("s", "%b%"), Like("s", "%abc%"))
    assert implies(Like("s", "%b%", None, True), Like("s", "%abc%", None, True))
    assert not implies(Like("s", "%abc%", None, True), Like("s", "%b%", None, True))
    assert not implies(Like("s", "%abc%"), Like("s", "%b%", None, True))
    assert implies(Like("s", "a!%b", "!"), Like("s", "a%"))
    assert not implies(Like("s", "a%b"), Like("s", "a!%b", "!"))


def test_endless_patterns_are_not_compared_for_ever() -> None:
    long = Like("s", "%a" * 5_000)
    assert implies(long, long)
    assert not implies(long, Like("s", "%a" * 4_000))


def test_common_beginning() -> None:
    assert common_beginning(compared("=", "abc").union(compared("=", "abd"))) == "ab"
    assert common_beginning(prefixed("abc")) == "abc"
    assert common_beginning(prefixed("abc").union(prefixed("abd"))) == "ab"
    assert common_beginning(prefixed("a").union(prefixed("b"))) == ""
    assert common_beginning(compared("<", "b")) == ""
    assert common_beginning(compared(">=", "b")) == ""
