"""Server-Sent Events: a response that goes on while events come."""

import asyncio
from collections.abc import Callable
from contextlib import suppress
from typing import Final

from starlette.types import Receive, Scope, Send

from tamis.server.web.mailbox import Mailbox
from tamis.server.web.rendering import SSE, ending_sse, event_sse, remark_sse
from tamis.wire import HEARTBEAT

_HEADERS: Final = [
    (b"content-type", f"{SSE}; charset=utf-8".encode()),
    (b"cache-control", b"no-store"),
    # Nobody on the way may keep events back; this is for nginx.
    (b"x-accel-buffering", b"no"),
]
_SUBSCRIBED: Final = b": subscribed\n\n"
_ALIVE: Final = b": alive\n\n"


class EventStream:
    """Writes the events of a mailbox as they come, until that ends or the reader leaves; then calls `over`.

    What is written waits until the reader takes it, and what comes meanwhile waits in the mailbox, which is bounded.
    With `keeps`, events stay there after they were written, beginning behind the number `after`.
    """

    def __init__(self, mailbox: Mailbox, over: Callable[[], None], keeps: bool = False, after: int = 0) -> None:
        self._mailbox = mailbox
        self._over = over
        self._keeps = keeps
        self._after = after
        self._gone = self._ended = False
        self._told = mailbox.dropped

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:  # noqa: ARG002 - as ASGI has it
        """Write until the end."""
        watcher = asyncio.get_running_loop().create_task(self._watch(receive))
        try:
            await send({"type": "http.response.start", "status": 200, "headers": _HEADERS})
            chunk = _SUBSCRIBED
            while chunk and not self._gone:
                await send({"type": "http.response.body", "body": chunk, "more_body": True})
                # Others have their turn, however fast this one reads.
                await asyncio.sleep(0)
                chunk = await self._next()
            await send({"type": "http.response.body", "body": b"", "more_body": False})
        finally:
            self._over()
            watcher.cancel()
            with suppress(asyncio.CancelledError):
                await watcher

    async def _next(self) -> bytes:
        """Return what is to be written next; nothing if that was all."""
        mailbox = self._mailbox
        while not self._gone and not self._ended:
            if mailbox.dropped > self._told:
                self._told = mailbox.dropped
                return remark_sse("dropped", {"events": self._told})
            found = mailbox.after(self._after)
            if found:
                self._after = found[-1].number
                if not self._keeps:
                    mailbox.forget(self._after)
                return b"".join(map(event_sse, found))
            if mailbox.ending is not None:
                self._ended = True
                return ending_sse(mailbox.ending)
            try:
                async with asyncio.timeout(HEARTBEAT):
                    await mailbox.news(self._after)
            except TimeoutError:
                return _ALIVE
        return b""

    async def _watch(self, receive: Receive) -> None:
        while (await receive())["type"] != "http.disconnect":
            pass
        self._gone = True
        self._mailbox.nudge()
