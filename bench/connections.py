"""Do very many connections stand, in how much memory, and does one reader that stalls delay the others?

    python bench/connections.py [--connections 10000] [--seconds 30] [--rate 50] [--json FILE]

One broker in a process of its own, and subscribers over TCP from this one, each with a subscription of its own group of
ten. Events come at a rate, each for one group. In every second slice of the time there is one more subscriber that asks
for large events, 100 a second, and never reads; its queue is bounded and drops the oldest, and when the slice begins,
so many events have come that it is full. Latency is from before an event is written until it was read, all of it in
this process, whose own work is part of the figure. Memory of the broker is looked at all the time, and its curve
printed; before, so many events have come that the broker remembers as many ids as it ever does, in a table that grows
no more.
"""

import argparse
import asyncio
import resource
import socket
from collections.abc import Iterator
from functools import partial
from itertools import count as count_from
from pathlib import Path
from random import Random
from time import perf_counter, perf_counter_ns
from typing import Any, Final, NamedTuple, cast

import msgspec

from harness.broker import Peer, Running, broker, peer
from harness.clock import percentiles
from harness.figures import Bar, Figure, at_most
from harness.report import tell
from tamis.client import connect
from tamis.recent import REMEMBERED
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
    Publish,
    Subscribe,
    ToClient,
    frame,
)

#: Memory may grow by so much of what it is, and half of the latencies by so many milliseconds because of a reader that
#: stalls.
MOST_GROWTH: Final = 0.01
MOST_DELAY: Final = 5.0
GROUP: Final = 10
#: So many connect at once, and so many files are open besides.
AT_ONCE: Final = 100
OTHER_FILES: Final = 100
#: The events for the reader that stalls: how many a second, of how many bytes, and how many may wait.
FLOOD: Final = 100
FLOOD_BYTES: Final = 10_000
FLOOD_QUEUE: Final = 100
#: So many of them fill all that lies between the broker and who does not read.
FILL: Final = 1_000
SLICES: Final = 6
SAMPLES: Final = 30
SEED: Final = 7
_BLOCKS: Final = "▁▂▃▄▅▆▇█"

_decode: Final = Decoder(ToClient)
_ALIVE: Final = frame(Alive())


def main() -> None:
    """Measure, print a table, and say whether the bars are reached."""
    arguments = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    arguments.add_argument("--connections", type=int, default=10_000)
    arguments.add_argument("--seconds", type=float, default=30.0)
    arguments.add_argument("--rate", type=float, default=50.0, help="events a second")
    arguments.add_argument("--json", type=Path, metavar="FILE", help="write all figures there")
    chosen = arguments.parse_args()
    allow_files(chosen.connections + OTHER_FILES)
    with broker() as running:
        tell({"connections": connections(running, chosen.connections, chosen.seconds, chosen.rate)}, chosen.json)


def allow_files(needed: int) -> None:
    """Let this process and those that it starts have so many files open; otherwise say what to do."""
    soft, hard = resource.getrlimit(resource.RLIMIT_NOFILE)
    if hard != resource.RLIM_INFINITY and hard < needed:
        raise SystemExit(
            f"{needed:,} files have to be open at a time, and this system allows {hard:,} (ulimit -Hn): "
            f"raise that, or ask for at most --connections {hard - OTHER_FILES}"
        )
    if soft != resource.RLIM_INFINITY and soft < needed:
        resource.setrlimit(resource.RLIMIT_NOFILE, (needed, hard))


class Seen(NamedTuple):
    """What was seen in slices of one kind: nanoseconds of each delivery, and seconds in all and of the broker's CPU."""

    latencies: list[int]
    seconds: list[float]
    cpu: list[float]


class Found(NamedTuple):
    """All that was seen."""

    alone: Seen
    beside: Seen
    memory: list[int]
    grown: int
    dropped: int
    missing: int
    lost: int


def connections(running: Running, count: int, seconds: float, rate: float) -> Iterator[Figure]:
    """Measure."""

    def figure(measure: str, value: float, unit: str = "", bar: Bar | None = None) -> Figure:
        return Figure("connections", f"{rate:g} events/s", count, measure, value, unit, bar)

    found = asyncio.run(_measured(running, count, seconds, rate))
    memory = found.memory
    print(f"memory {_curve(memory)} in MB: {' '.join(f'{each / 1e6:.1f}' for each in memory)}")
    yield figure("memory for a connection", found.grown / count, "bytes")
    # Each connection takes a little more once it has got its first events.
    half = memory[-1] / memory[len(memory) // 2] - 1
    yield figure("growth of memory, whole time", (memory[-1] / memory[0] - 1) * 100, "%")
    yield figure("growth of memory, second half", half * 100, "%", at_most(MOST_GROWTH * 100))
    halves: list[float] = []
    for name, seen in (("all read", found.alone), ("one stalls", found.beside)):
        middle, most = (each / 1_000 for each in percentiles(seen.latencies, [50, 99]))
        halves.append(middle)
        yield figure(f"deliveries, {name}", len(seen.latencies))
        yield figure(f"latency, half, {name}", middle, "ms")
        yield figure(f"latency, 99 %, {name}", most, "ms")
        yield figure(f"broker CPU, {name}", sum(seen.cpu) / sum(seen.seconds) * 100, "%")
    yield figure("delay by the one that stalls", halves[1] - halves[0], "ms", at_most(MOST_DELAY))
    yield figure("dropped for the one that stalls", found.dropped)
    yield figure("missing deliveries", found.missing, "", at_most(0))
    yield figure("connections lost", found.lost, "", at_most(0))


async def _measured(running: Running, count: int, seconds: float, rate: float) -> Found:
    before = running.resident_bytes()
    world = _World()
    readers = await _readers(running, world, count)
    await running.at_rest()
    grown = running.resident_bytes() - before
    stream = _Stream(running, world, await peer(running), count)
    await stream.fill_memory()
    alone, beside = Seen([], [], []), Seen([], [], [])
    memory = [running.resident_bytes()]
    dropped = 0
    async with connect(running.url, name="observer") as observer:
        for number in range(SLICES):
            if number % 2 == 0:
                memory += await stream.slice(alone, seconds / SLICES, rate, flood=False)
            else:
                stalled = _Stalled(running)
                await stream.fill()
                memory += await stream.slice(beside, seconds / SLICES, rate, flood=True)
                dropped += sum(each.dropped for each in (await observer.stats()).slow if each.client == "stalled")
                stalled.close()
    await running.at_rest()
    memory.append(running.resident_bytes())
    world.over = True
    stream.writer.close()
    for reader in readers:
        reader.close()
    return Found(alone, beside, memory, grown, dropped, world.expected - world.delivered, world.lost)


class _Stream:
    """Publishes."""

    def __init__(self, running: Running, world: "_World", writer: Peer, count: int) -> None:
        self._running = running
        self._world = world
        self.writer = writer
        self._count = count
        self._numbers = count_from(1)
        self._random = Random(SEED)  # noqa: S311 - an experiment, to be repeated

    def _publish(self, content: dict[str, Any]) -> Publish:
        number = next(self._numbers)
        return Publish(number, f"e{number:09}", content)

    async def fill_memory(self) -> None:
        """Let the broker remember as many ids of events as it ever does.

        Twice as many come: the table of ids grows once more after the first ones were forgotten, and then never again.
        """
        first = next(self._numbers)
        await self.writer.request([Subscribe(first, 0, "`first` = true")], first)
        events: list[msgspec.Struct] = [self._publish({"first": True}) for _ in range(2 * REMEMBERED)]
        await self.writer.request(events, first + 1)
        self.writer.events.clear()
        await self._running.at_rest()

    async def fill(self) -> None:
        """Let the one that stalls have more than there is room for."""
        for _ in range(FILL):
            self._flood()
        await self._running.at_rest()

    def _flood(self) -> None:
        self.writer.write(frame(self._publish({"flood": True, "data": "x" * FLOOD_BYTES})))

    async def slice(self, seen: Seen, seconds: float, rate: float, flood: bool) -> list[int]:
        """Publish for so many seconds; return how much memory the broker had."""
        world, running = self._world, self._running
        world.latencies = seen.latencies
        memory: list[int] = []
        cpu, start = running.cpu_seconds(), perf_counter()
        sent = floods = 0
        while (passed := perf_counter() - start) < seconds:
            group = self._random.randrange(max(1, self._count // GROUP))
            self.writer.write(frame(self._publish({"group": group, "sent": perf_counter_ns()})))
            world.expected += min(GROUP, self._count - group * GROUP)
            sent += 1
            while flood and floods < FLOOD * passed:
                self._flood()
                floods += 1
            if len(memory) < SAMPLES / SLICES * passed / seconds:
                memory.append(running.resident_bytes())
            await asyncio.sleep(start + sent / rate - perf_counter())
        seen.cpu.append(running.cpu_seconds() - cpu)
        seen.seconds.append(perf_counter() - start)
        # Late ones still count, and as late ones.
        for _ in range(50):
            if world.delivered == world.expected:
                break
            await asyncio.sleep(0.1)
        return memory


class _World:
    """What all readers have in common."""

    def __init__(self) -> None:
        self.latencies: list[int] = []
        self.expected = self.delivered = self.lost = 0
        self.over = False


class _Reader(asyncio.Protocol):
    """A subscriber that notes when events come."""

    def __init__(self, world: _World, number: int) -> None:
        self._world = world
        self._number = number
        self._frames = Frames(MAX_FRAME)
        self._transport: asyncio.Transport
        self.subscribed: asyncio.Future[None] = asyncio.get_running_loop().create_future()

    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        self._transport = cast("asyncio.Transport", transport)
        subscribe = Subscribe(1, 0, f"`group` = {self._number // GROUP}")
        self._transport.write(frame(ClientHello(VERSION, f"r{self._number}")) + frame(subscribe))
        self._beat()

    def _beat(self) -> None:
        if not self._transport.is_closing():
            self._transport.write(_ALIVE)
            asyncio.get_running_loop().call_later(HEARTBEAT, self._beat)

    def data_received(self, data: bytes) -> None:
        now = perf_counter_ns()
        for body in self._frames.feed(memoryview(data)):
            message = _decode(body)
            if type(message) is Delivered:
                self._world.latencies.append(now - message.content["sent"])
                self._world.delivered += 1
            elif isinstance(message, Accepted) and not self.subscribed.done():
                self.subscribed.set_result(None)
            elif isinstance(message, Goodbye):
                print(f"the broker leaves r{self._number}: {message.message}")

    def connection_lost(self, exc: Exception | None) -> None:  # noqa: ARG002 - whatever the reason
        if not self._world.over:
            self._world.lost += 1
        if not self.subscribed.done():
            self.subscribed.set_exception(ConnectionError("the broker has closed a connection"))

    def close(self) -> None:
        """Leave."""
        self._transport.close()


async def _readers(running: Running, world: _World, count: int) -> list[_Reader]:
    loop = asyncio.get_running_loop()
    found: list[_Reader] = []
    for first in range(0, count, AT_ONCE):
        some = range(first, min(count, first + AT_ONCE))
        made = await asyncio.gather(
            *(loop.create_connection(partial(_Reader, world, number), *running.address) for number in some)
        )
        found += [reader for _, reader in made]
        await asyncio.gather(*(reader.subscribed for _, reader in made))
    return found


class _Stalled:
    """A subscriber that asks for large events and never reads. It says that it is alive, so as not to be left."""

    def __init__(self, running: Running) -> None:
        self._socket = socket.socket()
        # What the kernel takes for it would hide for long that nobody reads.
        self._socket.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, 1 << 16)
        self._socket.connect(running.address)
        hello = ClientHello(VERSION, "stalled", FLOOD_QUEUE, "drop-oldest")
        self._socket.sendall(frame(hello) + frame(Subscribe(1, 0, "flood = true")))
        self._timer = asyncio.get_running_loop().call_later(HEARTBEAT, self._beat)

    def _beat(self) -> None:
        self._socket.sendall(_ALIVE)
        self._timer = asyncio.get_running_loop().call_later(HEARTBEAT, self._beat)

    def close(self) -> None:
        """Leave."""
        self._timer.cancel()
        self._socket.close()


def _curve(values: list[int]) -> str:
    """Return values as a line of blocks, the lowest for none at all."""
    top = max(values)
    return "".join(_BLOCKS[round(value / top * (len(_BLOCKS) - 1))] for value in values)


if __name__ == "__main__":
    main()
