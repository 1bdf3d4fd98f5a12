"""The memory of a broker's process: what was freed goes back to the system."""

import ctypes
import sys
from contextlib import suppress
from typing import Final

#: Blocks of so many bytes are taken from the system one by one, and given back when they are freed.
LARGE: Final = 1 << 18

#: The number of the setting in glibc's `malloc.h`.
_MMAP_THRESHOLD: Final = -3


def return_large_blocks() -> None:
    """Let large blocks be given back when they are freed, where the C library is glibc; elsewhere nothing happens.

    By itself glibc raises the bound up to 32 MiB with every large block that is freed, and keeps smaller ones. Tables
    and arrays of a broker grow by doubling, which would leave holes: a tenth of what subscriptions take
    (bench/filters.py).
    """
    if sys.platform == "linux":
        with suppress(OSError, AttributeError):
            ctypes.CDLL(None).mallopt(_MMAP_THRESHOLD, LARGE)
