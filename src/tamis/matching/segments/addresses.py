"""Arrays handed to a kernel as addresses.

To take twenty arrays apart, a kernel that is called for each event needs longer than for its work. So they are taken
apart once, by `addresses`; whoever calls the kernel owns the arrays as well, and leaves them where they are.
"""

import ctypes
from collections.abc import Callable, Sequence
from typing import Any

import numpy as np
import numpy.typing as npt
from llvmlite import ir
from numba import carray, types
from numba.extending import intrinsic, overload

from tamis.matching.ranks.lists import Longs


def addresses(arrays: Sequence[npt.NDArray[Any]]) -> Longs:
    """Return where arrays lie that are one stretch of memory each, and how long they are: two numbers for each."""
    if not all(each.flags.c_contiguous for each in arrays):
        raise ValueError("an array is in pieces: its address does not tell where they are")
    return np.array([number for each in arrays for number in (each.ctypes.data, len(each))], np.int64)


def array_at(held: Longs, number: int, dtype: Any) -> npt.NDArray[Any]:
    """Return array `number` of those whose addresses are held. It is valid only as long as the original."""
    address, length = int(held[2 * number]), int(held[2 * number + 1])
    dtype = np.dtype(dtype)
    if not length:
        return np.empty(0, dtype)
    return np.frombuffer((ctypes.c_char * (length * dtype.itemsize)).from_address(address), dtype)


@intrinsic  # type: ignore[untyped-decorator]
def _pointer(_: Any, address: Any) -> tuple[Any, Callable[..., Any]]:
    """Take a number for an address."""

    def generate(_context: Any, builder: Any, _signature: Any, arguments: Sequence[Any]) -> Any:
        return builder.inttoptr(arguments[0], ir.IntType(8).as_pointer())

    return types.voidptr(address), generate


@overload(array_at)  # type: ignore[untyped-decorator]
def _compiled_array_at(held: Any, number: Any, dtype: Any) -> Callable[..., Any]:  # noqa: ARG001 - Numba asks by type
    def compiled(held: Any, number: Any, dtype: Any) -> Any:
        return carray(_pointer(held[2 * number]), (held[2 * number + 1],), dtype)

    return compiled
