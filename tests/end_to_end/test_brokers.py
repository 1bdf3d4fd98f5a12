"""Real processes, real sockets, real crashes."""

import asyncio
import contextlib
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any

from support.brokers import BrokerProcess, awaited, until
from tamis.client import Client, Subscription, connect

#: So many seconds a publisher waits between two events: the load while brokers crash.
PACE = 0.002


@asynccontextmanager
async def network(folder: Path, links: dict[str, list[str]]) -> AsyncIterator[dict[str, BrokerProcess]]:
    """Run brokers with links: each calls those that are listed behind it. Leave no process behind."""
    brokers: dict[str, BrokerProcess] = {}
    try:
        for name, joined in links.items():
            join = [word for other in joined for word in ("--join", brokers[other].url)]
            brokers[name] = BrokerProcess(folder, name, *join)
            await brokers[name].ready()
        yield brokers
        assert [broker.stop() for broker in brokers.values()] == [0] * len(brokers)
    finally:
        for broker in brokers.values():
            if broker.runs:
                broker.kill()


class Reader:
    """A subscriber that notes what it gets and checks that it wanted it, and got it once."""

    def __init__(self, client: Client, least: int) -> None:
        self._least = least
        self.got: dict[Any, Any] = {}
        self.subscription: Subscription[Any] = client.subscribe(f"n >= {least}")
        self._task = asyncio.create_task(self._read())

    async def _read(self) -> None:
        async for event in self.subscription:
            assert event["n"] >= self._least, event
            assert event.id not in self.got, f"{event} twice"
            self.got[event.id] = event["n"]

    def check(self) -> None:
        if self._task.done():
            self._task.result()

    async def end(self) -> None:
        self.check()
        self._task.cancel()
        with contextlib.suppress(asyncio.CancelledError):
            await self._task


async def publish_on(client: Client, stop: asyncio.Event) -> int:
    """Publish until told to stop; return how many."""
    number = 0
    while not stop.is_set():
        await client.publish({"n": number % 10, "load": True})
        number += 1
        await asyncio.sleep(PACE)
    return number


async def right_again(clients: dict[str, Client], readers: dict[str, Reader]) -> None:
    """Wait until an event published anywhere reaches everybody who wants it, and nobody else."""
    for name, client in clients.items():
        async with asyncio.timeout(60):
            while True:
                id = await client.publish({"n": 9, "probe": name})
                for _ in range(40):
                    if all(id in reader.got for reader in readers.values()):
                        break
                    await asyncio.sleep(0.005)
                else:
                    continue
                break
    # From here on nothing may be missing.
    ids = {}
    for client in clients.values():
        for n in range(10):
            ids[await client.publish({"n": n})] = n
    for number, reader in enumerate(readers.values()):
        wanted = {id for id, n in ids.items() if n >= number}
        await until(lambda wanted=wanted, reader=reader: wanted <= reader.got.keys())  # type: ignore[misc]
        assert wanted == ids.keys() & reader.got.keys()
        reader.check()


@asynccontextmanager
async def everybody(brokers: dict[str, BrokerProcess]) -> AsyncIterator[tuple[dict[str, Client], dict[str, Reader]]]:
    """Have a client that publishes and one that subscribes at each broker."""
    async with contextlib.AsyncExitStack() as stack:
        writers = {name: await stack.enter_async_context(connect(each.url)) for name, each in brokers.items()}
        clients = {name: await stack.enter_async_context(connect(each.url)) for name, each in brokers.items()}
        readers = {name: Reader(client, number) for number, (name, client) in enumerate(clients.items())}
        for reader in readers.values():
            await reader.subscription
        yield writers, readers
        for reader in readers.values():
            await reader.end()


async def crash_and_return(
    folder: Path, brokers: dict[str, BrokerProcess], links: dict[str, list[str]], victim: str
) -> None:
    """Kill a broker under load, start it anew at its port, and wait until all is right."""
    async with everybody(brokers) as (writers, readers):
        await right_again(writers, readers)
        stop = asyncio.Event()
        loads = [asyncio.create_task(publish_on(writer, stop)) for writer in writers.values()]
        await until(lambda: all(len(reader.got) > 100 for reader in readers.values()))
        brokers[victim].kill()
        survivors = {name: reader for name, reader in readers.items() if name != victim}
        before = {name: len(reader.got) for name, reader in survivors.items()}
        await until(lambda: all(len(reader.got) > before[name] + 50 for name, reader in survivors.items()))
        join = [word for other in links[victim] for word in ("--join", brokers[other].url)]
        again = BrokerProcess(folder, victim, *join, port=brokers[victim].port)
        brokers[victim] = again
        await again.ready()
        before_there = len(readers[victim].got)
        await until(lambda: len(readers[victim].got) > before_there + 50)
        stop.set()
        assert all(published > 0 for published in await asyncio.gather(*loads))
        await right_again(writers, readers)


@awaited
async def test_three_brokers_in_a_line_of_which_the_middle_one_crashes(tmp_path: Path) -> None:
    links: dict[str, list[str]] = {"one": [], "two": ["one"], "three": ["two"]}
    async with network(tmp_path, links) as brokers:
        await crash_and_return(tmp_path, brokers, links, "two")


@awaited
async def test_five_brokers_with_circles_of_which_one_crashes(tmp_path: Path) -> None:
    links = {"a": [], "b": ["a"], "c": ["a", "b"], "d": ["b"], "e": ["c", "d"]}
    async with network(tmp_path, links) as brokers:
        await crash_and_return(tmp_path, brokers, links, "c")
