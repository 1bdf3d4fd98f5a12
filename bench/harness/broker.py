"""A broker in a process of its own, as a benchmark needs it: what it costs, and connections that cost little."""

import asyncio
import os
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from tempfile import TemporaryDirectory
from time import monotonic, sleep
from typing import Any, Final, cast

import msgspec

from tamis.wire import (
    HEARTBEAT,
    MAX_FRAME,
    VERSION,
    Accepted,
    Alive,
    ClientHello,
    Decoder,
    Delivered,
    Frames,
    Goodbye,
    ToClient,
    frame,
    parse_address,
)

#: A broker that does not listen after so many seconds will not.
PATIENCE: Final = 60.0
#: So many requests are on their way at most, and so many are written at a time.
WINDOW: Final = 2_000
BURST: Final = 50

_decode: Final = Decoder(ToClient)

_TICKS: Final = os.sysconf("SC_CLK_TCK")
#: The kernel counts processor time in ticks: what took less counts as one.
TICK: Final = 1 / _TICKS
#: A broker is at rest if it has used less than this share of a processor for so many seconds.
IDLE: Final = 0.1
LOOKED: Final = 0.5


class Running:
    """A broker that runs."""

    def __init__(self, pid: int, url: str) -> None:
        self.pid = pid
        self.address = parse_address(url)
        self.url = url

    def cpu_seconds(self) -> float:
        """Return the CPU time that it has used, in the kernel as well."""
        fields = Path(f"/proc/{self.pid}/stat").read_text().rpartition(")")[2].split()
        return (int(fields[11]) + int(fields[12])) / _TICKS

    def resident_bytes(self) -> int:
        """Return how much of it is in memory."""
        return int(Path(f"/proc/{self.pid}/statm").read_text().split()[1]) * os.sysconf("SC_PAGE_SIZE")

    async def at_rest(self) -> None:
        """Wait until it does nothing any more, in the background neither; but not for ever."""
        before, until = -1.0, monotonic() + PATIENCE
        while self.cpu_seconds() - before > IDLE * LOOKED and monotonic() < until:
            before = self.cpu_seconds()
            await asyncio.sleep(LOOKED)


@contextmanager
def broker(*arguments: str) -> Iterator[Running]:
    """Run a broker."""
    with TemporaryDirectory() as folder:
        file = Path(folder) / "url"
        command = [sys.executable, "-c", "from tamis.cli.main import run; run()", "serve", "--port", "0"]
        process = subprocess.Popen([*command, "--port-file", str(file), *arguments], stderr=subprocess.DEVNULL)  # noqa: S603
        try:
            since = monotonic()
            while not file.exists():
                if process.poll() is not None or monotonic() - since > PATIENCE:
                    raise SystemExit("the broker does not start")
                sleep(0.01)
            yield Running(process.pid, file.read_text())
        finally:
            process.terminate()
            process.wait()


class Peer(asyncio.Protocol):
    """A connection that keeps account of what it gets, and decodes it only if asked to."""

    def __init__(self, decodes: bool) -> None:
        self._decodes = decodes
        self._frames = Frames(MAX_FRAME)
        self._transport: asyncio.Transport | None = None
        self._woken = asyncio.Event()
        self.received = 0
        self.acknowledged = 0
        self.events: list[Delivered] = []
        self.goodbye: Goodbye | None = None

    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        self._transport = cast("asyncio.Transport", transport)
        self.write(frame(ClientHello(VERSION, "bench", 1 << 20)))
        self._beat()

    def _beat(self) -> None:
        if self._transport is not None and not self._transport.is_closing():
            self.write(frame(Alive()))
            asyncio.get_running_loop().call_later(HEARTBEAT, self._beat)

    def data_received(self, data: bytes) -> None:
        self.received += len(data)
        if self._decodes:
            for body in self._frames.feed(memoryview(data)):
                self._take(_decode(body))
        self._woken.set()

    def _take(self, message: Any) -> None:
        if type(message) is Delivered:
            self.events.append(message)
        elif isinstance(message, Accepted):
            self.acknowledged = message.number
        elif isinstance(message, Goodbye):
            self.goodbye = message

    def write(self, data: bytes) -> None:
        """Send bytes."""
        assert self._transport is not None
        self._transport.write(data)

    async def change(self) -> None:
        """Wait until something comes."""
        self._woken.clear()
        await self._woken.wait()
        if self.goodbye is not None:
            raise SystemExit(f"the broker has left: {self.goodbye.message}")

    async def request(self, messages: "list[msgspec.Struct]", first: int) -> None:
        """Send requests, numbered from `first` on, in bursts, and wait until all are acknowledged."""
        sent = first - 1
        data = [frame(each) for each in messages]
        while sent < first - 1 + len(data):
            while sent + BURST - self.acknowledged > WINDOW:
                await self.change()
            begin = sent - first + 1
            self.write(b"".join(data[begin : begin + BURST]))
            sent = min(sent + BURST, first - 1 + len(data))
        while self.acknowledged < sent:
            await self.change()

    def close(self) -> None:
        """Leave."""
        assert self._transport is not None
        self._transport.close()


async def peer(running: Running, decodes: bool = True) -> Peer:
    """Connect to a broker."""
    _, made = await asyncio.get_running_loop().create_connection(lambda: Peer(decodes), *running.address)
    return made
