"""Integers of 64 bits in compiled loops, and of any size in the same loops as plain Python."""

from collections.abc import Callable
from typing import Any, Final, TypeAlias, TypeVar, cast

import numpy as np
import numpy.typing as npt
from numba.extending import register_jitable

F = TypeVar("F", bound=Callable[..., Any])

Longs: TypeAlias = npt.NDArray[np.int64]
#: 64-bit integers, or Python's own in an array of objects where 64 bits do not hold them.
Integers: TypeAlias = npt.NDArray[Any]

#: A signed 64-bit integer counts so many bits without its sign.
MOST_BITS: Final = 63


def either(function: F) -> F:
    """Let compiled kernels call a function which stays plain Python for whoever else calls it.

    So one source serves both: compiled for 64-bit integers, and as it stands for Python's integers of any size.
    """
    return cast(F, register_jitable(function))


def dtype_of(wide: bool) -> npt.DTypeLike:
    """Return the type of arrays of 64-bit integers, or of wider ones."""
    return np.object_ if wide else np.int64


def integers(values: npt.ArrayLike, wide: bool, name: str) -> Integers:
    """Return an array of 64-bit integers, or if `wide` of Python's; anything but integers is refused by its name.

    Values that 64 bits do not hold stay Python integers even if not `wide`: a check then finds them, not wrapped.
    """
    array = np.asarray(values)
    if array.dtype.kind == "f" and not isinstance(values, np.ndarray):
        # NumPy makes doubles of integers below and above 2 ** 63 together.
        array = np.array(values, object)
    if array.dtype.kind == "i" or (array.dtype.kind == "u" and (array.size == 0 or array.max() >> MOST_BITS == 0)):
        return array.astype(dtype_of(wide), copy=False)
    flat = array.ravel().tolist()
    for each in flat:
        if isinstance(each, bool | np.bool) or not isinstance(each, int | np.integer):
            raise ValueError(f"{name} must be integers, not {each!r}")
    fits = all(-(1 << MOST_BITS) <= each < 1 << MOST_BITS for each in flat)
    exact: Integers = np.empty(array.size, dtype_of(wide or not fits))
    # An element of an array of objects may be a NumPy integer, which would wrap.
    exact[:] = [int(each) for each in flat]
    return exact.reshape(array.shape)
