"""A stream of CSV as blocks that end where a row ends.

Arrow's streaming reader finds these places by itself, but reads ahead in a thread that needs Python's lock: a program
that ends while it does so is aborted.
"""

from collections.abc import Iterator
from typing import BinaryIO, Final

import numpy as np
import numpy.typing as npt
import pyarrow as pa

from tamis.compiled import kernel

_QUOTE, _COMMA, _NEWLINE, _RETURN = b'",\n\r'
#: Where a byte may stand: before a field, in one without quotes, between quotes, after a quote between quotes.
_START, _PLAIN, _QUOTED, _CLOSING = range(4)

_ROW_TOO_LONG: Final = "a row is longer than {:,} bytes; is a quote left open?"


def whole_rows(stream: BinaryIO, block_bytes: int) -> Iterator[pa.Buffer]:
    """Yield the rows of a stream, many at a time; ValueError for a row that is longer than a block."""
    rest = b""
    while read := stream.read(block_bytes):
        text = rest + read
        end = int(row_end(np.frombuffer(text, np.uint8)))
        if end:
            yield _outside_python(text[:end])
        rest = text[end:]
        if len(rest) > block_bytes:
            raise ValueError(_ROW_TOO_LONG.format(block_bytes))
    if rest:
        yield _outside_python(rest)


@kernel
def row_end(text: npt.NDArray[np.uint8]) -> int:
    """Return where the last whole row ends, of a text that begins with one; quotes count as they do for Arrow."""
    state, end = _START, 0
    for place, byte in enumerate(text):
        if state == _QUOTED:
            if byte == _QUOTE:
                state = _CLOSING
        elif byte == _QUOTE and state != _PLAIN:
            state = _QUOTED
        elif byte == _COMMA:
            state = _START
        elif byte in (_NEWLINE, _RETURN):
            state, end = _START, place + 1
        else:
            state = _PLAIN
    return end


def _outside_python(text: bytes) -> pa.Buffer:
    """Copy bytes to memory that Arrow's threads can let go of without Python's lock."""
    buffer = pa.allocate_buffer(len(text))
    np.frombuffer(buffer, np.uint8)[:] = np.frombuffer(text, np.uint8)
    return buffer
