"""Patterns of `like`: `%` stands for any text, `_` for one character.

There is no escape character unless `escape` names one, as in standard SQL.
"""

import re
from functools import lru_cache
from typing import NamedTuple


class BadPatternError(ValueError):
    """A pattern's escape character stands before something it cannot escape."""


class Pattern(NamedTuple):
    """A pattern taken apart.

    `prefix` and `suffix` are the fixed ends. `middle` is `None` when the pattern is exactly the text
    `prefix`; otherwise it lists the tokens between the ends: a string, or `%` as `...`, or `_` as `None`.
    """

    prefix: str
    middle: tuple[object, ...] | None
    suffix: str
    regex: re.Pattern[str]

    @property
    def exact(self) -> bool:
        """Whether only one text fits: the pattern has no wildcard."""
        return self.middle is None

    @property
    def is_prefix(self) -> bool:
        """Whether the pattern is `text%`, so that the fitting texts are one range."""
        return self.middle == (...,) and not self.suffix

    @property
    def is_suffix(self) -> bool:
        """Whether the pattern is `%text`."""
        return self.middle == (...,) and not self.prefix

    @property
    def substring(self) -> str | None:
        """The text of a pattern `%text%`, otherwise `None`."""
        match self.middle:
            case (first, str(text), last) if first is ... and last is ... and not self.prefix + self.suffix:
                return text
        return None


@lru_cache(maxsize=65_536)
def pattern(text: str, escape: str | None = None) -> Pattern:
    """Take a pattern apart, or raise `BadPatternError`."""
    tokens: list[object] = []
    characters = iter(text)
    for character in characters:
        token: object = character
        if character == escape:
            token = next(characters, None)
            if token is None or token not in ("%", "_", escape):
                raise BadPatternError(f"the escape character {escape!r} must stand before %, _ or itself")
        elif character == "%":
            if tokens and tokens[-1] is ...:
                continue
            token = ...
        elif character == "_":
            token = None
        if isinstance(token, str) and tokens and isinstance(tokens[-1], str):
            tokens[-1] += token
        else:
            tokens.append(token)
    source = "".join(re.escape(token) if isinstance(token, str) else "." if token is None else ".*" for token in tokens)
    regex = re.compile(source, re.DOTALL)
    if not tokens:
        return Pattern("", None, "", regex)
    prefix = tokens.pop(0) if isinstance(tokens[0], str) else ""
    if not tokens:
        return Pattern(str(prefix), None, "", regex)
    suffix = tokens.pop() if isinstance(tokens[-1], str) else ""
    return Pattern(str(prefix), tuple(tokens), str(suffix), regex)
