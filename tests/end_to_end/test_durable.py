"""Durable events, real processes, real disks: nothing that was acknowledged is lost, whoever is killed."""

import asyncio
import resource
from pathlib import Path

import pytest

from harness.kills import FIVE, THREE, survive
from support.brokers import BrokerProcess, awaited, until
from tamis.client import BrokerError, connect


@pytest.mark.parametrize(("links", "kills"), [(THREE, 3), (FIVE, 5)])
def test_brokers_are_killed_under_load(tmp_path: Path, links: dict[str, list[str]], kills: int) -> None:
    outcome = asyncio.run(survive(tmp_path, links, kills, seed=kills))
    assert outcome.kills >= kills
    assert outcome.acknowledged > 100


@pytest.mark.slow
def test_a_hundred_kills_at_random_moments(tmp_path: Path) -> None:
    outcome = asyncio.run(survive(tmp_path, FIVE, 100, seed=0))
    assert outcome.kills >= 100
    assert outcome.cuts > 0
    assert outcome.replaced > 0


@awaited
async def test_a_full_disk_is_an_error_to_the_publisher_and_the_broker_stays_up(tmp_path: Path) -> None:
    store = tmp_path / "a.store"
    broker = await BrokerProcess(tmp_path, "a", "--store", str(store)).ready()
    try:
        async with connect(broker.url) as client:
            events = await client.subscribe("x >= 0", durable="me")
            await client.publish({"x": 0}, durable=True)
            pid = broker._process.pid
            unlimited = resource.prlimit(pid, resource.RLIMIT_FSIZE)
            largest = max(path.stat().st_size for path in tmp_path.glob("a.store*"))
            resource.prlimit(pid, resource.RLIMIT_FSIZE, (largest + 200_000, unlimited[1]))
            accepted, code = 1, ""
            while not code:
                try:
                    await client.publish({"x": accepted, "data": "y" * 10_000}, durable=True)
                    accepted += 1
                except BrokerError as error:
                    code = error.code
            assert code in ("store-full", "store-failed")
            assert accepted > 5
            await client.publish({"x": -1})
            resource.prlimit(pid, resource.RLIMIT_FSIZE, unlimited)
            await client.publish({"x": accepted}, durable=True)
            assert [(await anext(events))["x"] for _ in range(accepted + 1)] == list(range(accepted + 1))
        await until(lambda: broker.runs)
        assert broker.stop() == 0
    finally:
        if broker.runs:
            broker.kill()
