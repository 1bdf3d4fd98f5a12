"""A client's connection: frames in and out, and nothing that outlives it."""

import asyncio
from collections.abc import Callable
from typing import Any, Final, cast

from tamis.wire import (
    HEARTBEAT,
    MAX_FRAME,
    SILENCE,
    Alive,
    ClientHello,
    Decoder,
    Frames,
    Goodbye,
    ProtocolError,
    ToClient,
    frame,
)

_decode: Final = Decoder(ToClient)
_ALIVE: Final = frame(Alive())


class Channel(asyncio.Protocol):
    """One connection to a broker. What comes is handed on; what is sent in one tick is written at once."""

    def __init__(self, hello: ClientHello, receive: Callable[[Any], None]) -> None:
        self._hello = hello
        self._receive = receive
        self._frames = Frames(MAX_FRAME)
        self._transport: asyncio.Transport | None = None
        self._gathered: list[bytes] = []
        self._loop = asyncio.get_running_loop()
        self._heard = self._said = self._loop.time()
        self._timer: asyncio.TimerHandle | None = None
        self._room = asyncio.Event()
        self._room.set()
        #: Is done once the connection is gone.
        self.closed: asyncio.Future[None] = self._loop.create_future()
        #: Why the broker has closed it, if it said so.
        self.goodbye: Goodbye | None = None

    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        # That of uvloop is one in all but name.
        self._transport = transport = cast("asyncio.Transport", transport)
        self.put(frame(self._hello))
        self._timer = self._loop.call_later(HEARTBEAT / 2, self._beat)

    def data_received(self, data: bytes) -> None:
        self._heard = self._loop.time()
        try:
            for body in self._frames.feed(memoryview(data)):
                message = _decode(body)
                if isinstance(message, Goodbye):
                    self.goodbye = message
                    self.abort()
                    return
                self._receive(message)
        except ProtocolError as error:
            self.goodbye = Goodbye(error.code, f"the broker sent {error.message}")
            self.abort()

    def pause_writing(self) -> None:
        self._room.clear()

    def resume_writing(self) -> None:
        self._room.set()

    def connection_lost(self, exc: Exception | None) -> None:  # noqa: ARG002 - it is gone, whatever the reason
        if self._timer is not None:
            self._timer.cancel()
        self._room.set()
        if not self.closed.done():
            self.closed.set_result(None)

    def put(self, data: bytes) -> None:
        """Send something at the end of this tick."""
        if not self._gathered:
            self._loop.call_soon(self.flush)
        self._gathered.append(data)

    async def room(self) -> None:
        """Wait while the broker does not read."""
        await self._room.wait()

    def flush(self) -> None:
        """Write what was gathered."""
        if self._gathered and self._transport is not None:
            self._said = self._loop.time()
            self._transport.write(b"".join(self._gathered))
        self._gathered.clear()

    def close(self) -> None:
        """Write what is left and close."""
        self.flush()
        if self._transport is not None:
            self._transport.close()

    def abort(self) -> None:
        """Cut the connection."""
        if self._transport is not None:
            self._transport.abort()

    def _beat(self) -> None:
        now = self._loop.time()
        if now - self._heard > SILENCE:
            self.abort()
            return
        if now - self._said > HEARTBEAT:
            self.put(_ALIVE)
        self._timer = self._loop.call_later(HEARTBEAT / 2, self._beat)
