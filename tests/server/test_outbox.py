from struct import unpack

import pytest

from tamis.server import outbox as module
from tamis.server.outbox import Outbox
from tamis.wire import Decoder, Delivered, DeliveryFrames, Dropped, Frames, Slow, ToClient


class Taken:
    """What was written, read again; and how often the outbox was full."""

    def __init__(self, limit: int = 3, slow: Slow = "disconnect") -> None:
        self.data: list[bytes] = []
        self.full = 0
        self.outbox = Outbox(self.data.append, limit, slow, self._note)

    def _note(self) -> None:
        self.full += 1

    def put(self, *ids: int, age: float | None = None) -> None:
        for id in ids:
            self.outbox.deliver((7).to_bytes(4, "big"), DeliveryFrames(id, {}, age), age)

    def messages(self) -> list[object]:
        return [Decoder(ToClient)(body) for body in Frames(1 << 20).feed(memoryview(b"".join(self.data)))]

    def ids(self) -> list[object]:
        return [each.id for each in self.messages() if isinstance(each, Delivered)]


def test_what_is_gathered_is_written_at_once() -> None:
    taken = Taken()
    taken.put(1, 2)
    taken.outbox.put(b"")
    assert taken.data == []
    taken.outbox.flush()
    assert len(taken.data) == 1
    assert taken.ids() == [1, 2]


@pytest.mark.parametrize(("slow", "left"), [("drop-oldest", [3, 4, 5]), ("drop-newest", [1, 2, 3])])
def test_who_does_not_read_loses_what_was_agreed_and_is_told(slow: Slow, left: list[int]) -> None:
    taken = Taken(3, slow)
    taken.outbox.paused = True
    taken.put(1, 2, 3, 4, 5)
    assert len(taken.outbox) == 3
    taken.outbox.resume()
    taken.outbox.flush()
    assert taken.ids() == left
    assert taken.messages()[0] == Dropped(2)
    assert (taken.full, taken.outbox.dropped, taken.outbox.size) == (0, 2, 0)


def test_by_default_who_does_not_read_is_left() -> None:
    taken = Taken(3)
    taken.outbox.paused = True
    taken.put(1, 2, 3)
    assert taken.full == 0
    taken.put(4)
    assert taken.full == 1
    assert len(taken.outbox) == 3


def test_bytes_are_bounded_as_well(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(module, "MAX_BYTES", 100)
    taken = Taken(1_000, "drop-oldest")
    taken.outbox.paused = True
    taken.put(*range(50))
    assert taken.outbox.size <= 100
    assert len(taken.outbox) > 1
    taken.outbox.deliver(bytes(4), DeliveryFrames("large", {"x": "y" * 60}, None), None)
    assert taken.outbox.size <= 100
    taken.outbox.resume()
    taken.outbox.flush()
    assert taken.ids()[-1] == "large"


def test_an_event_grows_older_while_it_waits(monkeypatch: pytest.MonkeyPatch) -> None:
    now = 100.0
    monkeypatch.setattr(module, "monotonic", lambda: now)
    taken = Taken()
    taken.outbox.paused = True
    taken.put(1, age=0.25)
    now = 107.0
    taken.outbox.resume()
    taken.outbox.flush()
    (delivered,) = taken.messages()
    assert isinstance(delivered, Delivered)
    assert delivered.age == 7.25
    assert unpack(">d", taken.data[0][-8:]) == (7.25,)
