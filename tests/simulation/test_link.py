from random import Random
from typing import Any

import msgspec
import pytest
from hypothesis import given
from hypothesis import strategies as st

from tamis.routing.packets import Event, Plain
from tamis.simulation import Link
from tamis.simulation.link import Travel

PACKET = Plain(Event(1, {"x": 1}))
SIZE = len(msgspec.msgpack.encode(PACKET))


@pytest.mark.parametrize(
    ("wrong", "said"),
    [
        ({"latency": -1.0}, "not negative"),
        ({"jitter": -1.0}, "not negative"),
        ({"bandwidth": 0.0}, "positive"),
        ({"loss": 1.5}, "between 0 and 1"),
    ],
)
def test_a_link_that_cannot_be_is_refused(wrong: dict[str, Any], said: str) -> None:
    with pytest.raises(ValueError, match=said):
        Link(**wrong)


def test_latency_alone() -> None:
    travel = Travel(Link(latency=0.25), Random(1))
    assert [travel.arrival(PACKET, now) for now in (0.0, 0.1, 5.0)] == [0.25, 0.35, 5.25]


def test_bandwidth_makes_packets_wait_for_each_other() -> None:
    travel = Travel(Link(latency=1.0, bandwidth=SIZE / 2.0), Random(1))
    assert [travel.arrival(PACKET, now) for now in (0.0, 0.0, 10.0)] == [3.0, 5.0, 13.0]


def test_what_gets_lost_takes_its_time_on_the_link() -> None:
    travel = Travel(Link(latency=1.0, bandwidth=SIZE / 2.0, loss=1.0), Random(1))
    assert travel.arrival(PACKET, 0.0) is None
    travel.become(Link(latency=1.0, bandwidth=SIZE / 2.0))
    assert travel.arrival(PACKET, 0.0) == 5.0


def test_so_many_packets_get_lost() -> None:
    travel = Travel(Link(loss=0.25), Random(1))
    lost = sum(travel.arrival(PACKET, float(now)) is None for now in range(4_000))
    assert 900 < lost < 1_100


LINKS = st.builds(Link, latency=st.floats(0, 1), jitter=st.floats(0, 1), ordered=st.just(True))


@given(links=st.lists(LINKS, min_size=1, max_size=8), waits=st.lists(st.floats(0, 0.5), min_size=8, max_size=8))
def test_packets_keep_their_order_on_an_ordered_link_even_when_it_becomes_shorter(
    links: list[Link], waits: list[float]
) -> None:
    travel = Travel(links[0], Random(1))
    now = last = 0.0
    for link, wait in zip(links, waits, strict=False):
        travel.become(link)
        now += wait
        arrival = travel.arrival(PACKET, now)
        assert arrival is not None
        assert arrival >= max(last, now + link.latency)
        last = arrival


def test_packets_overtake_each_other_on_a_link_without_order() -> None:
    travel = Travel(Link(jitter=1.0, ordered=False), Random(1))
    arrivals = [travel.arrival(PACKET, 0.0) or 0 for _ in range(20)]
    assert arrivals != sorted(arrivals)
    assert all(0.001 <= time <= 1.001 for time in arrivals)
