"""How many durable events does a broker acknowledge in a second, and how long does one take?

    python bench/durable.py [--events 20000] [--singles 500] [--json FILE]

A broker with a store in a process of its own, events of 128 bytes. First as fast as it takes them, at most 2,000 on
their way: with nobody who wants them, with a durable subscription whose client is away, and with one whose client takes
and acknowledges them. Then one after the other, each waiting for the acknowledgement of the one before.
"""

import argparse
import asyncio
from collections.abc import Iterator
from pathlib import Path
from tempfile import TemporaryDirectory
from time import perf_counter, perf_counter_ns
from typing import Final

import msgspec

from harness.broker import Running, broker, peer
from harness.clock import percentiles
from harness.figures import Figure
from harness.report import tell
from tamis.client import connect
from tamis.wire import Publish

BYTES: Final = 128
#: What becomes of the events.
AUDIENCES: Final = {"nobody": "nobody wants them", "absent": "the client is away", "present": "a client takes them"}


def main() -> None:
    """Measure and print a table."""
    arguments = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    arguments.add_argument("--events", type=int, default=20_000)
    arguments.add_argument("--singles", type=int, default=500)
    arguments.add_argument("--json", type=Path, metavar="FILE", help="write all figures there")
    chosen = arguments.parse_args()
    sections = {}
    for audience in AUDIENCES:
        with TemporaryDirectory() as folder, broker("--store", str(Path(folder) / "store")) as running:
            sections[audience] = list(_figures(running, audience, chosen.events, chosen.singles))
    tell({name: iter(figures) for name, figures in sections.items()}, chosen.json)


def _figures(running: Running, audience: str, events: int, singles: int) -> Iterator[Figure]:
    rate, cpu, taken = asyncio.run(_measured(running, audience, events, singles))
    half, most = (each / 1_000 for each in percentiles(taken, [50, 99]))
    for measure, value, unit in [
        ("acknowledged per second", rate, ""),
        ("broker CPU per event", cpu * 1e6, "µs"),
        ("acknowledged after, half", half, "ms"),
        ("acknowledged after, 99 %", most, "ms"),
    ]:
        yield Figure(audience, AUDIENCES[audience], int(audience != "nobody"), measure, value, unit, None)


async def _measured(running: Running, audience: str, events: int, singles: int) -> tuple[float, float, list[int]]:
    async with connect(running.url) as client:
        reading: asyncio.Task[None] | None = None
        if audience != "nobody":
            subscription = await client.subscribe("x > 0", durable="reader")
            if audience == "absent":
                subscription.leave()
            else:

                async def read() -> None:
                    async for _ in subscription:
                        pass

                reading = asyncio.create_task(read())
        writer = await peer(running)
        await writer.request(_events(1, 500), 1)
        cpu, start = running.cpu_seconds(), perf_counter()
        await writer.request(_events(501, events), 501)
        rate, used = events / (perf_counter() - start), (running.cpu_seconds() - cpu) / events
        taken = []
        for number in range(501 + events, 501 + events + singles):
            began = perf_counter_ns()
            await writer.request(_events(number, 1), number)
            taken.append(perf_counter_ns() - began)
        writer.close()
        if reading is not None:
            reading.cancel()
            await asyncio.gather(reading, return_exceptions=True)
    return rate, used, taken


def _events(first: int, count: int) -> list[msgspec.Struct]:
    content = {"x": 1, "data": "x" * (BYTES - 10)}
    return [Publish(number, f"e{number:08d}", content, None, True) for number in range(first, first + count)]


if __name__ == "__main__":
    main()
