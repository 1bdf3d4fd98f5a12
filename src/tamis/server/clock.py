"""What a broker takes for time, and what fires its timers."""

import asyncio
from collections.abc import Callable
from time import monotonic
from typing import Any, Protocol


class Timer(Protocol):
    """Something that is to happen."""

    def cancel(self) -> None:
        """Let it not happen."""


class Clock(Protocol):
    """Tells the time in seconds since whenever, and calls back."""

    def now(self) -> float:
        """Return the time."""

    def later(self, seconds: float, function: Callable[..., Any], *arguments: Any) -> Timer:
        """Have a function called after so many seconds."""


class RealClock:
    """The time of this process."""

    now = staticmethod(monotonic)

    def later(self, seconds: float, function: Callable[..., Any], *arguments: Any) -> Timer:
        """Have a function called after so many seconds."""
        return asyncio.get_running_loop().call_later(seconds, function, *arguments)
