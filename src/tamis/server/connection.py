"""One TCP connection: bytes in, frames to whoever is at the other end, and what is written gathered for each tick."""

import asyncio
from collections.abc import Callable, Iterator
from time import monotonic
from typing import Any, Final, Protocol, cast

import msgspec

from tamis.server.outbox import AHEAD, Outbox
from tamis.wire import MAX_HELLO, MAX_QUEUE, Alive, Code, Frames, Goodbye, ProtocolError, Slow, frame

#: So many bytes are read at a time, and after so many seconds of dealing with them it is the others' turn, so that no
#: connection keeps the others waiting for long.
READ: Final = 1 << 16
TURN: Final = 0.005
#: Who asks is not read any further while so many bytes of answers wait for it.
ANSWERS: Final = 1 << 20
#: A reason gets so many seconds to reach the other end; then the connection is cut.
LINGER: Final = 10.0

_ALIVE: Final = frame(Alive())
#: One buffer for all connections: what was read is copied before anything else is.
_SCRATCH: Final = memoryview(bytearray(READ))


class Party(Protocol):
    """Who is at the other end."""

    def receive(self, body: memoryview) -> None:
        """Take a frame. What is wrong with it is a `ProtocolError`; then the connection is closed with that reason."""

    def read_all(self) -> None:
        """All that has come for now has been taken."""

    def gone(self) -> None:
        """The connection is closed, or closing: nothing more will come or go."""


class Connection(asyncio.BufferedProtocol):
    """A connection from its first byte to its last. `greet` makes the party that gets the first frame."""

    def __init__(self, greet: Callable[["Connection"], Party], dirty: Callable[["Connection"], None]) -> None:
        self._greet = greet
        self._mark_dirty = dirty
        self.is_dirty = self._overran = False
        self._party: Party | None = None
        self._frames = Frames(MAX_HELLO)
        self._transport: asyncio.Transport | None = None
        #: What is still to be written. Call `dirty` after putting something in.
        self.outbox = Outbox(self._write, MAX_QUEUE, "disconnect", self._overrun)
        #: Is called when the other end reads again and what has waited is written.
        self.on_room: Callable[[], None] | None = None
        self._stops: set[str] = set()
        self._last_heard = self._last_said = 0.0
        self.closing = False
        #: Is done once nothing is left of the connection.
        self.closed: asyncio.Future[None] = asyncio.get_running_loop().create_future()

    # --- what asyncio calls ------------------------------------------------------------------------------

    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        # That of uvloop is one in all but name.
        self._transport = transport = cast("asyncio.Transport", transport)
        transport.set_write_buffer_limits(high=AHEAD)
        self._last_heard = self._last_said = monotonic()
        self._party = self._greet(self)

    def get_buffer(self, sizehint: int) -> memoryview:  # noqa: ARG002 - as many as there are
        return _SCRATCH

    def buffer_updated(self, nbytes: int) -> None:
        if self.closing:
            return
        self._last_heard = monotonic()
        self._take(self._frames.feed(memoryview(bytes(_SCRATCH[:nbytes]))))

    def _take(self, bodies: Iterator[memoryview]) -> None:
        """Deal with what came, for one turn; then let others have theirs before going on."""
        end = monotonic() + TURN
        try:
            for body in bodies:
                if self.closing:
                    return
                assert self._party is not None
                self._party.receive(body)
                if monotonic() > end:
                    self.stop_reading("turn")
                    asyncio.get_running_loop().call_soon(self._take, bodies)
                    break
            else:
                self.read_again("turn")
            if not self.closing and self._party is not None:
                self._party.read_all()
        except ProtocolError as error:
            self.close(error.code, error.message)

    def pause_writing(self) -> None:
        self.outbox.paused = True

    def resume_writing(self) -> None:
        if self.closing:
            return
        self.outbox.resume()
        if self.on_room is not None and not self.outbox.paused:
            self.on_room()
        self.dirty()

    def connection_lost(self, exc: Exception | None) -> None:  # noqa: ARG002 - whatever the reason, it is gone
        self._leave()
        if not self.closed.done():
            self.closed.set_result(None)

    # --- what parties call -------------------------------------------------------------------------------

    def become(self, party: Party, limit: int, queue: int = MAX_QUEUE, slow: Slow = "disconnect") -> None:
        """Let another party take the frames from now on, of at most so many bytes."""
        self._party = party
        self._frames.limit = limit
        self.outbox.flush()
        paused = self.outbox.paused
        self.outbox = Outbox(self._write, queue, slow, self._overrun)
        self.outbox.paused = paused

    @property
    def waiting(self) -> int:
        """How many bytes wait to be written, in whatever place."""
        return self.outbox.size + (0 if self._transport is None else self._transport.get_write_buffer_size())

    def say(self, message: msgspec.Struct) -> None:
        """Send a frame at the end of this tick."""
        self.put(frame(message))

    def put(self, data: bytes) -> None:
        """Send something at the end of this tick."""
        if self.closing:
            return
        self.outbox.put(data)
        self.dirty()
        if self.outbox.paused and self.outbox.size > ANSWERS:
            self.stop_reading("answers")

    def dirty(self) -> None:
        """Have what was put into the outbox written at the end of this tick."""
        if not self.is_dirty:
            self.is_dirty = True
            self._mark_dirty(self)

    def flush(self) -> None:
        """Write what was gathered in this tick."""
        self.is_dirty = False
        if not self.outbox.paused and not self.closing:
            self.outbox.flush()
        # The system may have taken everything at once, and then says nothing more.
        if self.outbox.size <= ANSWERS:
            self.read_again("answers")

    def stop_reading(self, why: str) -> None:
        """Read nothing until `read_again` is called for the same reason, and for all others."""
        if not self._stops and self._transport is not None and not self.closing:
            self._transport.pause_reading()
        self._stops.add(why)

    def read_again(self, why: str) -> None:
        """Take back what `stop_reading` asked for."""
        if why in self._stops:
            self._stops.remove(why)
            if not self._stops and self._transport is not None and not self.closing:
                self._transport.resume_reading()

    def beat(self, now: float, every: float, silence: float) -> None:
        """Say that this end is alive if it has said nothing lately, and leave if the other end has not."""
        if self.closing:
            return
        # Who is not read cannot be heard.
        if not self._stops and now - self._last_heard > silence:
            self.close("silent", f"nothing was heard for {silence:g} seconds")
        elif now - self._last_said > every and not self.outbox.paused:
            self.put(_ALIVE)

    def close(self, code: Code, message: str) -> None:
        """Say why, and close the connection: at once for this side, and when the reason is written for the other."""
        if self.closing or self._transport is None:
            return
        # What was gathered before still goes, but not what waits for somebody who does not read.
        self.outbox.flush()
        self._transport.write(frame(Goodbye(code, message)))
        transport = self._transport
        self._leave()
        if code == "stopping" or not self._hangs_up(transport):
            transport.close()
        asyncio.get_running_loop().call_later(LINGER, transport.abort)

    def _hangs_up(self, transport: asyncio.Transport) -> bool:
        """Say that nothing more is said, and throw away what still comes, until the other end has heard.

        Were the connection closed at once, what still comes would make the kernel cut it, and the reason be lost.
        """
        if not transport.can_write_eof():
            return False
        try:
            transport.write_eof()
        except OSError:
            return False  # the other end is gone
        if self._stops:
            transport.resume_reading()
        return True

    def abort(self) -> None:
        """Cut the connection without a word."""
        if self._transport is not None:
            self._leave()
            self._transport.abort()

    def _leave(self) -> None:
        if not self.closing:
            self.closing = True
            self.outbox.drop_all()
            if self._party is not None:
                self._party.gone()

    @property
    def is_slow(self) -> bool:
        """Whether more events waited than was agreed, and the connection ends for that."""
        return self._overran

    def _overrun(self) -> None:
        # In the middle of handing out an event nobody should go: close when that is done.
        if not self.closing and not self._overran:
            self._overran = True
            message = f"{len(self.outbox):,} events wait, and the client does not read them"
            asyncio.get_running_loop().call_soon(self.close, "slow", message)

    def _write(self, data: bytes) -> Any:
        self._last_said = monotonic()
        if self._transport is not None:
            self._transport.write(data)
