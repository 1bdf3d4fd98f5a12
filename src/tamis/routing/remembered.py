"""Answers that are kept for the texts that were asked last: few in a process with one broker, many in a simulation."""

from collections.abc import Callable
from functools import lru_cache, wraps
from typing import Final, ParamSpec, TypeVar

P = ParamSpec("P")
T = TypeVar("T")

#: So many answers of each function are kept in a process with one broker. It asks for most texts once; a condition that
#: is kept parsed would take more memory than all the rest of a subscription.
FEW: Final = 1 << 11
#: So many in a process that simulates many brokers: all of them ask for the same.
MANY: Final = 1 << 18

_size = FEW
_resizes: Final[list[Callable[[], None]]] = []


def remembered(function: Callable[P, T]) -> Callable[P, T]:
    """Let a function, whose answer depends on nothing but what it is asked, be called once for what is asked often."""
    kept = lru_cache(_size)(function)

    def resize() -> None:
        nonlocal kept
        kept = lru_cache(_size)(function)

    @wraps(function)
    def asked(*args: P.args, **kwargs: P.kwargs) -> T:
        return kept(*args, **kwargs)  # type: ignore[arg-type] # of a function that is cached, all are hashable

    _resizes.append(resize)
    return asked


def remember_many() -> None:
    """Keep many answers from now on: for whoever runs many brokers in one process."""
    global _size
    if _size < MANY:
        _size = MANY
        for resize in _resizes:
            resize()
