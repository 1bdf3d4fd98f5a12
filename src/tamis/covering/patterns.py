"""Does every text that fits one pattern of `like` fit another?"""

from functools import lru_cache
from typing import Final

from tamis.language import Like
from tamis.language.like import Pattern
from tamis.language.ranges import Ranges
from tamis.language.valueset import prefixed

#: Longer patterns, by the product of their lengths, are only compared for being the same.
MOST_STEPS: Final = 1_000_000

#: A pattern as a list: a character, or `_` as `None`, or `%` as `...`.
Tokens = tuple[object, ...]


def tokens_of(pattern: Pattern) -> Tokens:
    """Return a pattern with every run of wildcards in one order: `_` before `%`."""
    tokens: list[object] = [*pattern.prefix]
    for part in pattern.middle or ():
        if part is None and tokens and tokens[-1] is ...:
            tokens.insert(-1, None)
        elif part is not ... or not tokens or tokens[-1] is not ...:
            tokens += part if isinstance(part, str) else [part]
    return (*tokens, *pattern.suffix)


def is_within(inner: Tokens, outer: Tokens) -> bool:
    """Return whether it is certain that what fits the inner pattern fits the outer one.

    The outer pattern is matched against the inner one as if that were a text: `_` takes one token that stands for
    one character, `%` any tokens. That misses what holds only because of several ways to read a text.
    """
    if len(inner) * len(outer) > MOST_STEPS:
        return inner == outer
    # Places of `outer` that may have been reached.
    reached = _skipped({0}, outer)
    for token in inner:
        following = set()
        for place in reached:
            if place == len(outer):
                continue
            wanted = outer[place]
            if wanted is ...:
                following.add(place)
            elif token is not ... and (wanted is None or wanted == token):
                following.add(place + 1)
        reached = _skipped(following, outer)
    return len(outer) in reached


def _skipped(places: set[int], outer: Tokens) -> set[int]:
    reached = set(places)
    for place in places:
        while place < len(outer) and outer[place] is ...:
            place += 1
            reached.add(place)
    return reached


@lru_cache(maxsize=65_536)
def implies(like: Like, other: Like) -> bool:
    """Return whether it is certain that a text that meets one `like` meets another."""
    if like.negated is not other.negated:
        return False
    inner, outer = (other, like) if like.negated else (like, other)
    return is_within(tokens_of(inner.pattern), tokens_of(outer.pattern))


def common_beginning(ranges: Ranges) -> str:
    """Return what all texts of ranges begin with, or the beginning of that."""
    if ranges.starts_inside or len(ranges.cuts) % 2 or not ranges.cuts:
        return ""
    low, behind = str(ranges.cuts[0][0]), ranges.cuts[-1]
    shared = 0
    while low[shared : shared + 1] and low[shared] == str(behind[0])[shared]:
        shared += 1
    longer = low[: shared + 1]
    return longer if prefixed(longer).cuts[-1] >= behind else low[:shared]
