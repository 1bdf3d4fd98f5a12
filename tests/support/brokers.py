"""Real brokers for tests: in this process or in others, on free ports, and gone when the test is over."""

import asyncio
import contextlib
import functools
import os
import signal
import subprocess
import sys
from collections.abc import AsyncIterator, Callable, Coroutine
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any

from tamis.server import Server, ServerSettings
from tamis.wire import Decoder, Frames, ToClient

#: Nothing takes as long, however loaded the machine is: a test that waits so long has failed.
PATIENCE = 60.0


def awaited(test: Callable[..., Coroutine[Any, Any, None]]) -> Callable[..., None]:
    """Run a test that is a coroutine, and let nothing that was started in it be left behind."""

    @functools.wraps(test)
    def run(*arguments: Any, **named: Any) -> None:
        async def all_of_it() -> None:
            async with asyncio.timeout(2 * PATIENCE):
                await test(*arguments, **named)
            left = [task for task in asyncio.all_tasks() if task is not asyncio.current_task()]
            assert not left, left

        asyncio.run(all_of_it())

    return run


async def until(holds: Callable[[], Any]) -> None:
    """Wait until something holds."""
    async with asyncio.timeout(PATIENCE):
        while not holds():
            await asyncio.sleep(0.005)


@asynccontextmanager
async def overlay(count: int, links: list[tuple[int, int]], **settings: Any) -> AsyncIterator[list[Server]]:
    """Run brokers b0, b1, … with links, the later of two brokers calling the earlier, until all links stand."""
    servers: list[Server] = []
    try:
        for number in range(count):
            join = tuple(servers[one].url for one, other in links if other == number)
            server = Server(ServerSettings(port=0, name=f"b{number}", join=join, **settings))
            await server.start()
            servers.append(server)
        await until(lambda: sum(len(server.links) for server in servers) == 2 * len(links))
        yield servers
    finally:
        for server in servers:
            await server.stop()


class Raw:
    """A connection without a client around it: says any bytes, and reads what comes."""

    def __init__(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        self._reader = reader
        self.writer = writer
        self._frames = Frames(1 << 26)
        self._decode = Decoder(ToClient)

    @classmethod
    async def open(cls, server: Server, data: bytes = b"") -> "Raw":
        """Connect and say something."""
        raw = cls(*await asyncio.open_connection(*server.address, limit=1 << 16))
        raw.writer.write(data)
        return raw

    async def rest(self) -> list[Any]:
        """Return all messages until the broker closes the connection."""
        found = []
        async with asyncio.timeout(PATIENCE):
            while True:
                try:
                    data = await self._reader.read(1 << 16)
                except ConnectionError:
                    break
                if not data:
                    break
                found += [self._decode(body) for body in self._frames.feed(memoryview(data))]
        self.writer.close()
        return found

    async def closed(self) -> None:
        """Wait until the broker closes the connection, whatever it says before."""
        async with asyncio.timeout(PATIENCE):
            with contextlib.suppress(ConnectionError):
                while await self._reader.read(1 << 16):
                    pass
        self.writer.close()

    async def some(self, count: int) -> list[Any]:
        """Return the next messages."""
        found: list[Any] = []
        async with asyncio.timeout(PATIENCE):
            while len(found) < count:
                data = await self._reader.read(1 << 16)
                assert data, found
                found += [self._decode(body) for body in self._frames.feed(memoryview(data))]
        return found


class BrokerProcess:
    """A broker in a process of its own, run by the command."""

    def __init__(self, folder: Path, name: str, *arguments: str, port: int = 0) -> None:
        self.name = name
        self._file = folder / f"{name}.url"
        self._file.unlink(missing_ok=True)
        self._log = (folder / f"{name}.log").open("ab")
        command: list[str | Path] = [Path(sys.executable).with_name("tamis"), "serve", "--name", name]
        self._process = subprocess.Popen(
            [*command, "--port", str(port), "--port-file", self._file, *arguments],
            stderr=self._log,
            env={**os.environ, "PYTHONUNBUFFERED": "1"},
        )
        self.url = ""

    async def ready(self) -> "BrokerProcess":
        """Wait until it listens."""
        await until(lambda: self._file.exists() or self._process.poll() is not None)
        assert self._process.poll() is None, f"{self.name} ended with {self._process.returncode}"
        self.url = self._file.read_text()
        return self

    @property
    def port(self) -> int:
        return int(self.url.rpartition(":")[2])

    def kill(self) -> None:
        """Kill it as nothing that it could prevent (kill -9)."""
        self._process.kill()
        self._process.wait(PATIENCE)
        self._log.close()

    def tell(self, number: signal.Signals) -> None:
        """Send it a signal."""
        self._process.send_signal(number)

    def stop(self) -> int:
        """Ask it to stop; return its exit status."""
        self._process.send_signal(signal.SIGTERM)
        status = self._process.wait(PATIENCE)
        self._log.close()
        return status

    @property
    def runs(self) -> bool:
        return self._process.poll() is None
