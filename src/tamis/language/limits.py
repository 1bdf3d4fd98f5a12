"""How large a condition may be. Past a limit the parser raises `ExpressionError`."""

from typing import Final

#: Length of a condition's text in UTF-8 bytes.
MAX_TEXT_BYTES: Final = 64 * 1024
#: Depth of parentheses and `not`.
MAX_NESTING: Final = 64
#: Conditions compared with conditions inside each other. Each level doubles the negation-free form.
MAX_XOR_NESTING: Final = 8
#: Values in one `in` list.
MAX_IN_LIST: Final = 10_000
#: Integers are signed and have 64 bits.
MIN_INTEGER: Final = -(2**63)
MAX_INTEGER: Final = 2**63 - 1
