"""What does a delivery cost when one event goes to many subscribers?

    python bench/fanout.py [--subscribers 10] [--messages 100000] [--timed 3000] [--rate 1000] [--json FILE]

One broker in a process of its own, and connections to it from this one. Events have 128 bytes. First they come in
bursts of 50, at most 2,000 on their way: CPU time of the broker, user and kernel, divided by the deliveries. Then they
come one by one at a rate: the time from before an event is written until it has been read by each subscriber, all of
it in this process, whose own work is part of the figure.
"""

import argparse
import asyncio
from collections.abc import Iterator
from pathlib import Path
from time import perf_counter, perf_counter_ns
from typing import Final

import msgspec

from harness.broker import Peer, Running, broker, peer
from harness.clock import percentiles
from harness.figures import Bar, Figure, at_most
from harness.report import tell
from tamis.wire import DeliveryFrames, Publish, Subscribe

#: The broker's CPU time for a delivery, in microseconds, and half of the events' latency, in milliseconds.
MOST_CPU: Final = 2.0
MOST_LATENCY: Final = 1.0
BYTES: Final = 128
WARM_UP: Final = 2_000


def main() -> None:
    """Measure, print a table, and say whether the bars are reached."""
    arguments = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    arguments.add_argument("--subscribers", type=int, default=10)
    arguments.add_argument("--messages", type=int, default=100_000, help="in bursts")
    arguments.add_argument("--timed", type=int, default=3_000, help="one by one")
    arguments.add_argument("--rate", type=float, default=1_000.0, help="a second, of those one by one")
    arguments.add_argument("--json", type=Path, metavar="FILE", help="write all figures there")
    chosen = arguments.parse_args()
    with broker() as running:
        sections = {
            "bursts": bursts(running, chosen.subscribers, chosen.messages),
            "one by one": singly(running, chosen.subscribers, chosen.timed, chosen.rate),
        }
        tell(sections, chosen.json)


def bursts(running: Running, subscribers: int, messages: int) -> Iterator[Figure]:
    """Publish as fast as the broker takes it."""

    def figure(measure: str, value: float, unit: str = "", bar: Bar | None = None) -> Figure:
        return Figure("bursts", f"{subscribers} subscribers", subscribers, measure, value, unit, bar)

    cpu, wall = asyncio.run(_bursts(running, subscribers, messages))
    deliveries = subscribers * messages
    yield figure("deliveries", deliveries)
    yield figure("broker CPU per delivery", cpu / deliveries * 1e6, "µs", at_most(MOST_CPU))
    yield figure("broker CPU per event", cpu / messages * 1e6, "µs")
    yield figure("deliveries per second", deliveries / wall)


async def _bursts(running: Running, subscribers: int, messages: int) -> tuple[float, float]:
    readers = await _subscribed(running, subscribers, decodes=False)
    writer = await peer(running)
    await writer.request(_events(1, WARM_UP), 1)
    await _received(readers, WARM_UP)
    cpu, start = running.cpu_seconds(), perf_counter()
    await writer.request(_events(WARM_UP + 1, messages), WARM_UP + 1)
    await _received(readers, WARM_UP + messages)
    taken = running.cpu_seconds() - cpu, perf_counter() - start
    for each in [*readers, writer]:
        each.close()
    return taken


def singly(running: Running, subscribers: int, messages: int, rate: float) -> Iterator[Figure]:
    """Publish at a rate and see how long it takes."""

    def figure(measure: str, value: float, unit: str = "", bar: Bar | None = None) -> Figure:
        return Figure("one by one", f"{rate:,.0f}/s to {subscribers}", subscribers, measure, value, unit, bar)

    cpu, taken = asyncio.run(_singly(running, subscribers, messages, rate))
    half, most = (each / 1_000 for each in percentiles(taken, [50, 99]))
    yield figure("latency, half", half, "ms", at_most(MOST_LATENCY))
    yield figure("latency, 99 %", most, "ms")
    yield figure("broker CPU per delivery", cpu / messages / subscribers * 1e6, "µs")


async def _singly(running: Running, subscribers: int, messages: int, rate: float) -> tuple[float, list[int]]:
    readers = await _subscribed(running, subscribers, decodes=True)
    writer = await peer(running)
    taken: list[int] = []

    async def read(reader: Peer) -> None:
        done = 0
        while done < messages:
            while len(reader.events) == done:
                await reader.change()
            now = perf_counter_ns()
            taken.extend(now - event.content["sent"] for event in reader.events[done:])
            done = len(reader.events)

    tasks = [asyncio.create_task(read(each)) for each in readers]
    cpu, start = running.cpu_seconds(), perf_counter()
    for number in range(1, messages + 1):
        await asyncio.sleep(start + number / rate - perf_counter())
        content = {"x": 1, "sent": perf_counter_ns(), "data": "x" * (BYTES - 25)}
        writer.write(_framed(Publish(number, f"s{number:08d}", content)))
    await asyncio.gather(*tasks)
    used = running.cpu_seconds() - cpu
    for each in [*readers, writer]:
        each.close()
    return used, taken


async def _subscribed(running: Running, count: int, decodes: bool) -> list[Peer]:
    readers = [await peer(running) for _ in range(count)]
    for reader in readers:
        await reader.request([Subscribe(1, 0, "x > 0")], 1)
        reader._decodes = decodes
        reader.received = 0
    return readers


def _events(first: int, count: int) -> list[msgspec.Struct]:
    content = {"x": 1, "data": "x" * (BYTES - 10)}
    return [Publish(number, f"e{number:08d}", content) for number in range(first, first + count)]


async def _received(readers: list[Peer], events: int) -> None:
    length = DeliveryFrames("e00000001", {"x": 1, "data": "x" * (BYTES - 10)}, None).length
    for reader in readers:
        while reader.received < events * length:
            await reader.change()


def _framed(message: Publish) -> bytes:
    body = msgspec.msgpack.encode(message)
    return len(body).to_bytes(4, "big") + body


if __name__ == "__main__":
    main()
