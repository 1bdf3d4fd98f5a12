"""What waits is bounded in number and in time."""

from tamis.routing.destinations.pending import PATIENCE, Pending
from tamis.routing.packets import Again


def packet(number: int) -> Again:
    return Again("c", number, (1,), 9, 0)


def test_the_oldest_is_dropped_when_too_many_wait() -> None:
    pending = Pending(limit=2)
    assert pending.add(packet(1), 0.0) is None
    assert pending.add(packet(2), 1.0) is None
    assert pending.add(packet(3), 2.0) == packet(1)
    assert len(pending) == 2


def test_patience_ends() -> None:
    pending = Pending()
    pending.add(packet(1), 0.0)
    pending.add(packet(2), 5.0)
    assert pending.until() == PATIENCE
    assert pending.expired(PATIENCE - 1) == []
    assert pending.expired(PATIENCE) == [packet(1)]
    assert pending.until() == PATIENCE + 5


def test_what_is_tried_in_vain_does_not_wait_longer() -> None:
    pending = Pending()
    pending.add(packet(1), 3.0)
    for until, each in pending.take():
        pending.keep(until, each)
    assert pending.until() == PATIENCE + 3
    assert pending.take() == [(PATIENCE + 3, packet(1))]
    assert pending.until() is None
