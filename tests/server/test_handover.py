import asyncio
import shutil
from pathlib import Path
from typing import Any

import pytest

from support.brokers import awaited, until
from support.kept import stored, taken, written
from tamis.client import DurableSubscription, connect
from tamis.server import Server, handover, joining
from tamis.server.changes import Changes
from tamis.server.store import Store, StoreError


@pytest.fixture(autouse=True)
def quick(monkeypatch: pytest.MonkeyPatch) -> None:
    """Let brokers look after their stores, and call each other, more often than they would."""
    monkeypatch.setattr("tamis.server.durable.TICK", 0.02)
    monkeypatch.setattr(joining, "LONGEST_PAUSE", 0.1)


def log(server: Server) -> int:
    assert server.durable is not None
    return server.durable.store.counts()["log"]


def members(server: Server) -> set[str]:
    assert server.durable is not None
    return {member.name for member in server.durable.handover._members.values()}


async def kept_at(server: Server, name: str = "me") -> None:
    """Make a durable subscription that nobody takes the events of."""
    async with connect(server.url) as client, client.subscribe("x >= 0", durable=name):
        pass


async def take(server: Server, count: int, name: str = "me") -> list[Any]:
    """Take all events that are kept, and wait until the broker knows that they were taken."""
    assert server.durable is not None
    store = server.durable.store
    async with connect(server.url) as client, client.subscribe("x >= 0", durable=name) as events:
        found = await taken(events, count)
        events.ack()
        await until(lambda: store.counts()["wanted"] == 0)
        return found


async def publish(server: Server, *values: int) -> None:
    async with connect(server.url) as client:
        await client.publish_many([{"x": x} for x in values], durable=True)


@awaited
async def test_events_wait_for_brokers_that_are_away(tmp_path: Path) -> None:
    async with stored(tmp_path, "a") as a:
        async with stored(tmp_path, "b", a) as b:
            port = b.address[1]
            async with stored(tmp_path, "c", b) as c:
                await kept_at(c)
                await until(lambda: members(a) == {"b", "c"})
            await publish(a, 1, 2)
        await publish(a, 3)
        async with stored(tmp_path, "c") as c:  # alone, it has nothing
            assert log(c) == 0
        async with stored(tmp_path, "b", a, port=port) as b, stored(tmp_path, "c", b) as c:
            assert await take(c, 3) == [1, 2, 3]
            # Nobody keeps what everybody has and nobody wants.
            await until(lambda: log(a) == log(b) == log(c) == 0)
            await written(a, b, c)


@awaited
async def test_a_broker_may_come_back_at_another_place(tmp_path: Path) -> None:
    async with stored(tmp_path, "a") as a:
        async with stored(tmp_path, "b", a) as b:
            async with stored(tmp_path, "c", b) as c:
                await kept_at(c)
                await until(lambda: members(a) == {"b", "c"})
            await publish(a, 1, 2)
            await until(lambda: log(b) == 2)
            # Both know that c has not had them.
        async with stored(tmp_path, "c", a) as c:
            assert await take(c, 2) == [1, 2]


@awaited
async def test_circles_do_no_harm_and_order_is_kept(tmp_path: Path) -> None:
    async with stored(tmp_path, "a") as a, stored(tmp_path, "b", a) as b, stored(tmp_path, "c", a, b) as c:
        for server in (a, b, c):
            await kept_at(server)
        await until(lambda: all(len(members(server)) == 2 for server in (a, b, c)))
        await asyncio.gather(publish(a, *range(300)), publish(b, *range(1000, 1300)), publish(c, *range(2000, 2300)))
        for server in (a, b, c):
            got = await take(server, 900)
            for first in (0, 1000, 2000):
                assert [x for x in got if first <= x < first + 1000] == list(range(first, first + 300))
        await until(lambda: log(a) == log(b) == log(c) == 0)
        await written(a, b, c)


@awaited
async def test_nobody_is_sent_what_it_has(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    sent: list[tuple[str, str, int]] = []
    send = handover.Handover._send

    def noted(self: handover.Handover, peer: handover.Peer, origin: str, entries: list[Any]) -> None:
        sent.append((self._server.name, peer.link.name, len(entries)))
        send(self, peer, origin, entries)

    monkeypatch.setattr(handover.Handover, "_send", noted)
    async with stored(tmp_path, "a") as a, stored(tmp_path, "b", a) as b, stored(tmp_path, "c", b) as c:
        await kept_at(c)
        await until(lambda: members(a) == {"b", "c"})
        await publish(a, *range(100))
        assert await take(c, 100) == list(range(100))
        await until(lambda: log(a) == log(b) == log(c) == 0)
    by_link = {(one, other): sum(count for x, y, count in sent if (x, y) == (one, other)) for one, other, _ in sent}
    assert by_link == {("a", "b"): 100, ("b", "c"): 100}


@awaited
async def test_links_that_break_lose_nothing(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    sent = broken = 0
    send = handover.Handover._send

    def breaking(self: handover.Handover, peer: handover.Peer, origin: str, entries: list[Any]) -> None:
        nonlocal sent, broken
        send(self, peer, origin, entries)
        sent += 1
        if sent % 5 == 0:  # at once, when nothing has left; or when some of it may be there, or all
            asyncio.get_running_loop().call_later(broken % 3 / 1000, peer.link.connection.abort)
            broken += 1

    monkeypatch.setattr(handover, "WINDOW", 500)
    monkeypatch.setattr(handover.Handover, "_send", breaking)
    async with stored(tmp_path, "a") as a, stored(tmp_path, "b", a) as b, stored(tmp_path, "c", b) as c:
        await kept_at(c)
        await until(lambda: members(a) == {"b", "c"})
        await publish(a, *range(3_000))
        assert await take(c, 3_000) == list(range(3_000))
        assert c.counts["given up unseen"] == 0
    assert broken > 2


@awaited
async def test_whoever_is_new_is_not_told_of_the_past(tmp_path: Path) -> None:
    async with stored(tmp_path, "a") as a:
        await kept_at(a)
        await publish(a, 1, 2)
        assert a.durable is not None
        await until(lambda: a.durable is not None and set(a.durable.handover._stable.values()) == {2})
        async with stored(tmp_path, "b", a) as b:
            await kept_at(b)
            await until(lambda: members(a) == {"b"})
            await publish(a, 3)
            assert await take(b, 1) == [3]
            assert await take(a, 3) == [1, 2, 3]
            assert b.counts["given up unseen"] == 0


@awaited
async def test_all_brokers_of_an_overlay_have_a_store_or_none(tmp_path: Path) -> None:
    async with stored(tmp_path, "a") as a:
        other = stored(tmp_path, "b", a, store=None)
        async with other:
            await until(lambda: any("store" in (called.refused.message) for called in refused(other)))
            assert len(a.links) == 0


def refused(server: Server) -> list[Any]:
    return [each for each in server.joined.values() if each.refused is not None]


@awaited
async def test_a_broker_that_has_lost_its_store_begins_anew(tmp_path: Path) -> None:
    async with stored(tmp_path, "a") as a:
        async with stored(tmp_path, "b", a) as b:
            await until(lambda: members(a) == {"b"})
            await publish(b, 1)
        for path in tmp_path.glob("b.store*"):
            path.unlink()
        await kept_at(a)
        async with stored(tmp_path, "b", a) as b:
            await publish(b, 2, 3)
            assert await take(a, 2) == [2, 3]
            # The store that is lost is not waited for.
            await until(lambda: log(a) == log(b) == 0)
            await written(a, b)
            assert a.durable is not None
            assert a.durable.store.counts()["members"] == 1


@pytest.mark.parametrize("publisher", ["a", "b"])
@awaited
async def test_a_store_that_was_put_back_is_refused(
    tmp_path: Path, publisher: str, caplog: pytest.LogCaptureFixture
) -> None:
    async with stored(tmp_path, "a") as a:
        async with stored(tmp_path, "b", a) as b:
            await until(lambda: members(a) == {"b"})
        shutil.copy(tmp_path / "b.store", tmp_path / "old")
        async with stored(tmp_path, "b", a) as b:
            await publish(a if publisher == "a" else b, 1)
            await until(lambda: knows(a) and knows(b))
        shutil.copy(tmp_path / "old", tmp_path / "b.store")
        async with stored(tmp_path, "b", a):
            await until(lambda: "the store of b is older than what others know of it" in caplog.text)


def knows(server: Server) -> bool:
    """Say whether a broker has the only event and knows that the other one has it."""
    assert server.durable is not None
    (other,) = server.durable.handover._members.values()
    return sum(server.durable.have.values()) == sum(other.vector.values()) == 1


@awaited
async def test_what_was_given_up_before_it_could_be_passed_on_is_told(tmp_path: Path) -> None:
    async with stored(tmp_path, "a", store_size=1 << 18) as a:
        async with stored(tmp_path, "b", a) as b:
            await kept_at(b)
            await publish(a, 0)
            assert await take(b, 1) == [0]
            await until(lambda: members(a) == {"b"})
        async with connect(a.url) as client:
            await client.publish_many([{"x": x, "data": "y" * 1000} for x in range(1, 1001)], durable=True)
        await until(lambda: a.durable is not None and any(a.durable.handover._given_up.values()))
        async with stored(tmp_path, "b", a) as b, connect(b.url) as client:
            events: DurableSubscription[Any] = await client.subscribe("x >= 0", durable="me")
            found = await taken(events, 1)
            while found[-1] != 1000:
                found += await taken(events, 1)
            assert found == list(range(found[0], 1001))
            assert (events.given_up, events.unseen) == (0, found[0] - 1)
            assert b.counts["given up unseen"] == found[0] - 1


@awaited
async def test_a_store_that_was_away_for_too_long_is_told_that_it_has_missed_something(tmp_path: Path) -> None:
    async with stored(tmp_path, "a", store_age=1.0) as a:
        async with stored(tmp_path, "b", a) as b:
            await kept_at(b)
            await publish(a, 0)
            assert await take(b, 1) == [0]
        await until(lambda: a.durable is not None and not any(m.seen for m in a.durable.handover._members.values()))
        await publish(a, 1, 2)
        await until(lambda: log(a) == 0)
        async with stored(tmp_path, "b", a) as b, connect(b.url) as client:
            await until(lambda: b.durable is not None and b.durable.handover._peers)
            await publish(a, 3)
            events: DurableSubscription[Any] = await client.subscribe("x >= 0", durable="me")
            assert await taken(events, 1) == [3]
            assert events.unseen == 2


@awaited
async def test_what_could_not_be_written_is_sent_again(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    write = Store.write
    failing: set[Path] = set()

    def failing_write(store: Store, changes: Changes) -> None:
        if store.path in failing and changes.entries:
            raise StoreError("the disk is full", full=True)
        write(store, changes)

    monkeypatch.setattr(Store, "write", failing_write)
    async with stored(tmp_path, "a") as a, stored(tmp_path, "b", a) as b, stored(tmp_path, "c", b) as c:
        for server in (b, c):
            await kept_at(server)
        await until(lambda: members(a) == {"b", "c"})
        failing.add(tmp_path / "b.store")
        await publish(a, *range(50))
        await until(lambda: b.counts["store failures"])
        await publish(a, *range(50, 500))
        failing.clear()
        assert await take(c, 500) == list(range(500))
        assert await take(b, 500) == list(range(500))
        assert b.counts["given up unseen"] == c.counts["given up unseen"] == 0
