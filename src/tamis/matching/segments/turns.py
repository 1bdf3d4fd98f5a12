"""Short turns: while an index is changed, threads of Python change places more often.

So no reader waits long for a writer that computes, and no writer for readers that hardly ever pause.
"""

import os
import sys
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from functools import wraps
from typing import Final, ParamSpec, TypeVar

P = ParamSpec("P")
T = TypeVar("T")

#: Seconds after which a thread that computes gives way to one that waits; Python's own default is 0.005.
TURN: Final = 0.00005

#: By how much a thread in the background is less important than others: it has about a tenth of their share where
#: there are more threads than cores.
NICE: Final = 10

_lock = threading.Lock()
_users = 0
_usual = TURN


@contextmanager
def short_turns() -> Iterator[None]:
    """Let threads take short turns meanwhile. The setting is one for the whole process; it is put back at the end."""
    global _users, _usual
    with _lock:
        if _users == 0:
            _usual = sys.getswitchinterval()
            sys.setswitchinterval(min(TURN, _usual))
        _users += 1
    try:
        yield
    finally:
        with _lock:
            _users -= 1
            if _users == 0:
                sys.setswitchinterval(_usual)


def in_short_turns(function: Callable[P, T]) -> Callable[P, T]:
    """Let threads take short turns while a function runs."""

    @wraps(function)
    def changed(*args: P.args, **kwargs: P.kwargs) -> T:
        with short_turns():
            return function(*args, **kwargs)

    return changed


def step_back() -> None:
    """Let other threads have a core before this one, for as long as it lives; only Linux tells threads apart."""
    if sys.platform == "linux":
        me = threading.get_native_id()
        os.setpriority(os.PRIO_PROCESS, me, os.getpriority(os.PRIO_PROCESS, me) + NICE)
