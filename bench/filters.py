"""How much does a broker slow down as subscriptions by content grow?

    python bench/filters.py [--subscriptions 1000 10000 100000] [--events 20000] [--others 10000] [--json FILE]

One broker in a process of its own. Subscriptions are `symbol = … and price > …`, all different, ten connections hold
them, and every event meets ten, whatever their number is. Events per second of the broker's CPU time, user and kernel,
events in bursts and deliveries included. Memory is what the broker grew by until it was at rest, divided by the
subscriptions; before, so many others had come that all code was loaded (about 100 MB, told as `broker before`). They
stay until memory is measured, so that nothing is put where they were, and leave before events are timed.
"""

import argparse
import asyncio
from collections.abc import Iterator
from pathlib import Path
from random import Random
from time import perf_counter
from typing import Any, Final

import msgspec

from harness.broker import TICK, Peer, Running, broker, peer
from harness.figures import Bar, Figure, at_least, at_most
from harness.report import tell
from tamis.wire import Publish, Subscribe

#: Events a second, and bytes for a subscription.
LEAST_RATE: Final = 5_000
MOST_BYTES: Final = 1_024
SIZES: Final = (1_000, 10_000, 100_000)
MATCHES: Final = 10
HOLDERS: Final = 10
WARM_UP: Final = 500
#: So many that parts of an index have been made and merged.
OTHERS: Final = 10_000
SEED: Final = 7


def main() -> None:
    """Measure, print a table, and say whether the bars are reached."""
    arguments = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    arguments.add_argument("--subscriptions", type=int, nargs="+", default=list(SIZES))
    arguments.add_argument("--events", type=int, default=20_000)
    arguments.add_argument("--others", type=int, default=OTHERS, help="that are there before memory is measured")
    arguments.add_argument("--json", type=Path, metavar="FILE", help="write all figures there")
    chosen = arguments.parse_args()
    sections = {f"{size:,} subscriptions": filters(size, chosen.events, chosen.others) for size in chosen.subscriptions}
    tell(sections, chosen.json)


def filters(size: int, events: int, others: int) -> Iterator[Figure]:
    """Measure one size."""

    def figure(measure: str, value: float, unit: str = "", bar: Bar | None = None) -> Figure:
        return Figure("filters", "symbol and price", size, measure, value, unit, bar)

    with broker() as running:
        found = asyncio.run(_measured(running, size, events, others))
    yield figure("subscribe", found["subscribe"] / size * 1e6, "µs")
    yield figure("broker before", found["before"] / 1e6, "MB")
    # The last two thousand or so are kept as they were parsed, some KB each: that says nothing about very many.
    bar = at_most(MOST_BYTES) if size >= max(SIZES) else None
    yield figure("memory for a subscription", found["bytes"] / size, "bytes", bar)
    yield figure("events per second", events / max(found["cpu"], TICK), "", at_least(LEAST_RATE))
    yield figure("events per second, wall", events / found["wall"])
    yield figure("matches per event", found["received"] / events)


async def _measured(running: Running, size: int, events: int, others: int) -> dict[str, Any]:
    symbols = max(1, size // MATCHES)
    holders = [await peer(running) for _ in range(HOLDERS)]
    conditions = [f"symbol = 'S{number // MATCHES}' and price > {number % MATCHES}" for number in range(size)]
    writer = await peer(running)
    other = await _warm(running, writer, others)
    before, cpu = running.resident_bytes(), running.cpu_seconds()
    for place, holder in enumerate(holders):
        mine = conditions[place::HOLDERS]
        await holder.request([Subscribe(number, number, text) for number, text in enumerate(mine, 1)], 1)
    random = Random(SEED)  # noqa: S311 - an experiment, to be repeated
    contents = [{"symbol": f"S{random.randrange(symbols)}", "price": 100} for _ in range(WARM_UP + events)]
    publishes: list[msgspec.Struct] = [
        Publish(number, f"e{number}", content) for number, content in enumerate(contents, WARM_UP + 1)
    ]
    await writer.request(publishes[:WARM_UP], WARM_UP + 1)
    await running.at_rest()
    subscribe = running.cpu_seconds() - cpu
    grown = running.resident_bytes() - before
    other.close()
    await running.at_rest()
    done = sum(len(holder.events) for holder in holders)
    cpu, start = running.cpu_seconds(), perf_counter()
    await writer.request(publishes[WARM_UP:], 2 * WARM_UP + 1)
    used, wall = running.cpu_seconds() - cpu, perf_counter() - start
    while sum(len(holder.events) for holder in holders) < MATCHES * (WARM_UP + events):
        await asyncio.sleep(0.01)
    received = sum(len(holder.events) for holder in holders) - done
    for each in [*holders, writer]:
        each.close()
    return {"subscribe": subscribe, "before": before, "bytes": grown, "cpu": used, "wall": wall, "received": received}


async def _warm(running: Running, writer: Peer, others: int) -> Peer:
    other = await peer(running)
    conditions = [f"symbol = 'W{number}' and price > 1" for number in range(1, others + 1)]
    await other.request([Subscribe(number, number, text) for number, text in enumerate(conditions, 1)], 1)
    numbers = range(1, WARM_UP + 1)
    await writer.request([Publish(number, f"w{number}", {"symbol": f"W{number}"}) for number in numbers], 1)
    await running.at_rest()
    return other


if __name__ == "__main__":
    main()
