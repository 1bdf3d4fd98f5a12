from collections import Counter

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tamis.server.traffic import Traffic
from tamis.server.web.mailbox import Mailbox
from tamis.wire import DeliveryFrames, Slow


def put(mailbox: Mailbox, *ids: int) -> None:
    for id in ids:
        mailbox.put("", DeliveryFrames(id, {}, None), None)


def ids(mailbox: Mailbox) -> list[object]:
    found: list[object] = []
    while portion := mailbox.take():
        found += [each.event.fields()[0] for each in portion]
    return found


@pytest.mark.parametrize(("slow", "left"), [("drop-oldest", [3, 4, 5]), ("drop-newest", [1, 2, 3])])
def test_where_nobody_takes_events_those_go_that_were_agreed_on(slow: Slow, left: list[int]) -> None:
    traffic = Traffic()
    mailbox = Mailbox(3, slow, traffic, "sse")
    put(mailbox, 1, 2, 3, 4, 5)
    assert (len(mailbox), mailbox.dropped) == (3, 2)
    assert ids(mailbox) == left
    mailbox.close()
    assert +traffic.dropped == Counter({("sse", slow): 2})


def test_by_default_it_ends_and_says_why() -> None:
    traffic = Traffic()
    mailbox = Mailbox(3, "disconnect", traffic, "sse")
    put(mailbox, 1, 2, 3, 4, 5)
    assert mailbox.ending is not None
    assert mailbox.ending.code == "slow"
    assert ids(mailbox) == []
    assert traffic.dropped["sse", "slow"] == 5


def test_bytes_are_bounded_as_well() -> None:
    mailbox = Mailbox(1_000, "drop-oldest", Traffic(), "sse", max_bytes=100)
    put(mailbox, *range(50))
    mailbox.check_invariants()
    assert 1 < len(mailbox) < 50
    mailbox.put("", DeliveryFrames("large", {"x": "y" * 200}, None), None)
    mailbox.check_invariants()
    assert "large" not in ids(mailbox)


def test_events_are_handed_out_in_portions_and_at_least_one() -> None:
    mailbox = Mailbox(100, "drop-oldest", Traffic(), "http")
    for id in range(3):
        mailbox.put("", DeliveryFrames(id, {"x": "y" * 100_000}, None), None)
    assert [each.number for each in mailbox.after(0)] == [1]
    assert [each.number for each in mailbox.after(1, most=1)] == [2]
    put(mailbox, 3, 4)
    assert [each.number for each in mailbox.after(3)] == [4, 5]


@given(
    limit=st.integers(1, 5),
    slow=st.sampled_from(["drop-oldest", "drop-newest"]),
    steps=st.lists(st.one_of(st.just("put"), st.tuples(st.just("look"), st.integers(0, 3)), st.just("forget"))),
)
def test_what_was_looked_at_makes_room_first_and_nothing_else_is_lost(
    limit: int, slow: Slow, steps: list[object]
) -> None:
    mailbox = Mailbox(limit, slow, Traffic(), "http")
    came = dropped = cursor = 0
    unseen: list[int] = []
    got: list[int] = []
    for step in steps:
        if step == "put":
            came += 1
            # The model knows only what nobody has seen: that is bounded, and goes as agreed.
            if len(unseen) == limit:
                dropped += 1
                if slow == "drop-oldest":
                    unseen = [*unseen[1:], came]
            else:
                unseen.append(came)
            mailbox.put("", DeliveryFrames(came, {}, None), None)
        elif step == "forget":
            mailbox.forget(cursor)
        else:
            assert isinstance(step, tuple)
            found = mailbox.after(cursor, step[1] or None)
            numbers = [each.event.fields()[0] for each in found]
            assert numbers == unseen[: len(numbers)]
            assert bool(numbers) is bool(unseen)
            got += numbers  # type: ignore[arg-type]
            unseen = unseen[len(numbers) :]
            cursor = found[-1].number if found else cursor
        mailbox.check_invariants()
        assert (len(mailbox), mailbox.dropped) == (len(unseen), dropped)
    assert got == sorted(set(got))
