import math
import time
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from tamis.healing import Ages, Healing, broker_of
from tamis.healing import ages as module
from tamis.healing.ages import TIMER, AgesLayer
from tamis.routing import make_strategy
from tamis.routing.messages import (
    Action,
    Arrived,
    Deliver,
    Fired,
    Message,
    NeighbourDown,
    NeighbourUp,
    Publish,
    Send,
    SetTimer,
    Subscribe,
)
from tamis.routing.packets import Event, Filters, Heartbeat, Name, Ping, Plain, Pong, Stamp, Stamped


class Inner:
    """Answers with what it is told to, and remembers what it heard."""

    name: Name = "b"

    def __init__(self) -> None:
        self.heard: list[Message] = []
        self.answers: list[Action] = []

    def handle(self, message: Message, now: float) -> list[Action]:  # noqa: ARG002
        self.heard.append(message)
        return self.answers

    def stored(self) -> int:
        return 0

    def check_invariants(self) -> None:
        pass


def layer(boot: int = 1, **settings: Any) -> tuple[AgesLayer, Inner]:
    inner = Inner()
    return AgesLayer(inner, Ages(**settings), boot), inner


def packets(actions: list[Action]) -> list[Any]:
    return [action.packet for action in actions if isinstance(action, Send)]


class Pair:
    """Two brokers and a link that takes what it takes."""

    def __init__(self, **settings: Any) -> None:
        (self.one, self.inner), (self.other, self.far) = layer(1, **settings), layer(2, **settings)
        first = self.one.handle(NeighbourUp("o"), 0.0)
        second = self.other.handle(NeighbourUp("b"), 0.0)
        self.inner.heard.clear()
        self.far.heard.clear()
        self.carry(self.other, "b", first, 0.01)
        self.carry(self.one, "o", second, 0.01)

    @staticmethod
    def carry(to: AgesLayer, by: Name, actions: list[Action], now: float) -> list[Action]:
        """Let what was sent arrive; return what is answered."""
        return [answer for packet in packets(actions) for answer in to.handle(Arrived(by, packet), now)]


EVENT = Event(1, {"x": 1})


def test_both_ends_ping_and_answer_when_a_link_comes() -> None:
    one, inner = layer()
    actions = one.handle(NeighbourUp("o"), 5.0)
    assert actions[0] == Send("o", Stamped(Stamp((1, 0), 1e-4, 5.0, None), 0.0, Ping()))
    assert SetTimer(TIMER, 10.0, background=True) in actions
    answers = one.handle(Arrived("o", Stamped(Stamp((9, 0), 1e-4, 70.0, None), 0.0, Ping())), 5.1)
    assert [type(packet.packet) for packet in packets(answers)] == [Pong]
    assert packets(answers)[0].stamp.echo.helper_sent == 70.0
    assert not one.handle(Arrived("o", Stamped(Stamp((9, 0), 1e-4, 71.0, None), 0.0, Pong())), 5.2)
    assert inner.heard == [NeighbourUp("o")]


def test_stamps_are_sent_as_long_as_there_are_links() -> None:
    one, inner = layer(ping=3.0)
    one.handle(NeighbourUp("o"), 0.0)
    one.handle(NeighbourUp("p"), 0.0)
    actions = one.handle(Fired(TIMER), 3.0)
    assert [type(packet.packet) for packet in packets(actions)] == [Pong, Pong]
    assert all(packet.background for packet in packets(actions))
    assert actions[-1] == SetTimer(TIMER, 3.0, background=True)
    one.handle(NeighbourDown("o"), 4.0)
    one.handle(NeighbourDown("p"), 4.0)
    assert one.handle(Fired(TIMER), 6.0) == []
    assert SetTimer(TIMER, 3.0, background=True) in one.handle(NeighbourUp("o"), 7.0)
    assert Fired(TIMER) not in inner.heard
    one.handle(Fired("mine"), 8.0)
    assert inner.heard[-1] == Fired("mine")


def test_an_age_grows_from_broker_to_broker() -> None:
    pair = Pair(drift=0.0)
    pair.inner.answers = [Send("o", Plain(EVENT)), Deliver("client", EVENT)]
    sent = pair.one.handle(Publish("p", EVENT, created=0.5), 1.0)
    (packet,) = packets(sent)
    assert packet.age == pytest.approx(0.5)
    assert next(action.age for action in sent if isinstance(action, Deliver)) == pytest.approx(0.5)
    pair.far.answers = [Deliver("client", EVENT)]
    (delivered,) = pair.carry(pair.other, "b", sent, 1.3)
    assert isinstance(delivered, Deliver)
    # 0.5 s before it was published, 0.3 s on its way, and 0.01 s that the ping took and nobody knows.
    assert delivered.age == pytest.approx(0.81)
    (heard,) = pair.far.heard
    assert isinstance(heard, Arrived)
    assert heard.packet == Plain(EVENT)
    assert heard.age == pytest.approx(delivered.age)


def test_an_event_that_goes_on_much_later_is_as_old_as_it_is() -> None:
    pair = Pair(drift=0.1)
    pair.one.handle(Publish("p", EVENT), 1.0)
    pair.inner.answers = [Send("o", Plain(EVENT)), Deliver("late", EVENT)]
    sent = pair.one.handle(Fired("mine"), 10.0)
    assert packets(sent)[0].age == pytest.approx(9 / 0.9)
    unknown = Event(2, {})
    pair.inner.answers = [Send("o", Plain(unknown)), Deliver("c", unknown)]
    sent = pair.one.handle(Fired("mine"), 11.0)
    assert packets(sent)[0].age is None
    assert sent[-1] == Deliver("c", unknown, math.inf)


def test_an_event_that_comes_twice_has_the_better_bound() -> None:
    pair = Pair(drift=0.0)
    pair.inner.answers = [Send("o", Plain(EVENT))]
    quick = pair.one.handle(Publish("p", EVENT), 1.0)
    pair.far.answers = [Deliver("c", EVENT)]
    slow = [Send("o", Plain(EVENT))]
    for actions in ([*slow], quick, [*slow]):
        (last,) = pair.carry(pair.other, "b", list(actions), 1.5)
    assert isinstance(last, Deliver)
    assert last.age == pytest.approx(0.51)


def test_what_a_packet_caused_is_as_old_as_the_packet() -> None:
    pair = Pair(drift=0.0)
    pair.inner.answers = [Send("o", Filters((), ("x > 1",)))]
    sent = pair.one.handle(Subscribe("c", "x > 1"), 1.0)
    assert packets(sent)[0].age == 0
    pair.far.answers = [Send("b", Filters((), ("x > 1",))), Send("b", Heartbeat())]
    for packet in packets(pair.carry(pair.other, "b", sent, 1.2)):
        assert packet.age == pytest.approx(0.21)


def test_without_a_stamp_nothing_is_known() -> None:
    pair = Pair()
    pair.inner.answers = [Deliver("c", EVENT), Send("nobody", Plain(EVENT))]
    assert pair.one.handle(Arrived("o", Plain(EVENT)), 1.0) == [
        Deliver("c", EVENT, math.inf),
        Send("nobody", Plain(EVENT)),
    ]
    assert pair.inner.heard == [Arrived("o", Plain(EVENT), math.inf)]
    pair.inner.answers = []
    stamp = Stamp((5, 5), 1e-4, 1.0, None)
    pair.one.handle(Arrived("stranger", Stamped(stamp, 0.0, Plain(Event(2, {})))), 2.0)
    assert pair.inner.heard[-1] == Arrived("stranger", Plain(Event(2, {})), math.inf)


def test_a_clock_that_goes_backwards_begins_a_new_life() -> None:
    pair = Pair(drift=0.0)
    pair.inner.answers = [Send("o", Plain(EVENT))]
    before = packets(pair.one.handle(Publish("p", EVENT), 5.0))[0]
    sent = packets(pair.one.handle(Fired("mine"), 4.0))
    assert isinstance(sent[0].packet, Ping)
    assert sent[1].age is None
    assert sent[0].stamp.life == sent[1].stamp.life != before.stamp.life
    # What the other end still says of the former clock is not believed.
    pair.far.answers = [Send("b", Heartbeat())]
    stale = pair.other.handle(Fired("mine"), 5.5)
    pair.inner.answers = []
    pair.carry(pair.one, "o", stale, 4.6)
    assert pair.inner.heard[-1] == Arrived("o", Heartbeat(), math.inf)
    # Once it has heard of it, all is well.
    pair.far.answers = []
    pair.other.handle(Arrived("b", sent[0]), 5.6)
    pair.far.answers = [Send("b", Heartbeat())]
    pair.carry(pair.one, "o", pair.other.handle(Fired("mine"), 5.7), 4.8)
    heard = pair.inner.heard[-1]
    assert isinstance(heard, Arrived)
    assert heard.age == pytest.approx(0.7)


def test_an_event_from_before_a_jump_has_no_age() -> None:
    one, inner = layer()
    inner.answers = [Deliver("c", EVENT)]
    assert one.handle(Publish("p", EVENT, created=9.0), 5.0) == [Deliver("c", EVENT, math.inf)]


def test_a_monotonic_clock_will_do() -> None:
    (one, inner), (other, far) = layer(1), layer(2)
    pings = one.handle(NeighbourUp("o"), time.monotonic()), other.handle(NeighbourUp("b"), time.monotonic())
    Pair.carry(other, "b", pings[0], time.monotonic())
    Pair.carry(one, "o", pings[1], time.monotonic())
    far.answers = [Deliver("c", EVENT)]
    inner.answers = [Send("o", Plain(EVENT))]
    start = time.monotonic()
    sent = one.handle(Publish("p", EVENT, created=start), time.monotonic())
    end = time.monotonic()
    (delivered,) = Pair.carry(other, "b", sent, end)
    assert isinstance(delivered, Deliver)
    assert delivered.age is not None
    assert end - start <= delivered.age < math.inf


def test_memory_is_bounded(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(module, "REMEMBERED", 3)
    one, inner = layer()
    for number in range(5):
        one.handle(Publish("p", Event(number, {})), 1.0)
        one.check_invariants()
    inner.answers = [Deliver("c", Event(number, {})) for number in range(5)]
    ages = [action.age for action in one.handle(Fired("mine"), 2.0) if isinstance(action, Deliver)]
    assert ages[:2] == [math.inf, math.inf]
    assert ages[2:] == pytest.approx([1.0001] * 3)


@settings(max_examples=50)
@given(st.lists(st.sampled_from([math.nan, -1.0, math.inf, 1e300, 10**400, None, "x", 0.0]), max_size=4))
def test_an_age_that_is_none_is_unknown(ages: list[Any]) -> None:
    pair = Pair()
    for age in ages:
        stamp = pair.other.handle(Fired(TIMER), 1.0)[0].packet.stamp  # type: ignore[union-attr]
        pair.one.handle(Arrived("o", Stamped(stamp, age, Heartbeat())), 1.01)
        heard = pair.inner.heard[-1]
        assert isinstance(heard, Arrived)
        assert (heard.age == math.inf) if age != 0 else (0 <= heard.age <= 0.1)  # type: ignore[operator]


@pytest.mark.parametrize(
    "settings",
    [{"drift": 0.6}, {"drift": -1.0}, {"max_age": -1.0}, {"ping": 0.0}, {"bandwidth": 0.0}, {"max_age": math.nan}],
)
def test_settings_that_make_no_sense_are_refused(settings: dict[str, float]) -> None:
    with pytest.raises(ValueError, match=r"not|none"):
        Ages(**settings)  # type: ignore[arg-type]


def test_an_overlay_without_ages_has_no_such_layer() -> None:
    strategy = make_strategy("flood", {})
    assert Healing().around(strategy.broker("b"), 1) is not None
    inside = strategy.broker("b")
    machine = Healing(ages=Ages()).around(inside, 1)
    assert isinstance(machine, AgesLayer)
    assert broker_of(machine) is inside
    assert Ages(max_age=1.0).timely(1.0) is True
    assert Ages(max_age=1.0).timely(math.inf) is False
    assert Ages().timely(1.0) is None
