import datetime as dt
import random
from decimal import Decimal
from typing import Any

import msgspec
import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from tamis import parse
from tamis.server.link import BrokerHello, FromBroker, Side
from tamis.wire import (
    MAX_DEPTH,
    MAX_FRAME,
    Accepted,
    Alive,
    ClientHello,
    Decoder,
    Delivered,
    DeliveryFrames,
    Dropped,
    Frames,
    FromClient,
    Goodbye,
    ProtocolError,
    Publish,
    Refused,
    Subscribe,
    ToClient,
    Unsubscribe,
    Welcome,
    check_content,
    frame,
    parse_address,
    portable,
)

CONTENT = {"s": "ä", "n": 2**53 + 1, "x": 1.5, "b": True, "none": None, "tags": ["a", 1], "in": {"a": {"b": 2}}}
FROM_CLIENT = [
    Alive(),
    Goodbye("slow", "why"),
    Publish(1, "id", CONTENT),
    Subscribe(2, 0, "price > 10"),
    Unsubscribe(3, 2**32 - 1),
]
TO_CLIENT = [
    Welcome(1, "b", 2**60, 0.5),
    Accepted(7),
    Refused(7, "bad-condition", "why", 3),
    Delivered(1, "id", CONTENT, None),
    Delivered(1, 17, CONTENT, 0.25),
    Dropped(3),
]


def test_every_message_comes_as_it_was_sent() -> None:
    for message in FROM_CLIENT:
        assert Decoder(FromClient)(frame(message)[4:]) == message
    for each in TO_CLIENT:
        assert Decoder(ToClient)(frame(each)[4:]) == each


def test_what_a_later_version_adds_at_the_end_is_passed_over() -> None:
    assert Decoder(ClientHello)(msgspec.msgpack.encode([2, 9, "c", 5, "drop-oldest", None, {"new": 1}])).version == 9


@given(st.text(max_size=20) | st.integers(-(2**63), 2**63 - 1), st.integers(0, 2**32 - 1), st.none() | st.floats(0, 9))
def test_frames_of_one_event_for_many_subscriptions_are_frames(
    id: str | int, subscription: int, age: float | None
) -> None:
    made = DeliveryFrames(id, CONTENT, age)
    data = made.first + subscription.to_bytes(4, "big") + made.last
    (body,) = Frames(MAX_FRAME).feed(memoryview(data))
    assert Decoder(ToClient)(body) == Delivered(subscription, id, CONTENT, age)
    assert made.length == len(data)


@given(st.lists(st.binary(max_size=40), max_size=12), st.lists(st.integers(1, 60), min_size=1, max_size=40))
def test_frames_are_found_however_bytes_are_cut_up(bodies: list[bytes], cuts: list[int]) -> None:
    data = b"".join(len(body).to_bytes(4, "big") + body for body in bodies)
    frames = Frames(100)
    found = []
    at = 0
    while at < len(data):
        step = cuts[at % len(cuts)]
        found += [bytes(each) for each in frames.feed(memoryview(data[at : at + step]))]
        at += step
    assert found == bodies
    assert frames.waiting == 0


def test_a_frame_that_is_too_long_is_refused_before_it_has_come() -> None:
    with pytest.raises(ProtocolError) as caught:
        list(Frames(100).feed(memoryview((101).to_bytes(4, "big"))))
    assert caught.value.code == "frame-too-large"


def test_values_mean_the_same_after_their_way() -> None:
    sent = {
        "day": dt.date(2026, 1, 31),
        "time": dt.datetime(2026, 1, 31, 12, 0),  # noqa: DTZ001 - a time without a zone is in UTC
        "zone": dt.datetime(2026, 1, 31, 13, 0, tzinfo=dt.timezone(dt.timedelta(hours=1))),
        "exact": Decimal("1.5"),
        "numpy": np.int32(7),
        "inner": {"day": dt.date(1969, 12, 31), "list": (dt.date(2, 1, 1),)},
    }
    decode = Decoder(FromClient)
    came = decode(frame(Publish(1, "id", portable(sent)))[4:]).content
    again = decode(frame(Publish(1, "id", came))[4:]).content
    for content in (came, again):
        assert content == portable(sent)
        for condition in (
            "day = date '2026-01-31'",
            "time = timestamp '2026-01-31 12:00:00'",
            "zone = timestamp '2026-01-31 12:00:00'",
            "exact = 1.5",
            "numpy = 7",
            "inner.day < date '1970-01-01'",
        ):
            assert parse(condition).matches(content), condition


def test_a_value_that_cannot_be_sent_is_named() -> None:
    with pytest.raises(TypeError, match="attribute 'x': a object cannot"):
        portable({"x": object()})
    with pytest.raises(TypeError, match="is a text"):
        portable({1: 2})  # type: ignore[dict-item]
    deep: Any = 1
    for _ in range(MAX_DEPTH + 2):
        deep = [deep]
    with pytest.raises(TypeError, match="deep"):
        portable({"x": deep})
    with pytest.raises(ProtocolError, match="deep"):
        check_content({"x": deep})
    check_content({"x": deep[0][0][0]})


def test_addresses() -> None:
    assert parse_address("tamis://localhost:7421") == ("localhost", 7421)
    assert parse_address("localhost") == ("localhost", 7420)
    assert parse_address("tamis://[::1]:80/") == ("::1", 80)
    assert parse_address("::1") == ("::1", 7420)
    for text in ("", "tamis://", "host:x", "host:0", "host:99999", "http://host/path"):
        with pytest.raises(ValueError, match="no address"):
            parse_address(text)


def test_nothing_but_protocol_errors_comes_of_random_and_mutated_frames() -> None:
    chance = random.Random(7)
    hello = BrokerHello(1, "b", 1, "{}", ("a",))
    seeds = [frame(each)[4:] for each in [*FROM_CLIENT, *TO_CLIENT, hello, Side(("a", "b")), ClientHello(1, "c")]]
    decoders = [Decoder(kinds) for kinds in (FromClient, ToClient, FromBroker, ClientHello | BrokerHello)]
    understood = refused = 0
    for number in range(100_000):
        if number % 3:
            body = bytearray(chance.choice(seeds))
            for _ in range(chance.randint(1, 3)):
                place = chance.randrange(len(body) + 1)
                if chance.random() < 0.5 and place < len(body):
                    body[place] = chance.randrange(256)
                else:
                    body[place:place] = chance.randbytes(chance.randint(1, 3))
            data = bytes(body)
        else:
            data = chance.randbytes(chance.randrange(40))
        try:
            decoders[number % 4](data)
            understood += 1
        except ProtocolError as error:
            assert error.code == "bad-frame"
            refused += 1
    assert understood > 100
    assert refused > 10_000
