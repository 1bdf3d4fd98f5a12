import pytest

from tamis.healing.garbage import is_sound
from tamis.routing.packets import (
    Adverts,
    AnyPacket,
    Event,
    Filters,
    Heartbeat,
    KeyedSubscription,
    KeyedSubscriptions,
    Plain,
    Ranges,
    Subscription,
    Subscriptions,
)

GOOD = Subscription(0, "alice", "x > 3")
BAD = Subscription(0, "alice", "x >")


@pytest.mark.parametrize(
    ("packet", "sound"),
    [
        (Filters(("x > 3",), ("true",)), True),
        (Filters((), ("x >",)), False),
        (Filters(("(",), ()), False),
        (Filters((), ("x>3",)), False),
        (Adverts((), ("x > 3",)), True),
        (Adverts((), ("",)), False),
        (Subscriptions((GOOD,), (GOOD,)), True),
        (Subscriptions((BAD,), ()), False),
        (KeyedSubscriptions((GOOD,), (KeyedSubscription(GOOD, 7),)), True),
        (KeyedSubscriptions((), (KeyedSubscription(BAD, 7),)), False),
        (Ranges(((0, 3), (5, 5)), ((9, 9),)), True),
        (Ranges((), ((3, 2),)), False),
        (Ranges((), ((-1, 2),)), False),
        (Ranges((), ((0, 1 << 63),)), False),
        (Ranges(((5, 5), (0, 3)), ()), False),
        (Ranges(((0, 3), (3, 5)), ()), False),
        (Plain(Event(1, {})), True),
        (Heartbeat(), True),
    ],
)
def test_only_what_can_be_understood_is_sound(packet: AnyPacket, sound: bool) -> None:
    assert is_sound(packet) == sound
