import asyncio
import contextlib
import threading
from pathlib import Path
from typing import Any

import pytest

from support.brokers import Raw, awaited, overlay, until
from support.kept import stored, taken, written
from support.tokens import TokenFile
from tamis.client import BrokerError, connect
from tamis.server.changes import Changes
from tamis.server.store import Store, StoreError
from tamis.wire import (
    VERSION,
    Accepted,
    Acknowledge,
    ClientHello,
    Goodbye,
    Kept,
    Publish,
    Refused,
    Subscribe,
    Unsubscribe,
    frame,
)

HELLO = frame(ClientHello(VERSION, "raw"))


class Gate:
    """Stops the disk."""

    def __init__(self, monkeypatch: pytest.MonkeyPatch) -> None:
        self._open = threading.Event()
        self._open.set()
        write = Store.write

        def slow(store: Store, changes: Changes) -> None:
            self._open.wait(30)
            write(store, changes)

        monkeypatch.setattr(Store, "write", slow)
        self.stop, self.go_on = self._open.clear, self._open.set


def full(server: Any, more: int) -> None:
    """Let the disk of a broker have room for so many pages more."""
    writing = server.durable.store._writing
    (pages,) = writing.execute("PRAGMA page_count").fetchone()
    (free,) = writing.execute("PRAGMA freelist_count").fetchone()
    writing.execute(f"PRAGMA max_page_count={pages - free + more if more < 1000 else 1 << 30}")


@awaited
async def test_without_a_store_nothing_durable_is_accepted() -> None:
    async with overlay(1, []) as (server,), connect(server.url) as client:
        with pytest.raises(BrokerError, match="no store") as caught:
            await client.publish({"x": 1}, durable=True)
        assert caught.value.code == "no-store"
        with pytest.raises(BrokerError) as refused:
            await client.subscribe("x > 0", durable="me")
        assert refused.value.code == "no-store"
        assert await client.publish({"x": 1})


@awaited
async def test_what_is_accepted_is_on_disk_and_answers_keep_their_order(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    gate = Gate(monkeypatch)
    async with stored(tmp_path, "a") as server:
        gate.stop()
        requests = [
            Publish(1, "one", {"x": 1}),
            Publish(2, "two", {"x": 2}, None, True),
            Subscribe(3, 7, "x >> 2"),
            Publish(4, "four", {"x": 4}),
        ]
        raw = await Raw.open(server, HELLO + b"".join(map(frame, requests)))
        _, *answers = await raw.some(3)
        assert answers[0].number == 3
        assert isinstance(answers[0], Refused)
        assert answers[1] == Accepted(1)
        gate.go_on()
        assert await raw.some(1) == [Accepted(4)]
        assert server.durable is not None
        assert server.durable.store.origins()[server.durable.store.id].have == 1
        raw.writer.close()


@awaited
async def test_events_are_kept_for_an_absent_client_and_over_a_restart(tmp_path: Path) -> None:
    async with stored(tmp_path, "a") as server, connect(server.url) as client:
        await client.subscribe("x > 1", durable="me")
        ids = await client.publish_many([{"x": x} for x in range(5)], durable=True)
    async with stored(tmp_path, "a") as server, connect(server.url) as client:
        await client.publish({"x": 5}, durable=True)
        async with client.subscribe("x > 1", durable="me") as events:
            first = await anext(events)
            assert (first.id, first["x"]) == (ids[2], 2)
            assert await taken(events, 3) == [3, 4, 5]
        assert server.durable is not None
        store = server.durable.store
        await until(lambda: store.counts()["wanted"] == 0)
        await written(server)
    async with stored(tmp_path, "a") as server:
        assert server.durable is not None
        assert server.durable.store.counts()["wanted"] == 0
        await until(lambda: server.durable is not None and server.durable.store.counts()["log"] == 0)
        await written(server)


@awaited
async def test_what_is_not_acknowledged_comes_again_from_there_on(tmp_path: Path) -> None:
    async with stored(tmp_path, "a") as server, connect(server.url) as publisher:
        async with connect(server.url) as client:
            events = await client.subscribe("x >= 0", durable="me")
            await publisher.publish_many([{"x": x} for x in range(10)], durable=True)
            assert await taken(events, 4) == [0, 1, 2, 3]  # of which three are acknowledged
        async with connect(server.url) as client:
            events = await client.subscribe("x >= 0", durable="me")
            assert await taken(events, 3) == [3, 4, 5]
            events.ack()
        with contextlib.suppress(ZeroDivisionError):
            async with connect(server.url) as client, client.subscribe("x >= 0", durable="me") as again:
                assert await taken(again, 2) == [6, 7]
                raise ZeroDivisionError
        async with connect(server.url) as client, client.subscribe("x >= 0", durable="me") as again:
            assert await taken(again, 3) == [7, 8, 9]
        assert server.durable is not None
        store = server.durable.store
        await until(lambda: store.counts()["wanted"] == 0)
        await written(server)


@awaited
async def test_another_client_takes_over(tmp_path: Path) -> None:
    async with stored(tmp_path, "a") as server, connect(server.url) as one, connect(server.url) as two:
        first = await one.subscribe("x >= 0", durable="me")
        await one.publish_many([{"x": 0}, {"x": 1}], durable=True)
        assert await taken(first, 2) == [0, 1]
        assert server.durable is not None
        (subscription,) = server.durable._subscriptions.values()
        await until(lambda: subscription.acknowledged)
        second = await two.subscribe("x >= 0", durable="me")
        with pytest.raises(BrokerError, match="another client") as caught:
            await anext(first)
        assert caught.value.code == "taken"
        # What the first has taken and acknowledged too late comes again.
        assert await taken(second, 1) == [1]
        await one.publish({"x": 2}, durable=True)
        assert await taken(second, 1) == [2]
        assert len(server.durable) == 1


@awaited
async def test_leaving_is_no_end_but_unsubscribing_is(tmp_path: Path) -> None:
    async with stored(tmp_path, "a") as server, connect(server.url) as client:
        events = await client.subscribe("x >= 0", durable="me")
        events.leave()
        await client.publish({"x": 1}, durable=True)
        assert [event async for event in events] == []
        events = await client.subscribe("x >= 0", durable="me")
        assert await taken(events, 1) == [1]
        await client.publish({"x": 2}, durable=True)
        await events.unsubscribe()
        await written(server)
        assert server.durable is not None
        assert server.durable.store.counts()["subscriptions"] == 0
        events = await client.subscribe("x >= 0", durable="me")
        await client.publish({"x": 3}, durable=True)
        assert await taken(events, 1) == [3]


@awaited
async def test_requests_about_one_subscription_may_come_together(tmp_path: Path) -> None:
    async with stored(tmp_path, "a") as server:
        requests = [
            Subscribe(1, 0, "x > 0", "me"),
            Publish(2, "one", {"x": 1}, None, True),
            Unsubscribe(3, 0),
            Subscribe(4, 0, "x > 1", "me"),
            Publish(5, "two", {"x": 2}, None, True),
        ]
        raw = await Raw.open(server, HELLO + b"".join(map(frame, requests)))
        found: list[Any] = []
        while Accepted(5) not in found:
            found += await raw.some(1)
        await written(server)
        assert server.durable is not None
        assert [kept.condition for kept in server.durable.store.subscriptions()] == ["x > 1"]
        assert not [each for each in found if isinstance(each, Refused)]
        raw.writer.close()


@awaited
async def test_another_condition_takes_the_place_of_the_old_one(tmp_path: Path) -> None:
    async with stored(tmp_path, "a") as server, connect(server.url) as client:
        (await client.subscribe("x > 1", durable="me")).leave()
        await client.publish_many([{"x": x} for x in range(6)], durable=True)
        events = await client.subscribe("x < 4", durable="me")
        await client.publish_many([{"x": x} for x in range(6)], durable=True)
        assert await taken(events, 2) == [2, 3]
        assert await taken(events, 4) == [0, 1, 2, 3]
        events.ack()
        assert server.durable is not None
        store = server.durable.store
        await until(lambda: store.counts()["wanted"] == 0)
        await written(server)


@awaited
async def test_notify_clauses_go_on_where_they_were_after_a_restart(tmp_path: Path) -> None:
    condition = "x > 0 notify x moves 10 per k"
    async with stored(tmp_path, "a") as server, connect(server.url) as client:
        (await client.subscribe(condition, durable="me")).leave()
        moves = [(100, "a"), (105, "a"), (50, "b"), (111, "a"), (55, "b")]
        await client.publish_many([{"x": x, "k": k} for x, k in moves], durable=True)
    async with stored(tmp_path, "a") as server, connect(server.url) as client:
        await client.publish_many([{"x": 115, "k": "a"}, {"x": 60, "k": "b"}, {"x": 1, "k": "c"}], durable=True)
        async with client.subscribe(condition, durable="me") as events:
            assert await taken(events, 5) == [100, 50, 111, 60, 1]


@awaited
async def test_durable_events_reach_everybody_and_others_only_ordinary_subscribers(tmp_path: Path) -> None:
    async with (
        stored(tmp_path, "a") as one,
        stored(tmp_path, "b", one) as two,
        connect(one.url) as near,
        connect(two.url) as far,
    ):
        ordinary = await far.subscribe("x > 0")
        durable = await far.subscribe("x > 0", durable="me")
        await until(lambda: one.runner.machine.stored() == 1)
        await near.publish({"x": 1})
        await near.publish({"x": 2}, durable=True)
        assert [(await anext(ordinary))["x"] for _ in range(2)] == [1, 2]
        assert await taken(durable, 1) == [2]


@awaited
async def test_an_id_is_stored_once(tmp_path: Path) -> None:
    async with stored(tmp_path, "a") as server, connect(server.url) as client:
        (await client.subscribe("x >= 0", durable="me")).leave()
        await asyncio.gather(*(client.publish({"x": 1}, "same", durable=True) for _ in range(3)))
        await client.publish({"x": 2}, durable=True)
    async with stored(tmp_path, "a") as server, connect(server.url) as client:
        await client.publish({"x": 1}, "same", durable=True)
        await client.publish({"x": 3}, durable=True)
        raw = await Raw.open(server, HELLO + frame(Subscribe(1, 0, "x >= 0", "me")))
        found = [each for each in await raw.some(5) if isinstance(each, Kept)]
        assert [each.content["x"] for each in found] == [1, 2, 3]
        raw.writer.close()


@awaited
async def test_no_more_than_the_window_is_on_its_way(tmp_path: Path) -> None:
    async with stored(tmp_path, "a") as server, connect(server.url) as client:
        (await client.subscribe("x >= 0", durable="me")).leave()
        await client.publish_many([{"x": x} for x in range(100)], durable=True)
        raw = await Raw.open(server, HELLO + frame(Subscribe(1, 0, "x >= 0", "me", 10)))
        found = [each for each in await raw.some(12) if isinstance(each, Kept)]
        assert [each.content["x"] for each in found] == list(range(10))
        assert server.durable is not None
        (subscription,) = server.durable._subscriptions.values()
        assert subscription.consumer is not None
        assert subscription.consumer.flying == 10
        raw.writer.write(frame(Acknowledge(0, found[3].position)))
        found = await raw.some(4)
        assert [each.content["x"] for each in found] == [10, 11, 12, 13]
        raw.writer.write(frame(Acknowledge(0, found[-1].position + 1)))
        goodbye = (await raw.rest())[-1]
        assert isinstance(goodbye, Goodbye)
        assert goodbye.code == "bad-frame"


@pytest.mark.parametrize("windows", [(1000, 1000, 1000), (10, 10, 1000), (1000, 10, 10)])
@awaited
async def test_a_client_that_does_not_read_is_sent_the_rest_when_it_does(
    tmp_path: Path, windows: tuple[int, int, int]
) -> None:
    names = ("me", "you", "them")
    async with stored(tmp_path, "a") as server, connect(server.url) as client:
        for name in names:
            (await client.subscribe("x >= 0", durable=name)).leave()
        await client.publish_many([{"x": x, "data": "x" * 100_000} for x in range(100)], durable=True)
        # Not more than `MOST_BYTES` are on their way to each; the system takes in about as many for all together.
        # With a small window for some, much is put at once when there is room again, and all of it is written.
        asked = [
            frame(Subscribe(1 + each, each, "x >= 0", name, window))
            for each, (name, window) in enumerate(zip(names, windows, strict=True))
        ]
        raw = await Raw.open(server, HELLO + b"".join(asked))
        await until(lambda: any(each.connection.outbox.paused for each in server.sessions))
        assert all(each.connection.waiting < 1 << 23 for each in server.sessions)
        found: list[list[int]] = [[] for _ in names]
        while any(len(each) < 100 for each in found):
            for each in await raw.some(1):
                if isinstance(each, Kept):
                    found[each.subscription].append(each.content["x"])
                    raw.writer.write(frame(Acknowledge(each.subscription, each.position)))
        assert found == [list(range(100))] * len(names)
        raw.writer.close()


@awaited
async def test_a_full_disk_is_an_error_to_the_publisher_and_nothing_else(tmp_path: Path) -> None:
    async with stored(tmp_path, "a") as server, connect(server.url) as client:
        ordinary = await client.subscribe("x >= 0")
        events = await client.subscribe("x >= 0 notify x moves 1", durable="me")
        full(server, 20)
        accepted: list[int] = []
        code = ""
        while not code:
            try:
                await client.publish({"x": len(accepted), "data": "y" * 4000}, durable=True)
                accepted.append(len(accepted))
            except BrokerError as error:
                code = error.code
        assert code == "store-full"
        with pytest.raises(BrokerError):
            await client.subscribe("x > 5" + " or y > 0" * 2000, durable="other")
        await client.publish({"x": 9_999})
        assert server.durable is not None
        assert len(server.durable) == 1
        # What was refused has not been told either, and what is acknowledged makes room.
        # Whoever had the subscription gets it, although nothing can be written.
        events.leave()
        publishing = [asyncio.create_task(client.publish({"x": 1, "data": "y" * 4000}, durable=True)) for _ in range(3)]
        events = await client.subscribe("x >= 0 notify x moves 1", durable="me")
        refused = await asyncio.gather(*publishing, return_exceptions=True)
        assert [type(each) for each in refused] == [BrokerError] * 3
        assert await taken(events, len(accepted)) == accepted
        events.ack()
        # The broker finds out by itself that it can write again.
        await until(lambda: server.durable is not None and server.durable.store.counts()["log"] == 0)
        await until(lambda: server.durable is not None and not server.durable.is_failing)
        await client.publish({"x": 2000}, durable=True)
        assert await taken(events, 1) == [2000]
        got = [(await anext(ordinary))["x"] for _ in range(len(accepted) + 2)]
        assert got == [*accepted, 9_999, 2000]
        await written(server)


@awaited
async def test_what_is_given_up_is_counted_and_told(tmp_path: Path) -> None:
    async with stored(tmp_path, "a", store_size=1 << 18) as server, connect(server.url) as client:
        events = await client.subscribe("x >= 0", durable="me", queue=1)
        (await client.subscribe("x < 0", durable="nothing")).leave()
        await client.publish_many([{"x": x, "data": "y" * 1000} for x in range(1000)], durable=True)
        await until(lambda: events.given_up > 0)
        found = await taken(events, 2)
        while found[-1] != 999:
            found += await taken(events, 1)
        events.ack()
        await written(server)
        assert found == sorted(set(found))
        # One was on its way already when it was given up.
        assert 1000 - len(found) <= events.given_up <= 1000 - len(found) + 1
        assert server.counts["given up"] == events.given_up
        lost = events.given_up
    async with stored(tmp_path, "a", store_size=1 << 18) as server, connect(server.url) as client:
        async with client.subscribe("x >= 0", durable="me") as again:
            await until(lambda: again.given_up == lost)
        async with client.subscribe("x < 0", durable="nothing") as other:
            assert other.given_up == other.unseen == 0


@awaited
async def test_old_events_are_given_up(tmp_path: Path) -> None:
    async with stored(tmp_path, "a", store_age=0.2) as server, connect(server.url) as client:
        events = await client.subscribe("x >= 0", durable="me")
        events.leave()
        await client.publish_many([{"x": 1}, {"x": 2}], durable=True)
        await until(lambda: server.counts["given up"] == 2)
        assert server.durable is not None
        assert server.durable.store.counts()["log"] == 0
        async with client.subscribe("x >= 0", durable="me") as again:
            await until(lambda: again.given_up == 2)


@awaited
async def test_names_belong_to_subjects_and_rights_bound_what_is_kept(tmp_path: Path) -> None:
    tokens = TokenFile(tmp_path)
    a, b = (tokens.add(name, subscribe=f"tenant = '{name}'", publish="true") for name in "ab")
    async with stored(tmp_path, "broker", tokens=tokens.path) as server:
        for token in (a, b):
            async with connect(server.url, token=token) as client, client.subscribe("x >= 0", durable="me"):
                pass
        async with connect(server.url, token=a) as client:
            await client.publish_many([{"x": x, "tenant": "ab"[x % 2]} for x in range(6)], durable=True)
            async with client.subscribe("x >= 0", durable="me") as events:
                assert await taken(events, 2) == [0, 2]
        # What was kept under a right that is gone does not come.
        tokens.change(a, "a", subscribe="tenant = 'a' and x < 4", publish="true")
        tokens.change(b, "b", subscribe="tenant = 'b' and x > 1", publish="true")
        server.reload()
        async with connect(server.url, token=b) as client, client.subscribe("x >= 0", durable="me") as events:
            assert await taken(events, 2) == [3, 5]
        async with connect(server.url, token=a) as client, client.subscribe("x >= 0", durable="me") as events:
            await client.publish({"x": 1, "tenant": "a"}, durable=True)
            assert await taken(events, 1) == [1]


@awaited
async def test_a_store_that_cannot_be_opened_stops_the_start(tmp_path: Path) -> None:
    (tmp_path / "a.store").write_bytes(b"none" * 5000)
    server = stored(tmp_path, "a")
    with pytest.raises(StoreError, match="not a database"):
        await server.start()
    async with stored(tmp_path, "b"):
        with pytest.raises(StoreError, match="in use"):
            await stored(tmp_path, "b").start()


@awaited
async def test_ordinary_events_do_not_wait_for_the_disk(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    gate = Gate(monkeypatch)
    async with stored(tmp_path, "a") as server, connect(server.url) as client, connect(server.url) as other:
        events = await other.subscribe("x > 0")
        gate.stop()
        waiting = asyncio.create_task(client.publish({"x": 1}, durable=True))
        await until(lambda: server.durable is not None and server.durable._writing)
        await other.publish({"x": 2})
        assert (await anext(events))["x"] == 2
        assert not waiting.done()
        gate.go_on()
        await waiting
        assert (await anext(events))["x"] == 1
