"""Tokens and limits at a broker, over real sockets."""

import asyncio
from pathlib import Path
from typing import Any

import pytest

from support.brokers import Raw, awaited, overlay, until
from support.tokens import TokenFile, soon
from tamis.client import BrokerError, connect
from tamis.server import Server, ServerSettings
from tamis.server.limits import Limits
from tamis.wire import (
    VERSION,
    Accepted,
    AskStats,
    ClientHello,
    Delivered,
    Goodbye,
    Publish,
    Refused,
    Subscribe,
    Unsubscribe,
    Welcome,
    frame,
)

ALL = {"publish": "true", "subscribe": "true"}


@pytest.fixture
def tokens(tmp_path: Path) -> TokenFile:
    return TokenFile(tmp_path)


def hello(token: str | None) -> bytes:
    return frame(ClientHello(VERSION, "raw", token=token))


async def last(server: Server, data: bytes) -> Any:
    return (await (await Raw.open(server, data)).rest())[-1]


async def until_done(raw: Raw, number: int) -> list[Any]:
    """Return what comes until all requests up to a number are done, but not that they are."""
    found: list[Any] = []
    while Accepted(number) not in found:
        found += await raw.some(1)
    return [each for each in found if not isinstance(each, Accepted)]


# --- who comes -------------------------------------------------------------------------------------------


@awaited
async def test_who_has_no_token_or_one_that_is_unknown_or_expired_is_told_so(tokens: TokenFile) -> None:
    old = tokens.add("old", **ALL, expires=soon(-1))
    good = tokens.add("good", **ALL)
    async with overlay(1, [], tokens=tokens.path) as (server,):
        for token, code in (
            (None, "unauthorized"),
            ("", "unauthorized"),
            ("tamis_no", "unauthorized"),
            (old, "expired"),
        ):
            goodbye = await last(server, hello(token))
            assert isinstance(goodbye, Goodbye)
            assert goodbye.code == code
            with pytest.raises(BrokerError) as caught:
                async with connect(server.url, token=token):
                    pass
            assert caught.value.code == code
        async with connect(server.url, token=good) as client:
            events = await client.subscribe("x = 1")
            await client.publish({"x": 1})
            assert (await anext(events))["x"] == 1
        assert server.strangers == {}


@awaited
async def test_the_environment_gives_a_token(tokens: TokenFile, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("TAMIS_TOKEN", tokens.add("a", **ALL))
    async with overlay(1, [], tokens=tokens.path) as (server,), connect(server.url) as client:
        await client.publish({})


@awaited
async def test_a_token_that_expires_ends_its_connections_and_no_others(
    tokens: TokenFile, monkeypatch: pytest.MonkeyPatch
) -> None:
    now = soon(0)
    monkeypatch.setattr("tamis.server.accounts._now", lambda: now)
    monkeypatch.setattr("tamis.server.accounts.LOOK", 0.02)
    short = tokens.add("short", **ALL, expires=soon(3600))
    other = tokens.add("other", **ALL, expires=soon(7200))
    async with overlay(1, [], tokens=tokens.path) as (server,), connect(server.url, token=other) as stays:
        events = await stays.subscribe("true")
        async with connect(server.url, token=short) as client:
            mine = await client.subscribe("true")
            await stays.publish({"x": 1})
            assert (await anext(mine))["x"] == 1
            now = soon(5400)
            with pytest.raises(BrokerError) as caught:
                await anext(mine)
            assert caught.value.code == "expired"
            with pytest.raises(BrokerError, match="expired"):
                await client.publish({"x": 2})
        await stays.publish({"x": 3})
        assert [(await anext(events))["x"] for _ in range(2)] == [1, 3]
        assert len(server.subscriptions) == 1


@awaited
async def test_when_the_file_is_read_again_tokens_that_are_gone_or_changed_lose_their_connections(
    tokens: TokenFile, caplog: pytest.LogCaptureFixture
) -> None:
    gone, changed, stays = (tokens.add(name, **ALL) for name in ("gone", "changed", "stays"))
    server = Server(ServerSettings(port=0, tokens=tokens.path))
    async with (
        server,
        connect(server.url, token=gone) as one,
        connect(server.url, token=changed) as two,
        connect(server.url, token=stays) as three,
    ):
        first = await one.subscribe("true")
        second = await two.subscribe("true")
        third = await three.subscribe("true")
        tokens.remove(gone)
        tokens.change(changed, "changed", publish="true", subscribe="x = 2")
        server.reload()
        with pytest.raises(BrokerError) as caught:
            await anext(first)
        assert caught.value.code == "unauthorized"
        await until(lambda: two.connections == 2 and len(server.subscriptions) == 2)
        for x in (1, 2):
            await three.publish({"x": x})
        assert (await anext(second))["x"] == 2
        assert [(await anext(third))["x"] for _ in range(2)] == [1, 2]
        assert three.connections == 1

        tokens.path.write_text("[[token]]\nsubject = 1\n")
        server.reload()
        assert "settings.wrong" in caplog.text
        assert "subject" in caplog.text
        await three.publish({"x": 3})
        assert (await anext(third))["x"] == 3


# --- what they may do ------------------------------------------------------------------------------------


@awaited
async def test_rights_that_are_exceeded_are_refused_and_the_connection_stays(tokens: TokenFile) -> None:
    reader = tokens.add("reader", subscribe="tenant = 'a'")
    writer = tokens.add("writer", publish="tenant = 'a'")
    async with overlay(1, [], tokens=tokens.path) as (server,):
        raw = await Raw.open(
            server, hello(reader) + frame(Publish(1, "e", {"tenant": "a"})) + frame(Subscribe(2, 0, "x = 1"))
        )
        welcome, refused = await until_done(raw, 2)
        assert isinstance(welcome, Welcome)
        assert (refused.number, refused.code) == (1, "forbidden")
        requests: list[Any] = [
            Subscribe(1, 0, "true"),
            Publish(2, "e1", {"tenant": "b", "x": 1}),
            Publish(3, "e2", {"x": 1}),
            Publish(4, "e3", {"tenant": None, "x": 1}),
            Publish(5, "e4", {"tenant": "a", "x": 1}),
            AskStats(6),
        ]
        other = await Raw.open(server, hello(writer) + b"".join(map(frame, requests)))
        answers = await until_done(other, 6)
        assert [(each.number, each.code) for each in answers if isinstance(each, Refused)] == [
            (number, "forbidden") for number in (1, 2, 3, 4, 6)
        ]
        (delivered,) = await raw.some(1)
        assert isinstance(delivered, Delivered)
        assert delivered.content == {"tenant": "a", "x": 1}
        raw.writer.close()
        other.writer.close()


@awaited
async def test_a_condition_of_65_kib_is_refused_with_its_code(tokens: TokenFile) -> None:
    small = tokens.add("small", subscribe="true", limits={"condition": 20})
    async with overlay(1, []) as (server,):
        raw = await Raw.open(server, hello(None) + frame(Subscribe(1, 0, f"x = '{'y' * (65 << 10)}'")))
        _, refused = await until_done(raw, 1)
        assert (refused.code, refused.position) == ("condition-too-large", None)
        raw.writer.close()
    async with overlay(1, [], tokens=tokens.path) as (server,), connect(server.url, token=small) as client:
        await client.subscribe("x = 'abcdefghij'")
        with pytest.raises(BrokerError) as caught:
            await client.subscribe("x = 'abcdefghijklmnopqrstuvwxyz'")
        assert caught.value.code == "condition-too-large"


# --- how much --------------------------------------------------------------------------------------------


@awaited
async def test_who_publishes_too_fast_is_told_when_to_come_back(tokens: TokenFile) -> None:
    token = tokens.add("fast", **ALL, limits={"rate": 20, "burst": 2})
    async with overlay(1, [], tokens=tokens.path) as (server,):
        async with connect(server.url, token=token) as client, connect(server.url, token=token) as other:
            await client.publish({"x": 1})
            await other.publish({"x": 2})
            with pytest.raises(BrokerError) as caught:
                await client.publish_many({"x": 3} for _ in range(10))
            assert caught.value.code == "rate"
            assert caught.value.after is not None
            assert 0 < caught.value.after <= 0.05
            await asyncio.sleep(caught.value.after)
            await client.publish({"x": 4})
        # Coming back does not fill the bucket.
        async with connect(server.url, token=token) as client:
            with pytest.raises(BrokerError, match="rate"):
                await client.publish_many({"x": x} for x in range(10))


@awaited
async def test_subscriptions_are_counted_over_all_connections_of_a_subject(tokens: TokenFile) -> None:
    token = tokens.add("a", **ALL, limits={"subscriptions": 2})
    again = tokens.add("a", **ALL, limits={"subscriptions": 2})
    async with overlay(1, [], tokens=tokens.path) as (server,):
        one = await Raw.open(server, hello(token) + frame(Subscribe(1, 1, "x > 1")))
        await until_done(one, 1)
        data = [Subscribe(1, 1, "x > 1"), Subscribe(2, 2, "x > 2"), Unsubscribe(3, 1), Subscribe(4, 3, "x > 3")]
        two = await Raw.open(server, hello(again) + b"".join(map(frame, data)))
        _, refused = await until_done(two, 4)
        assert (refused.number, refused.code) == (2, "too-many")
        one.writer.close()
        await until(lambda: len(server.subscriptions) == 1)
        two.writer.write(frame(Subscribe(5, 5, "x > 5")))
        assert await until_done(two, 5) == []
        two.writer.close()


@awaited
async def test_durable_subscriptions_count_although_nobody_takes_their_events(
    tokens: TokenFile, tmp_path: Path
) -> None:
    token = tokens.add("a", **ALL, limits={"subscriptions": 2})
    other = tokens.add("b", **ALL, limits={"subscriptions": 2})
    async with overlay(1, [], tokens=tokens.path, store=tmp_path / "store") as (server,):
        for name in ("one", "two"):
            async with connect(server.url, token=token) as client:
                await client.subscribe("x > 1", durable=name)
        async with connect(server.url, token=token) as client:
            await client.subscribe("x > 1", durable="one")
            with pytest.raises(BrokerError) as caught:
                await client.subscribe("x > 1", durable="three")
            assert caught.value.code == "too-many"
        # The names of another subject are others.
        async with connect(server.url, token=other) as client:
            await client.subscribe("x > 1", durable="one")
        assert server.durable is not None
        server.durable.check_invariants()
        assert len(server.durable) == 3


@awaited
async def test_connections_are_counted_by_subject(tokens: TokenFile) -> None:
    token = tokens.add("a", **ALL, limits={"connections": 2})
    other = tokens.add("b", **ALL, limits={"connections": 2})
    async with overlay(1, [], tokens=tokens.path) as (server,):
        one = await Raw.open(server, hello(token))
        two = await Raw.open(server, hello(token))
        await one.some(1)
        await two.some(1)
        goodbye = await last(server, hello(token))
        assert (type(goodbye), goodbye.code) == (Goodbye, "too-many")
        three = await Raw.open(server, hello(other))
        await three.some(1)
        one.writer.close()
        await until(lambda: len(server.sessions) == 2)
        four = await Raw.open(server, hello(token))
        assert isinstance((await four.some(1))[0], Welcome)
        for raw in (two, three, four):
            raw.writer.close()


@awaited
async def test_without_tokens_the_limits_hold_for_each_connection() -> None:
    limits = Limits(rate=0.001, subscriptions=1, condition=10, connections=1)
    async with overlay(1, [], limits=limits) as (server,):
        requests: list[Any] = [
            Publish(1, "a", {}),
            Publish(2, "b", {}),
            Subscribe(3, 0, "x > 1"),
            Subscribe(4, 1, "x > 1"),
            Subscribe(5, 2, "x > 123456"),
            Subscribe(6, 2, "x > 1234567"),
        ]
        for _ in range(2):
            raw = await Raw.open(server, hello(None) + b"".join(map(frame, requests)))
            _, *answers = await until_done(raw, 6)
            assert [(each.number, each.code) for each in answers] == [
                (2, "rate"),
                (4, "too-many"),
                (5, "too-many"),
                (6, "condition-too-large"),
            ]
            assert answers[0].after > 900


# --- links -----------------------------------------------------------------------------------------------


@awaited
async def test_a_broker_joins_by_a_token_with_a_right_to_link_and_by_no_other(
    tokens: TokenFile, caplog: pytest.LogCaptureFixture
) -> None:
    right = tokens.add("brokers", link=True)
    wrong = tokens.add("client", **ALL)
    publisher = tokens.add("publisher", publish="true")
    async with overlay(1, [], tokens=tokens.path) as (one,):
        for token, code in ((None, "asks for a token"), (wrong, "no right to join")):
            other = Server(ServerSettings(port=0, name="stranger", join=(one.url,), token=token))
            async with other:
                await until(lambda code=code: code in caplog.text)  # type: ignore[misc]
                assert len(one.links) == len(other.links) == 0
        async with Server(ServerSettings(port=0, name="friend", join=(one.url,), token=right)) as other:
            await until(lambda: len(one.links) == len(other.links) == 1)
            async with connect(other.url) as reader, connect(one.url, token=publisher) as writer:
                events = await reader.subscribe("x = 1")
                await until(lambda: one.runner.machine.stored() == 1)
                await writer.publish({"x": 1})
                assert (await anext(events))["x"] == 1
            tokens.remove(right)
            one.reload()
            await until(lambda: len(one.links) == len(other.links) == 0)
