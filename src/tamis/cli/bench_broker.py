"""`tamis bench broker`: how fast is a broker that runs, seen from here?"""

import asyncio
import secrets
from contextlib import AsyncExitStack
from time import perf_counter, perf_counter_ns
from typing import Annotated, Any, Final

import msgspec
import numpy as np
import typer
from rich.table import Table

from tamis.cli import options
from tamis.cli.errors import EXIT_WRONG, bad_input_reported
from tamis.cli.output import Bar, print_json, progress_bars, remark, stdout
from tamis.cli.serve import Ca, Token, client_at, run_client
from tamis.cli.settings import load
from tamis.client import BrokerError, Client, ClientError, Subscription
from tamis.lab.machine import Machine, this_machine
from tamis.wire import MAX_QUEUE, Stats

#: Events are published so many at a time when they come as fast as they can.
AT_ONCE: Final = 500
#: What was published and has not come after so many seconds without any other is missing.
PATIENCE: Final = 10.0
#: The attribute by which subscribers know the events of one run; nobody else's meet it.
RUN: Final = "tamis bench"
PERCENTILES: Final = (50, 90, 99)


class BrokerBenchmark(msgspec.Struct, frozen=True):
    """What was measured. All clients are in this process, whose own work is part of all figures but one."""

    broker: str
    subscribers: int
    events: int
    size: int
    deliveries: int
    missing: int
    seconds: float
    events_per_second: float
    deliveries_per_second: float
    #: Of events that came one by one.
    timed_events: int
    rate: float
    latency_ms: dict[str, float]
    #: Of the broker alone; None if it does not tell, or served others meanwhile.
    broker_cpu_us_per_delivery: float | None
    machine: Machine


def broker(
    url: Annotated[str, typer.Argument(help="The broker's address.")],
    subscribers: Annotated[int, typer.Option(min=1, max=1_000, help="Each with a connection of its own.")] = 10,
    events: Annotated[int, typer.Option(min=1, max=MAX_QUEUE, help="Published as fast as the broker takes them.")] = (
        20_000
    ),
    size: Annotated[int, typer.Option(min=64, max=500_000, help="Bytes of an event.")] = 128,
    timed: Annotated[int, typer.Option(min=1, help="Then so many, one by one.")] = 1_000,
    rate: Annotated[float, typer.Option(min=1, help="Of those, so many a second.")] = 500.0,
    token: Token = None,
    ca: Ca = None,
    progress: options.Progress = None,
    as_json: options.Json = False,
) -> None:
    """Measure a broker that runs: every event goes to all of some subscribers, all of them here.

    First as fast as it goes, for throughput; then one by one at a rate, for latency. A delivery that is missing makes
    the exit code 1.

    `$ tamis bench broker tamis://localhost:7420 --subscribers 10 --events 20000`
    """
    with bad_input_reported():
        settings = load(progress=options.progress_mode(progress))
        found: list[BrokerBenchmark] = []

        async def measured() -> None:
            clients = [client_at(url, token, ca, queue=MAX_QUEUE) for _ in range(subscribers + 1)]
            with progress_bars(settings.progress) as start_bar:
                run = _Run(clients, size, start_bar("Publishing"))
                found.append(await run.measured(events, timed, rate))

        run_client(measured())
    (result,) = found
    if as_json:
        print_json(result)
    else:
        _print(result)
    if result.missing:
        remark(f"tamis: {result.missing:,} deliveries are missing")
        raise typer.Exit(EXIT_WRONG)


class _Run:
    """One measurement: the first client publishes, the others subscribe."""

    def __init__(self, clients: list[Client], size: int, bar: Bar) -> None:
        self._clients = clients
        self._size = size
        self._bar = bar
        self._name = secrets.token_hex(8)
        self._latencies: list[int] = []
        self._came = asyncio.Event()
        self._error: Exception | None = None

    async def measured(self, events: int, timed: int, rate: float) -> BrokerBenchmark:
        """Measure."""
        async with AsyncExitStack() as stack:
            publisher, *readers = [await stack.enter_async_context(client) for client in self._clients]
            condition = f"`{RUN}` = '{self._name}'"
            reading = [asyncio.create_task(self._read(await reader.subscribe(condition))) for reader in readers]
            try:
                before = await _stats(publisher)
                started = perf_counter()
                await self._publish(publisher, events)
                missing = await self._until(events * len(readers))
                seconds = perf_counter() - started
                after = await _stats(publisher)
                self._latencies.clear()
                await self._publish_singly(publisher, timed, rate)
                missing += await self._until(timed * len(readers))
                latencies = np.array(self._latencies or [0]) / 1e6
            finally:
                for task in reading:
                    task.cancel()
                await asyncio.gather(*reading, return_exceptions=True)
        deliveries = events * len(readers)
        return BrokerBenchmark(
            broker="" if after is None else after.broker,
            subscribers=len(readers),
            events=events,
            size=self._size,
            deliveries=deliveries,
            missing=missing,
            seconds=seconds,
            events_per_second=events / seconds,
            deliveries_per_second=deliveries / seconds,
            timed_events=timed,
            rate=rate,
            latency_ms={
                **{f"p{each}": float(np.percentile(latencies, each)) for each in PERCENTILES},
                "max": float(latencies.max()),
            },
            broker_cpu_us_per_delivery=_cpu(before, after, deliveries),
            machine=this_machine(),
        )

    def _event(self) -> dict[str, Any]:
        event = {RUN: self._name, "sent": perf_counter_ns(), "data": ""}
        event["data"] = "x" * max(0, self._size - len(msgspec.msgpack.encode(event)))
        return event

    async def _publish(self, publisher: Client, events: int) -> None:
        for first in range(0, events, AT_ONCE):
            some = min(AT_ONCE, events - first)
            await publisher.publish_many(self._event() for _ in range(some))
            self._bar(first + some, events)

    async def _publish_singly(self, publisher: Client, events: int, rate: float) -> None:
        self._bar.describe("One by one")
        start = perf_counter()
        sent: set[asyncio.Task[str]] = set()
        for number in range(events):
            await asyncio.sleep(start + number / rate - perf_counter())
            task = asyncio.create_task(publisher.publish(self._event()))
            sent.add(task)
            task.add_done_callback(sent.discard)
            self._bar(number + 1, events)
        await asyncio.gather(*sent)

    async def _read(self, subscription: Subscription[Any]) -> None:
        try:
            async for event in subscription:
                self._latencies.append(perf_counter_ns() - event["sent"])
                self._came.set()
        except ClientError as error:
            self._error = error
            self._came.set()

    async def _until(self, deliveries: int) -> int:
        """Wait until so many deliveries have come; return how many have not."""
        while len(self._latencies) < deliveries:
            self._came.clear()
            try:
                async with asyncio.timeout(PATIENCE):
                    await self._came.wait()
            except TimeoutError:
                break
            if self._error is not None:
                raise self._error
        return deliveries - len(self._latencies)


async def _stats(client: Client) -> Stats | None:
    """Return how the broker is, if one may know."""
    try:
        return await client.stats()
    except BrokerError:
        return None


def _cpu(before: Stats | None, after: Stats | None, deliveries: int) -> float | None:
    if before is None or after is None or after.counts["delivered"] - before.counts["delivered"] != deliveries:
        return None
    return (after.cpu_seconds - before.cpu_seconds) / deliveries * 1e6


def _print(result: BrokerBenchmark) -> None:
    table = Table(title=f"broker {result.broker}", show_header=False)
    table.add_column()
    table.add_column(justify="right")
    table.add_row("subscribers", f"{result.subscribers:,}")
    table.add_row(f"events of {result.size:,} bytes", f"{result.events:,}")
    table.add_row("published", f"{result.events_per_second:,.0f} events/s")
    table.add_row("delivered", f"{result.deliveries_per_second:,.0f} events/s")
    if result.broker_cpu_us_per_delivery is not None:
        table.add_row("CPU of the broker", f"{result.broker_cpu_us_per_delivery:.2f} µs a delivery")
    for name, value in result.latency_ms.items():
        table.add_row(f"latency at {result.rate:,.0f}/s, {name}", f"{value:.2f} ms")
    console = stdout()
    console.print(table)
    console.print(f"{result.machine}", markup=False)
