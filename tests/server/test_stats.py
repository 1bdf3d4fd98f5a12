"""How a broker is, asked over the protocol."""

import asyncio
from pathlib import Path

import pytest

from support.brokers import Raw, awaited, overlay, until
from support.tokens import TokenFile
from tamis.client import BrokerError, ConnectionLostError, connect
from tamis.server import Server, ServerSettings
from tamis.server import stats as module
from tamis.server.stats import resident_bytes
from tamis.wire import VERSION, AskStats, ClientHello, Publish, Stats, Subscribe, frame


@awaited
async def test_a_broker_tells_what_it_did_and_who_is_there() -> None:
    async with overlay(2, [(0, 1)]) as (server, _), connect(server.url) as client:
        held = [await client.subscribe(condition) for condition in ("x > 0", "x > 1")]
        await client.publish({"x": 1})
        await client.publish({"x": 2})
        first, told = await asyncio.gather(client.stats(), client.stats())
        assert (told.broker, told.strategy) == ("b0", "ddbr")
        assert (told.clients, told.subscriptions) == (1, len(held))
        assert {name: told.counts[name] for name in ("published", "delivered", "dropped", "refused")} == {
            "published": 2,
            "delivered": 3,
            "dropped": 0,
            "refused": 0,
        }
        assert told.counts["matchings"] >= 2
        assert [link.broker for link in told.links] == ["b1"]
        assert told.slow == ()
        assert 0 < first.uptime <= told.uptime
        assert 0 < first.cpu_seconds <= told.cpu_seconds
        assert first.number < told.number
        assert told.memory is None or told.memory > 1 << 20


@awaited
async def test_the_slowest_clients_are_told(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(module, "SLOWEST", 1)
    async with Server(ServerSettings(port=0)) as server, connect(server.url) as client:
        stalled = [
            await Raw.open(
                server, frame(ClientHello(VERSION, name, 5, "drop-oldest")) + frame(Subscribe(1, 0, condition))
            )
            for name, condition in (("one", "true"), ("two", "number < 0"))
        ]
        await until(lambda: len(server.subscriptions) == 2)
        big = "x" * 100_000
        number = 0
        while not (await client.stats()).slow:
            number += 1
            await client.publish({"number": number, "big": big})
        # A few more, so that some are dropped.
        await client.publish_many([{"number": 0, "big": big}] * 10)
        told = await client.stats()
        (slow,) = told.slow
        assert slow.client == "one"
        assert (slow.waiting, slow.waiting_bytes > 5 * len(big)) == (5, True)
        assert slow.dropped == told.counts["dropped"] > 0
        for each in stalled:
            each.writer.close()


@awaited
async def test_numbers_ascend_through_all_requests() -> None:
    async with Server(ServerSettings(port=0)) as server:
        raw = await Raw.open(server, frame(ClientHello(VERSION, "raw")))
        raw.writer.write(frame(Publish(5, "e", {})) + frame(AskStats(7)) + frame(AskStats(7)))
        told = await raw.rest()
        assert [each.number for each in told if isinstance(each, Stats)] == [7]
        assert told[-1].code == "bad-frame"


@awaited
async def test_who_asks_hears_that_the_connection_is_lost() -> None:
    async with Server(ServerSettings(port=0)) as server, connect(server.url) as client:
        connections = client.connections

        asking = asyncio.create_task(client.stats())
        await asyncio.sleep(0)  # it has been asked, and nothing was read yet
        assert client._stats
        for session in list(server.sessions):
            session.connection.abort()
        with pytest.raises(ConnectionLostError):
            await asking
        await until(lambda: client.connections > connections)
        assert (await client.stats()).clients == 1


@awaited
async def test_only_who_may_administer_is_told(tmp_path: Path) -> None:
    tokens = TokenFile(tmp_path)
    plain, admin = tokens.add("plain", subscribe="true", publish="true"), tokens.add("admin", administer=True)
    async with (
        Server(ServerSettings(port=0, tokens=tokens.path)) as server,
        connect(server.url, token=plain) as client,
        connect(server.url, token=admin) as other,
    ):
        with pytest.raises(BrokerError) as raised:
            await client.stats()
        assert raised.value.code == "forbidden"
        await client.publish({"x": 1})
        told = await other.stats()
        assert (told.clients, told.counts["published"], told.counts["refused"]) == (2, 1, 1)


def test_the_memory_is_unknown_where_the_system_does_not_tell(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(module, "Path", lambda _name: Path("/nowhere"))
    assert resident_bytes() is None
