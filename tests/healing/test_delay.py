import math
from collections.abc import Callable
from itertools import count, repeat
from random import Random
from typing import Any

import msgspec
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from support.link_histories import history
from tamis.healing.delay import Helper, LinkEnd
from tamis.healing.rate import Mode, Rate
from tamis.routing.packets import Echo, Stamp


def ends(rho: float = 0.0, mode: Mode = "strict") -> tuple[LinkEnd, LinkEnd]:
    one, other = (LinkEnd(Rate(rho, mode), zip(repeat(boot), count(), strict=False)) for boot in (1, 2))
    return one, other


def test_bounds_hold_in_ten_thousand_random_histories() -> None:
    received = finite = useful = 0
    for seed in range(10_000):
        for packet in history(seed):
            assert packet.is_sound(), f"history {seed}: {packet.lower} <= {packet.delay} ps <= {packet.upper}"
            received += 1
            finite += packet.upper < math.inf
            useful += packet.lower > 0
    assert received > 150_000
    assert finite > received / 2
    assert useful > received / 20


def test_the_thesis_loses_a_share_of_drift_squared() -> None:
    """A slow end asks a fast one, and the helper's delay is known exactly (specs/004 §6, drift rigor)."""
    rho, way, held = 1e-3, 5.0, 100.0

    def bound(mode: Mode) -> float:
        slow, fast = ends(rho, mode)
        stamp = slow.send(0.0)
        fast.receive(stamp, (1 + rho) * way, least=way)
        answer = fast.send((1 + rho) * (way + held))
        return slow.receive(answer, (1 - rho) * (way + held + way))[1]

    assert bound("paper") == pytest.approx(way - rho**2 * 2 * way, abs=1e-8)
    assert bound("paper") < way
    assert way <= bound("strict") <= way + 1e-3 * 2 * (2 * way + held)


def test_random_histories_break_the_bounds_of_the_thesis() -> None:
    assert not all(packet.is_sound() for seed in range(300) for packet in history(seed, mode="paper"))


@pytest.mark.parametrize("delay", [0.001, 0.1, 10.0, 1000.0])
def test_the_error_does_not_grow_with_the_delay(delay: float) -> None:
    rho, way = 1e-4, 0.02
    one, other = ends(rho)
    for number in range(20):
        start = 10.0 * number
        stamp = one.send(start)
        other.receive(stamp, start + way)
        one.receive(other.send(start + way), start + 2 * way)
    stamp = one.send(200.0)
    _, upper = other.receive(stamp, 200.0 + delay)
    error = upper - delay
    # What is not known of the helper, and drift since the helper was sent.
    assert 0 <= error <= way + 2.01 * rho * (10 + delay) + 1e-6


def test_the_helper_with_the_smaller_upper_bound_is_kept() -> None:
    random = Random(3)
    kept = 0
    for _ in range(500):
        rho, other_rho = random.choice((0.0, 1e-4, 0.1)), random.choice((0.0, 1e-4, 0.1))
        end, _ = ends(rho)
        old = Helper(random.uniform(-5, 5), random.uniform(0, 5), random.uniform(0, 1))
        new = Helper(random.uniform(-5, 5), old.received + random.uniform(0, 5), random.uniform(0, 1))
        end.helper = old
        end._choose(new, other_rho)
        # The same packet, whatever its stamps: sent at 20 by this end's clock, received at 30 by the other's.
        sent, received = 20.0, 30.0
        bounds = {
            each: (received - each.sent) / (1 - other_rho) - (sent - each.received) / (1 + rho) - each.least
            for each in (old, new)
        }
        assert bounds[end.helper] == pytest.approx(min(bounds.values()))
        kept += end.helper == old
    assert 100 < kept < 400


def test_an_early_packet_that_was_fast_stays_the_helper() -> None:
    one, other = ends()
    other.receive(one.send(0.0), 0.001)
    for number in range(1, 5):
        other.receive(one.send(number), number + 0.5)
    assert one.receive(other.send(10.0), 10.3)[1] == pytest.approx(0.301)


def test_a_lower_bound_makes_a_better_helper() -> None:
    one, other = ends()
    other.receive(one.send(0.0), 0.001)
    # Of the answer at most 0.011 s is known; so the next packet the other way, which takes 2 s, took at least 1.99 s.
    assert one.receive(other.send(1.0), 1.010)[1] == pytest.approx(0.011)
    lower, upper = other.receive(one.send(2.0), 4.0)
    assert lower == pytest.approx(1.999)
    assert upper == pytest.approx(2.01)


def test_nothing_is_known_before_there_is_a_helper() -> None:
    one, other = ends()
    assert other.receive(one.send(0.0), 0.1) == (0.0, math.inf)
    assert other.receive(one.send(1.0), 1.1, least=0.05) == (0.05, math.inf)
    assert one.receive(other.send(2.0), 2.1)[1] < math.inf


def test_an_end_that_started_anew_is_not_bounded_by_stamps_of_its_former_clock() -> None:
    one, other = ends()
    other.receive(one.send(1000.0), 1000.1)
    anew = LinkEnd(Rate(0.0), zip(repeat(7), count(), strict=False))
    # Its clock is behind by 0.25 s, and the neighbour does not know yet. With a former stamp, the bound would be 0.15 s
    # for a packet that took 0.3 s.
    assert anew.receive(other.send(1000.2), 1000.5 - 0.25) == (0.0, math.inf)
    other.receive(anew.send(1000.6 - 0.25), 1000.7)
    assert anew.receive(other.send(1000.8), 1000.9 - 0.25)[1] == pytest.approx(0.2)


def test_the_other_end_forgets_a_former_life() -> None:
    one, other = ends()
    other.receive(one.send(0.0), 0.1)
    helper = other.helper
    anew = LinkEnd(Rate(0.0), zip(repeat(7), count(), strict=False))
    other.receive(anew.send(50.0), 0.9)
    assert helper is not None
    assert other.helper == Helper(50.0, 0.9, 0.0)


def talk(one: LinkEnd, other: LinkEnd, start: float, jump: float = 0.0) -> list[float]:
    """Let packets go to and fro; the other end's clock is ahead by `jump`. Return all upper bounds."""
    found = []
    for number in range(4):
        time = start + number
        found.append(other.receive(one.send(time), time + 0.01 + jump)[1])
        found.append(one.receive(other.send(time + 0.5 + jump), time + 0.51)[1])
    return found


@pytest.mark.parametrize("jump", [5.0, -5.0, 1e6])
def test_a_clock_that_jumps_far_is_noticed_and_forgotten(jump: float) -> None:
    one, other = ends()
    talk(one, other, 0.0)
    lives = one.life, other.life
    bounds = talk(one, other, 10.0, jump)
    assert (one.life, other.life) != lives
    # No bound is too small, and soon all is well.
    assert all(bound >= 0.01 for bound in bounds)
    assert talk(one, other, 20.0, jump) == pytest.approx([0.02] * 8, abs=0.011)


NUMBERS = st.one_of(
    st.floats(),
    st.sampled_from(
        [math.nan, math.inf, -math.inf, -1.0, 1e308, -1e308, 10**400, -(10**400), 0.0, 10.0, None, "x", [1]]
    ),
)
LIVES: st.SearchStrategy[Any] = st.sampled_from([(1, 0), (2, 0), (7, 7), None, "x"])
ECHOES: st.SearchStrategy[Any] = st.builds(Echo, LIVES, NUMBERS, NUMBERS, NUMBERS, NUMBERS, NUMBERS, NUMBERS)
STAMPS: st.SearchStrategy[Any] = st.builds(Stamp, LIVES, NUMBERS, NUMBERS, ECHOES | st.sampled_from([None, 3]))


@settings(max_examples=50)
@given(st.lists(STAMPS | st.none(), max_size=6))
def test_nonsense_is_never_an_error_and_does_not_spoil_the_bounds_of_honest_packets(stamps: list[Any]) -> None:
    one, other = ends(1e-4)
    other.receive(one.send(10.0), 10.1)
    for number, stamp in enumerate(stamps):
        lower, upper = one.receive(stamp, 10.2 + number / 100)
        assert 0 <= lower <= upper
        one.check_invariants()
        honest = other.send(10.3 + number / 100)
        lower, upper = one.receive(honest, 10.31 + number / 100)
        assert lower <= 0.01 + 1e-6
        assert upper >= 0.01 - 1e-6


def changed(**fields: Any) -> Callable[[Stamp], Stamp]:
    def change(stamp: Stamp) -> Stamp:
        assert stamp.echo is not None
        return msgspec.structs.replace(stamp, echo=msgspec.structs.replace(stamp.echo, **fields))

    return change


@pytest.mark.parametrize(
    "change",
    [
        changed(helper_sent=99.0),
        changed(last_sent=99.0),
        changed(held=-1.0),
        changed(least=math.nan),
        changed(held=math.inf),
        changed(most=-1.0),
        changed(turned=10**400),
        changed(life=(1, 9)),
        changed(held=50.0),
        lambda stamp: msgspec.structs.replace(stamp, drift=0.9),
        lambda stamp: msgspec.structs.replace(stamp, sent=math.nan),
    ],
)
def test_an_echo_that_cannot_be_true_gives_no_bound(change: Callable[[Stamp], Stamp]) -> None:
    one, other = ends()
    talk(one, other, 0.0)
    stamp = other.send(5.0)
    assert one.receive(change(stamp), 5.01)[1] == math.inf


def test_stamps_travel() -> None:
    one, other = ends(1e-4)
    talk(one, other, 0.0)
    for encode, decode in (
        (msgspec.json.encode, msgspec.json.decode),
        (msgspec.msgpack.encode, msgspec.msgpack.decode),
    ):
        stamp = other.send(5.0)
        assert decode(encode(stamp), type=Stamp) == stamp
