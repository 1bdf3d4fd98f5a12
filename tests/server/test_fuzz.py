import asyncio
import random
import time
from typing import Any

import pytest

from hostile import Hostile
from support.brokers import Raw, awaited, overlay, until
from tamis.client import connect
from tamis.server.link import BrokerHello
from tamis.wire import VERSION, ClientHello, Goodbye, Publish, Subscribe, frame

#: Other bytes every day: bench/fuzz.py sends a million, and this a small share of as many.
SEED = int(time.time()) // 86_400


@awaited
async def test_whatever_comes_over_a_connection_the_broker_stays_and_says_why_it_leaves() -> None:
    chance = random.Random(7)
    good = [
        frame(ClientHello(VERSION, "c")),
        frame(Subscribe(1, 0, "x > 1")),
        frame(Publish(2, "a", {"x": 0, "tags": ["b", {"c": None}]})),
    ]
    async with overlay(1, []) as (server,), connect(server.url) as client:
        events = await client.subscribe("probe = 1")
        reasons = set()
        for _ in range(300):
            data = bytearray(b"".join(good))
            for _ in range(chance.randint(1, 4)):
                place = chance.randrange(len(data))
                if chance.random() < 0.7:
                    data[place] = chance.randrange(256)
                else:
                    data[place:place] = chance.randbytes(5)
            raw = await Raw.open(server, bytes(data))
            raw.writer.write_eof()
            reasons |= {each.code for each in await raw.rest() if isinstance(each, Goodbye)}
        assert {"bad-frame", "frame-too-large", "version"} <= reasons
        await until(lambda: len(server.sessions) == 1)
        assert (len(server.subscriptions), server.strangers) == (1, {})
        await client.publish({"probe": 1})
        assert (await anext(events))["probe"] == 1
        server.runner.machine.check_invariants()


@pytest.mark.parametrize("seed", [SEED])
@awaited
async def test_hostile_clients_and_brokers_leave_nothing_behind(seed: int) -> None:
    hostile = Hostile(seed)
    failures: list[dict[str, Any]] = []
    asyncio.get_running_loop().set_exception_handler(lambda _, context: failures.append(context))
    async with overlay(1, []) as (server,), connect(server.url) as client:
        events = await client.subscribe("probe = 1")
        for number in range(400):
            hello: Any = ClientHello(VERSION, "c")
            if number % 4 == 0:
                hello = BrokerHello(VERSION, f"f{number}", 1, server.overlay, None)
            raw = await Raw.open(server, frame(hello) + b"".join(hostile.frame() for _ in range(1 + number % 3)))
            raw.writer.write_eof()
            await raw.closed()
        await until(lambda: len(server.sessions) == 1 and not server.links)
        await until(lambda: len(server.subscriptions) == 1 and not server.strangers)
        await client.publish({"probe": 1})
        assert (await anext(events))["probe"] == 1
        await until(lambda: server.runner.machine.stored() == 1)
        server.runner.machine.check_invariants()
    assert failures == []
