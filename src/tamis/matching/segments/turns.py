"""Short turns: while an index is changed, threads of Python change places more often.

So no reader waits long for a writer that computes, and no writer for readers that hardly ever pause.
"""

import os
import sys
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from functools import wraps
from typing import Final, ParamSpec, TypeVar

P = ParamSpec("P")
T = TypeVar("T")

#: Seconds after which a thread that computes gives way to one that waits; Python's own default is 0.005.
TURN: Final = 0.000075
#: Seconds for which turns stay short after a change: whoever begins to wait between two changes would wait for a long
#: turn, although the next one is a short one.
LINGER: Final = 0.05

#: By how much a thread in the background is less important than others: it has about a tenth of their share where
#: there are more threads than cores.
NICE: Final = 10


class _Setting:
    """How long turns are in this process: short while there are changes, and for a while after the last one."""

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._changes = 0
        self._last = 0.0
        self._usual = TURN
        #: The thread that puts the setting back, while it is not the usual one.
        self._keeper: threading.Thread | None = None
        if hasattr(os, "register_at_fork"):
            os.register_at_fork(after_in_child=self._renew_lock)

    def shorten(self) -> None:
        with self._lock:
            self._changes += 1
            # In a forked process there is no such thread, whatever was noted of it.
            if self._keeper is None or not self._keeper.is_alive():
                if self._keeper is None:
                    self._usual = sys.getswitchinterval()
                    sys.setswitchinterval(min(TURN, self._usual))
                self._keeper = threading.Thread(target=self._put_back, name="tamis-turns", daemon=True)
                self._keeper.start()

    def leave(self) -> None:
        with self._lock:
            self._changes -= 1
            self._last = time.monotonic()

    def _put_back(self) -> None:
        """Wait until there was no change for a while, and put the setting back."""
        while True:
            time.sleep(LINGER)
            with self._lock:
                if self._changes == 0 and time.monotonic() - self._last >= LINGER:
                    sys.setswitchinterval(self._usual)
                    self._keeper = None
                    return

    def _renew_lock(self) -> None:
        """Let a forked process not wait for a thread that it has not."""
        self._lock = threading.Lock()


_setting: Final = _Setting()


@contextmanager
def short_turns() -> Iterator[None]:
    """Let threads take short turns meanwhile. The setting is one for the whole process; soon after it is put back."""
    _setting.shorten()
    try:
        yield
    finally:
        _setting.leave()


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
