"""Requests that are waited for, one or many together."""

import asyncio
from collections.abc import Callable


class Batch:
    """Many requests, waited for together."""

    def __init__(self) -> None:
        self._open = 0
        self._error: Exception | None = None
        self._future: asyncio.Future[None] = asyncio.get_running_loop().create_future()

    def expect(self) -> Callable[[Exception | None], None]:
        """Expect one more."""
        self._open += 1
        return self._done

    def _done(self, error: Exception | None) -> None:
        self._open -= 1
        self._error = self._error or error
        if not self._open and not self._future.done():
            self._future.set_result(None)

    async def all_done(self) -> None:
        """Wait until all are done; raise the first error."""
        while self._open:
            self._future = asyncio.get_running_loop().create_future()
            await self._future
        if self._error is not None:
            raise self._error


def settle(future: "asyncio.Future[None]", error: Exception | None) -> None:
    """Let whoever waits for something know that it is done, or why not."""
    if future.done():
        return
    if error is None:
        future.set_result(None)
    else:
        future.set_exception(error)
