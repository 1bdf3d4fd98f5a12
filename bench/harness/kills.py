"""Brokers are killed under load, come back, and links between them are cut: is any durable event lost?

Brokers run in processes of their own, with a store each. Links go through relays of this process, which can be cut. At
each broker somebody publishes durable events all the time and somebody has a durable subscription; now and then that
one leaves, and another one with the same durable name comes. At the end everybody must have had every event that was
acknowledged to its publisher and that it wants, nothing that it does not want, and the events of each publisher in the
order in which they were published, apart from those that came again.
"""

import asyncio
import contextlib
import os
import signal
import subprocess
import sys
from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager
from pathlib import Path
from random import Random
from time import monotonic
from typing import Any, Final, NamedTuple

import msgspec

from tamis.client import Client, connect

#: Whoever waits for so many seconds has found a failure.
PATIENCE: Final = 60.0
#: Seconds between two events of a publisher.
PACE: Final = 0.01
#: Seconds that a subscriber is busy with an event.
WORK: Final = 0.001
#: Seconds between two faults, and for which a broker is dead or a link is cut: at most, by chance.
CALM: Final = 0.4
DOWN: Final = 0.4
#: What happens, and how often: a broker dies, two die, a link is cut, a subscriber is replaced by another one.
FAULTS: Final = {"kill": 6, "kill two": 2, "cut": 2, "replace": 1}

#: For each broker, those that it calls.
THREE: Final[dict[str, list[str]]] = {"a": [], "b": ["a"], "c": ["b"]}
FIVE: Final[dict[str, list[str]]] = {"a": [], "b": ["a"], "c": ["a", "b"], "d": ["b"], "e": ["c", "d"]}


class Outcome(NamedTuple):
    """What happened, when all was right."""

    kills: int
    cuts: int
    replaced: int
    #: Durable events that were acknowledged, events given to subscribers, and how many of these came again.
    acknowledged: int
    delivered: int
    again: int
    seconds: float


class BrokenPromiseError(AssertionError):
    """A promise was broken."""


class Relay:
    """Passes bytes on between one broker and another, as long as it is not cut."""

    def __init__(self, port: Callable[[], int]) -> None:
        self._port = port
        self._writers: set[asyncio.StreamWriter] = set()
        self._server: asyncio.Server | None = None
        self.is_cut = False

    async def start(self) -> "Relay":
        """Listen."""
        self._server = await asyncio.start_server(self._join, "127.0.0.1", 0)
        return self

    @property
    def url(self) -> str:
        """Where it listens."""
        assert self._server is not None
        return f"tamis://127.0.0.1:{self._server.sockets[0].getsockname()[1]}"

    def cut(self) -> None:
        """Let nothing pass any more."""
        self.is_cut = True
        for writer in self._writers:
            writer.transport.abort()

    async def stop(self) -> None:
        """Close everything."""
        self.cut()
        assert self._server is not None
        self._server.close()
        await self._server.wait_closed()

    async def _join(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        self._writers.add(writer)
        other: asyncio.StreamWriter | None = None
        try:
            if not self.is_cut:
                back, other = await asyncio.open_connection("127.0.0.1", self._port())
                self._writers.add(other)
                await asyncio.gather(_pass_on(reader, other), _pass_on(back, writer))
        except OSError:
            pass
        finally:
            for each in (writer, other):
                if each is not None:
                    each.transport.abort()
                    self._writers.discard(each)


async def _pass_on(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
    with contextlib.suppress(OSError):
        while data := await reader.read(1 << 16):
            writer.write(data)
            await writer.drain()
    writer.transport.abort()


class Broker:
    """A broker process, that dies and comes back."""

    def __init__(self, nursery: "subprocess.Popen[str]", folder: Path, name: str, relays: list[Relay]) -> None:
        self._nursery = nursery
        self._folder = folder
        self.name = name
        self._relays = relays
        self._pid = 0
        self.port = 0

    async def start(self) -> None:
        """Start it, at the same port as ever, and wait until it listens."""
        url = self._folder / f"{self.name}.url"
        url.unlink(missing_ok=True)
        settings = {
            "name": self.name,
            "port": self.port,
            "join": [relay.url for relay in self._relays],
            "store": str(self._folder / f"{self.name}.store"),
            "url": str(url),
        }
        assert self._nursery.stdin is not None
        assert self._nursery.stdout is not None
        self._nursery.stdin.write(msgspec.json.encode(settings).decode() + "\n")
        self._nursery.stdin.flush()
        self._pid = int(await asyncio.to_thread(self._nursery.stdout.readline))
        await until(url.exists, f"broker {self.name} listens")
        self.port = int(url.read_text().rpartition(":")[2])

    @property
    def url(self) -> str:
        """Where it listens."""
        return f"tamis://127.0.0.1:{self.port}"

    @property
    def runs(self) -> bool:
        """Whether there is a process."""
        try:
            os.kill(self._pid, 0)
        except ProcessLookupError:
            return False
        return self._pid > 0

    async def die(self, number: int = signal.SIGKILL) -> None:
        """Kill it, or ask it to stop, and wait until it is gone."""
        os.kill(self._pid, number)
        await until(lambda: not self.runs, f"broker {self.name} is gone")


async def until(holds: Callable[[], Any], what: str, patience: float = PATIENCE) -> None:
    """Wait until something holds."""
    end = monotonic() + patience
    while not holds():
        if monotonic() > end:
            raise BrokenPromiseError(f"not within {patience:g} seconds: {what}")
        await asyncio.sleep(0.002)


class Publisher:
    """Publishes durable events, one after the other, and notes which were acknowledged."""

    def __init__(self, name: str) -> None:
        self._name = name
        self.tried = 0
        self.acknowledged: set[int] = set()

    async def run(self, client: Client, stop: asyncio.Event) -> None:
        """Publish until told to stop."""
        while not stop.is_set():
            number, self.tried = self.tried, self.tried + 1
            await client.publish({"of": self._name, "n": number, "k": number % 10}, durable=True)
            self.acknowledged.add(number)
            await asyncio.sleep(PACE)


class Subscriber:
    """Takes the events of a durable subscription and checks them, whichever client takes them."""

    def __init__(self, broker: Broker, least: int) -> None:
        self._broker = broker
        self._least = least
        self._ids: set[Any] = set()
        self.got: dict[str, list[int]] = {}
        self.delivered = self.again = 0
        self._client: Client | None = None
        self._task: asyncio.Task[None] | None = None

    async def come(self) -> None:
        """Let a client take the events."""
        self._client = connect(self._broker.url, timeout=PATIENCE)
        await self._client.__aenter__()
        subscription = await self._client.subscribe(f"k >= {self._least}", durable="reader")
        self._task = asyncio.create_task(self._read(subscription))

    async def leave(self) -> None:
        """Let the client go; it may have taken events that it has not acknowledged."""
        assert self._task is not None
        assert self._client is not None
        self.check()
        self._task.cancel()
        with contextlib.suppress(asyncio.CancelledError):
            await self._task
        await self._client.close()

    def check(self) -> None:
        """Raise what went wrong while reading."""
        if self._task is not None and self._task.done():
            self._task.result()

    async def _read(self, subscription: Any) -> None:
        async for event in subscription:
            self.delivered += 1
            if event["k"] < self._least or event["k"] != event["n"] % 10:
                raise BrokenPromiseError(f"{self._broker.name} got {event!r}, but wants k >= {self._least}")
            if event.id in self._ids:
                self.again += 1
                continue
            self._ids.add(event.id)
            self.got.setdefault(event["of"], []).append(event["n"])
            await asyncio.sleep(WORK)  # whoever leaves now has not acknowledged it

    def wants(self, number: int) -> bool:
        """Say whether the subscription wants an event."""
        return number % 10 >= self._least


class Overlay:
    """Brokers, relays between them, publishers and subscribers."""

    def __init__(self, folder: Path, links: dict[str, list[str]], seed: int) -> None:
        self._folder = folder
        self._links = links
        self._random = Random(seed)  # noqa: S311 - no secret
        self.brokers: dict[str, Broker] = {}
        self.relays: list[Relay] = []
        self.publishers: dict[str, Publisher] = {}
        self.subscribers: dict[str, Subscriber] = {}
        self.kills = self.cuts = self.replaced = 0

    async def start(self, nursery: "subprocess.Popen[str]") -> None:
        """Start everything."""
        for number, (name, called) in enumerate(self._links.items()):
            relays = [await Relay(lambda other=other: self.brokers[other].port).start() for other in called]  # type: ignore[misc]
            self.relays += relays
            self.brokers[name] = broker = Broker(nursery, self._folder, name, relays)
            await broker.start()
            self.publishers[name] = Publisher(name)
            self.subscribers[name] = Subscriber(broker, number)
            await self.subscribers[name].come()

    async def together(self) -> None:
        """Wait until every broker has an event of every other one: from now on it is one overlay."""
        await until(
            lambda: all(each.got.keys() == self.brokers.keys() for each in self.subscribers.values()),
            "everybody has an event of everybody",
        )

    async def harm(self) -> None:
        """Let something happen."""
        fault = self._random.choices(list(FAULTS), list(FAULTS.values()))[0]
        pause = self._random.uniform(0, DOWN)
        if fault == "cut":
            relay = self._random.choice(self.relays)
            relay.cut()
            self.cuts += 1
            await asyncio.sleep(pause)
            relay.is_cut = False
        elif fault == "replace":
            subscriber = self._random.choice(list(self.subscribers.values()))
            await subscriber.leave()
            self.replaced += 1
            await asyncio.sleep(pause)
            await subscriber.come()
        else:
            victims = self._random.sample(list(self.brokers.values()), 1 + (fault == "kill two"))
            for victim in victims:
                await victim.die()
                self.kills += 1
                await asyncio.sleep(self._random.uniform(0, pause))
            for victim in victims:
                await victim.start()

    def missing(self) -> dict[str, list[str]]:
        """Return by subscriber which events it has not got that were acknowledged and that it wants."""
        found: dict[str, list[str]] = {}
        for name, subscriber in self.subscribers.items():
            for of, publisher in self.publishers.items():
                wanted = {number for number in publisher.acknowledged if subscriber.wants(number)}
                lost = wanted - set(subscriber.got.get(of, ()))
                found.setdefault(name, []).extend(f"{of}{number}" for number in sorted(lost))
        return {name: lost for name, lost in found.items() if lost}

    def check(self) -> None:
        """Raise `BrokenPromiseError` if something was delivered that was not published, or in another order."""
        for name, subscriber in self.subscribers.items():
            subscriber.check()
            for of, numbers in subscriber.got.items():
                if numbers != sorted(numbers):
                    raise BrokenPromiseError(f"{name} got the events of {of} in another order")
                if numbers and numbers[-1] >= self.publishers[of].tried:
                    raise BrokenPromiseError(f"{name} got {of}{numbers[-1]}, which nobody has published")


@asynccontextmanager
async def nursed() -> AsyncIterator["subprocess.Popen[str]"]:
    """Have a nursery; leave no process behind."""
    here = Path(__file__).parents[1]
    nursery = subprocess.Popen(
        [sys.executable, "-m", "harness.nursery"],
        cwd=here,
        env={**os.environ, "PYTHONPATH": str(here)},
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        text=True,
    )
    try:
        yield nursery
    finally:
        assert nursery.stdin is not None
        assert nursery.stdout is not None
        nursery.stdin.close()
        nursery.wait(PATIENCE)
        nursery.stdout.close()


async def survive(folder: Path, links: dict[str, list[str]], kills: int, seed: int) -> Outcome:
    """Run an overlay under load until so many brokers were killed; a broken promise is a `BrokenPromiseError`."""
    began = monotonic()
    overlay = Overlay(folder, links, seed)
    random = Random(seed + 1)  # noqa: S311 - no secret
    stop = asyncio.Event()
    async with contextlib.AsyncExitStack() as stack:
        await overlay.start(await stack.enter_async_context(nursed()))
        clients = [
            await stack.enter_async_context(connect(broker.url, timeout=PATIENCE))
            for broker in overlay.brokers.values()
        ]
        loads = [
            asyncio.create_task(publisher.run(client, stop))
            for publisher, client in zip(overlay.publishers.values(), clients, strict=True)
        ]
        try:
            await overlay.together()
            while overlay.kills < kills:
                await asyncio.sleep(random.uniform(0, CALM))
                await overlay.harm()
                overlay.check()
            stop.set()
            async with asyncio.timeout(PATIENCE):
                await asyncio.gather(*loads)
            with contextlib.suppress(BrokenPromiseError):
                await until(lambda: not overlay.missing(), "everybody has everything")
            if overlay.missing():
                raise BrokenPromiseError(f"lost: { {name: lost[:20] for name, lost in overlay.missing().items()} }")
            overlay.check()
        finally:
            for load in loads:
                load.cancel()
            await asyncio.gather(*loads, return_exceptions=True)
            for subscriber in overlay.subscribers.values():
                await subscriber.leave()
            for broker in overlay.brokers.values():
                if broker.runs:
                    await broker.die(signal.SIGTERM)
            for relay in overlay.relays:
                await relay.stop()
    return Outcome(
        overlay.kills,
        overlay.cuts,
        overlay.replaced,
        sum(len(publisher.acknowledged) for publisher in overlay.publishers.values()),
        sum(subscriber.delivered for subscriber in overlay.subscribers.values()),
        sum(subscriber.again for subscriber in overlay.subscribers.values()),
        monotonic() - began,
    )
