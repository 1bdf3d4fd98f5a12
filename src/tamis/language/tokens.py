"""How a condition's text is cut into tokens.

The parser works on plain strings and needs no positions until something is wrong; they are found again then.
"""

import re
from typing import Final

_BLANK = " \t\r\n\f\v"
#: One token after optional blanks. Anything that fits nothing else is a token of one character, so that no
#: character is ever passed over.
_TOKEN = re.compile(
    rf"""[{_BLANK}]*+(
        [A-Za-z_][A-Za-z0-9_]*+
      | (?:[0-9]++(?:\.[0-9]*+)?+|\.[0-9]++)(?:[eE][+-]?+[0-9]++)?+
      | '(?:[^']|'')*+'
      | `(?:[^`]|``)++`
      | <= | >= | <> | != | ==
      | .
    )""",
    re.VERBOSE | re.DOTALL,
)

#: The token after the last one.
END: Final = ""


def tokens(text: str) -> list[str]:
    """Return the tokens of a text, followed by `END`."""
    found = _TOKEN.findall(text.rstrip(_BLANK))
    found.append(END)
    return found


def position(text: str, index: int) -> int:
    """Return where the token with this index starts."""
    stripped = text.rstrip(_BLANK)
    for number, match in enumerate(_TOKEN.finditer(stripped)):
        if number == index:
            return match.start(1)
    return len(stripped)
