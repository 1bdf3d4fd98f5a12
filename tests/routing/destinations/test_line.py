"""A link's end notices that packets got lost, however many heartbeats got lost with them."""

from hypothesis import given
from hypothesis import strategies as st

from tamis.routing.destinations.line import Line


@given(st.lists(st.tuples(st.lists(st.booleans(), max_size=5), st.booleans()), max_size=20))
def test_a_heartbeat_tells_of_what_was_lost_since_the_last_one(history: list[tuple[list[bool], bool]]) -> None:
    near, far = Line(1.0), Line(2.0)
    missed = False
    for packets, beat_arrives in history:
        for arrives in packets:
            near.sent += 1
            if arrives:
                far.came()
            missed |= not arrives
        heartbeat = near.heartbeat(0)
        if beat_arrives:
            assert far.lost(heartbeat) == missed
            missed = False


def test_another_life_of_the_other_end_is_a_loss() -> None:
    far = Line(2.0)
    assert not far.lost(Line(1.0).heartbeat(0))
    assert far.lost(Line(1.5).heartbeat(0))


def test_one_who_was_not_there_from_the_beginning_is_told() -> None:
    near = Line(1.0)
    near.sent = 3
    assert Line(5.0).lost(near.heartbeat(0))
