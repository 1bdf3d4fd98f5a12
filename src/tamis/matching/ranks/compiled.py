"""How hot loops are compiled."""

from collections.abc import Callable
from typing import Any, TypeVar, cast

from numba import njit

F = TypeVar("F", bound=Callable[..., Any])


def kernel(function: F) -> F:
    """Compile a function of arrays and numbers: once for all processes, callable without the GIL.

    The function before compilation is its plain twin, `py_func`; under `NUMBA_DISABLE_JIT=1` it is used instead.
    """
    return cast(F, njit(cache=True, nogil=True)(function))
