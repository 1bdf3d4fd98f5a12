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


def brief(function: F) -> F:
    """Compile a function that is done before another thread could wake up: it keeps the GIL.

    Numba keeps code by function, whatever the way it was compiled: never give one function to both this and `kernel`.
    """
    return cast(F, njit(cache=True)(function))


def inlined(function: F) -> F:
    """Compile a function into every kernel that calls it: for what is called once for each of very many things."""
    return cast(F, njit(cache=True, nogil=True, inline="always")(function))
