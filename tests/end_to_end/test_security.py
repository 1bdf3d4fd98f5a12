"""Tenants on the same brokers: what one of them is told is never about another. Tokens and TLS with real processes."""

import asyncio
import contextlib
import os
import signal
import subprocess
import sys
from pathlib import Path
from typing import Any

import msgspec
import pytest

from support.brokers import BrokerProcess, Raw, awaited, overlay
from support.certificates import certificates
from support.tokens import TokenFile
from tamis.client import BrokerError, Client, Event, Subscription, connect
from tamis.wire import VERSION, ClientHello, Delivered, Publish, Refused, Subscribe, Unsubscribe, frame

COMMAND = Path(sys.executable).with_name("tamis")
#: What belongs to the other tenant carries this word, wherever it stands.
SECRET = "zebra"

#: What a tenant may try in order to learn something of another.
ATTEMPTS: list[Any] = [
    Subscribe(1, 1, "tenant is not null"),
    Subscribe(2, 2, "true or true"),
    Subscribe(3, 3, "not (tenant = 'a')"),
    Subscribe(4, 4, "tenant is null or x > 0"),
    Subscribe(5, 5, "x > 0 notify x moves 1"),
    Subscribe(6, 6, "x >> 1"),
    Subscribe(7, 6, "true) or (true"),
    Subscribe(8, 6, f"x = '{'y' * 65_530}'"),
    Subscribe(9, 1, "true"),
    Unsubscribe(10, 77),
    Publish(11, "e1", {"tenant": "b", "x": 1}),
    Publish(12, "e2", {"x": 1}),
    Publish(13, "b/e1", {"tenant": "a", "x": 2}),
]


@awaited
async def test_whatever_a_tenant_tries_it_is_told_nothing_of_another(tmp_path: Path) -> None:
    tokens = TokenFile(tmp_path)
    mine = tokens.add("a", publish="tenant = 'a'", subscribe=f"tenant = 'a' and tenant <> '{SECRET}'")
    theirs = tokens.add(SECRET, publish=f"tenant = '{SECRET}'", subscribe=f"tenant = '{SECRET}'")
    link = tokens.add("brokers", link=True)
    async with (
        overlay(2, [(0, 1)], tokens=tokens.path, token=link) as (one, other),
        connect(one.url, token=theirs, name=f"{SECRET}-1") as here,
        connect(other.url, token=theirs, name=f"{SECRET}-2") as there,
    ):
        seen_here = await here.subscribe(f"tenant = '{SECRET}' and name like '{SECRET}%'")
        seen_there = await there.subscribe("true")
        raw = await Raw.open(one, frame(ClientHello(VERSION, "spy", token=mine)) + b"".join(map(frame, ATTEMPTS)))
        found = await raw.some(1)
        while not any(getattr(each, "number", 0) == 13 for each in found):
            found += await raw.some(1)
        await reached(here, seen_there)
        await reached(there, seen_here)
        for number in range(20):
            for client in (here, there):
                await client.publish(
                    {"tenant": SECRET, "x": number, "name": f"{SECRET}{number}"}, f"e{number}-{client.name}"
                )
        raw.writer.write(frame(Publish(14, "last", {"tenant": "a", "x": 3})))
        while not any(getattr(each, "number", 0) == 14 for each in found):
            found += await raw.some(1)
        raw.writer.close()
        refused = {each.number: each.code for each in found if isinstance(each, Refused)}
        assert refused == {
            6: "bad-condition",
            7: "bad-condition",
            8: "condition-too-large",
            9: "duplicate-subscription",
            10: "unknown-subscription",
            11: "forbidden",
            12: "forbidden",
        }
        delivered = [(each.id, each.subscription) for each in found if isinstance(each, Delivered)]
        assert sorted(delivered) == [(id, number) for id in ("a/b/e1", "a/last") for number in (1, 2, 4, 5)]
        assert SECRET.encode() not in msgspec.msgpack.encode(found)
        # The other tenant has all that is its own, and nothing else.
        for events in (seen_here, seen_there):
            got: set[Any] = set()
            while len(got) < 40:
                event = await anext(events)
                assert event["tenant"] == SECRET
                if "probe" not in event:
                    got.add(event.id)


async def reached(writer: Client, events: Subscription[Event]) -> None:
    """Publish until somebody at another broker gets it."""
    while True:
        id = await writer.publish({"tenant": SECRET, "name": SECRET, "probe": True})
        with contextlib.suppress(TimeoutError):
            async with asyncio.timeout(0.2):
                while (await anext(events)).id != id:
                    pass
                return


@awaited
async def test_brokers_in_processes_with_tokens_over_tls_that_are_told_to_read_the_file_again(tmp_path: Path) -> None:
    files = certificates(tmp_path)
    tokens = TokenFile(tmp_path)
    link = tokens.add("brokers", link=True)
    writer = tokens.add("writer", publish="tenant = 'a'")
    reader = tokens.add("reader", subscribe="tenant = 'a'")
    options = [
        "--tokens",
        tokens.path,
        "--tls-cert",
        files.cert,
        "--tls-key",
        files.key,
        "--ca",
        files.ca,
        "--token",
        link,
    ]
    words = [str(each) for each in options]
    brokers: list[BrokerProcess] = []
    try:
        brokers.append(await BrokerProcess(tmp_path, "one", *words).ready())
        brokers.append(await BrokerProcess(tmp_path, "two", *words, "--join", brokers[0].url).ready())
        one, two = brokers
        assert one.url.startswith("tamis+tls://")
        async with connect(two.url, ca=files.ca, token=reader) as client:
            events = await client.subscribe("true")
            async with connect(one.url, ca=files.ca, token=writer) as publisher:
                first = None
                while first is None:
                    id = await publisher.publish({"tenant": "a"})
                    with contextlib.suppress(TimeoutError):  # the link may not be there yet
                        async with asyncio.timeout(0.2):
                            first = await anext(events)
                assert id.startswith("writer/")
            environment = {**os.environ, "TAMIS_TOKEN": writer}
            command: list[str | Path] = [COMMAND, "pub", "--url", one.url, "--ca", files.ca]
            lines = '{"tenant": "a", "x": 1}\n{"tenant": "b"}\n'
            done = await asyncio.to_thread(
                subprocess.run, command, input=lines, env=environment, capture_output=True, text=True, check=False
            )
            assert (done.returncode, "(forbidden)" in done.stderr) == (1, True)
            while "x" not in await anext(events):
                pass

            tokens.remove(reader)
            two.tell(signal.SIGHUP)
            with pytest.raises(BrokerError) as caught:
                await anext(events)
            assert caught.value.code == "unauthorized"
        assert [broker.stop() for broker in brokers] == [0, 0]
    finally:
        for broker in brokers:
            if broker.runs:
                broker.kill()
