"""The world alone: time, queues, timers, links and what happens to what is on them."""

from typing import Any

import pytest

from tamis.routing import Broker
from tamis.routing.broker import Options
from tamis.routing.messages import Connect, Disconnect, Message, Publish
from tamis.routing.packets import AnyPacket, Event, Name, Plain
from tamis.simulation import Clock, Link
from tamis.simulation.observer import Observer
from tamis.simulation.world import World


class Parrot(Broker):
    """Sends what its clients publish to all neighbours, and notes all it hears. Events may ask for more."""

    speaks = (Plain,)

    def __init__(self, name: Name) -> None:
        super().__init__(name, Options())
        self.heard: list[Any] = []

    def on_subscribe(self, client: Name, condition: str) -> None: ...

    def on_unsubscribe(self, client: Name, condition: str) -> None: ...

    def on_publish(self, client: Name, event: Event) -> None:  # noqa: ARG002
        for timer, after, background in event.content.get("timers", ()):
            self.set_timer(timer, after, background)
        self._actions.extend(Connect(neighbour) for neighbour in event.content.get("open", ()))
        self._actions.extend(Disconnect(neighbour) for neighbour in event.content.get("close", ()))
        for neighbour in self.neighbours:
            self.send(neighbour, Plain(event))

    def on_packet(self, neighbour: Name, packet: Plain) -> None:  # noqa: ARG002
        self.heard.append((self.now, packet.event.id))

    def on_timer(self, timer: str) -> None:
        self.heard.append((self.now, timer))

    def on_neighbour_up(self, neighbour: Name) -> None:
        self.heard.append(("up", neighbour))

    def on_neighbour_down(self, neighbour: Name) -> None:
        self.heard.append(("down", neighbour))


class Losses(Observer):
    def __init__(self) -> None:
        self.seen: list[tuple[float, Name, Name, Any]] = []

    def lost(self, now: float, broker: Name, neighbour: Name, packet: AnyPacket) -> None:
        assert isinstance(packet, Plain)
        self.seen.append((now, broker, neighbour, packet.event.id))


def say(id: int, **content: Any) -> Publish:
    return Publish("client", Event(id, content))


def heard(world: World, broker: Name) -> list[Any]:
    parrot = world.nodes[broker].broker
    assert isinstance(parrot, Parrot)
    return parrot.heard


@pytest.fixture
def world() -> World:
    world = World(Parrot)
    for name in "ab":
        world.start(name)
    world.link("a", "b", Link(latency=2.0))
    world.run()
    return world


@pytest.fixture
def losses(world: World) -> Losses:
    losses = Losses()
    world.watch(losses)
    return losses


def test_both_ends_learn_of_a_link_and_packets_take_their_time(world: World) -> None:
    world.tell("a", say(1))
    world.run()
    assert heard(world, "a") == [("up", "b")]
    assert heard(world, "b") == [("up", "a"), (2.0, 1)]
    assert world.now == 2.0


def test_what_happens_at_one_time_happens_in_the_order_of_calls(world: World) -> None:
    order: list[int] = []
    for number in (3, 1, 2):
        world.at(5.0, lambda number=number: order.append(number))  # type: ignore[misc]
    world.run()
    assert order == [3, 1, 2]


def test_run_until_stops_between(world: World) -> None:
    world.tell("a", say(1))
    world.run(until=1.5)
    assert (world.now, heard(world, "b")) == (1.5, [("up", "a")])
    world.run(until=10.0)
    assert (world.now, heard(world, "b")[1:]) == (10.0, [(2.0, 1)])


def test_the_past_cannot_be_changed(world: World) -> None:
    world.run(until=3.0)
    with pytest.raises(ValueError, match=r"it is 3\.0 already"):
        world.at(2.0, lambda: None)


@pytest.mark.parametrize("silent", [False, True])
def test_what_is_on_a_link_is_lost_with_it(world: World, losses: Losses, silent: bool) -> None:
    world.tell("a", say(1))
    world.run(until=1.0)
    if silent:
        world.darken("a", "b")
    else:
        world.cut("a", "b")
    world.run()
    world.tell("a", say(2))
    world.run()
    assert [lost[3] for lost in losses.seen] == ([1, 2] if silent else [1])
    downs = [("down", "a")] if not silent else []
    assert heard(world, "b")[1:] == downs


def test_a_dark_link_works_again_and_nobody_was_told(world: World, losses: Losses) -> None:
    world.darken("a", "b")
    world.tell("a", say(1))
    world.run()
    world.darken("a", "b", dark=False)
    world.tell("a", say(2))
    world.run()
    assert [lost[3] for lost in losses.seen] == [1]
    assert [what[1] for what in heard(world, "b")] == ["a", 2]


def test_a_new_link_does_not_bring_what_was_on_the_old_one(world: World, losses: Losses) -> None:
    world.tell("a", say(1))
    world.run(until=1.0)
    world.cut("a", "b")
    world.link("a", "b", Link(latency=0.5))
    world.tell("a", say(2))
    world.run()
    assert heard(world, "b") == [("up", "a"), ("down", "a"), ("up", "a"), (1.5, 2)]
    assert losses.seen == [(2.0, "a", "b", 1)]


def test_a_crash_is_told_to_the_neighbours(world: World) -> None:
    world.stop("b")
    world.run()
    assert heard(world, "a") == [("up", "b"), ("down", "b")]
    with pytest.raises(ValueError, match="no broker 'b'"):
        world.tell("b", say(1))


def test_a_silent_crash_is_told_to_nobody_until_the_broker_comes_back(world: World, losses: Losses) -> None:
    world.tell("b", say(1))
    world.run(until=1.0)
    world.stop("b", silent=True)
    world.tell("a", say(2))
    world.run()
    assert heard(world, "a") == [("up", "b"), (2.0, 1)]
    assert losses.seen == [(3.0, "a", "b", 2)]
    world.start("b")
    world.link("a", "b")
    world.run()
    assert heard(world, "a")[2:] == [("down", "b"), ("up", "b")]
    assert heard(world, "b") == [("up", "a")]


def test_whoever_had_a_link_to_a_broker_that_crashed_in_silence_can_crash_too(world: World) -> None:
    world.stop("b", silent=True)
    world.stop("a")
    world.run()
    assert not world.nodes


def test_a_broker_that_starts_anew_gets_nothing_that_was_meant_for_the_old_one(world: World) -> None:
    world.tell("b", say(1, timers=[("t", 5.0, False)]))
    world.run(until=1.0)
    world.tell("b", say(2, timers=[("t", 1.0, False)]))
    world.stop("b")
    world.start("b")
    world.run()
    assert heard(world, "b") == []


def test_a_broker_is_busy_and_others_wait() -> None:
    def service(message: Message, actions: list[Any]) -> float:
        return 3.0 if isinstance(message, Publish) and actions else 0.0

    world = World(Parrot, service=service)
    for name in "ab":
        world.start(name)
    world.link("a", "b", Link(latency=2.0))
    world.run()
    world.tell("a", say(1))
    world.tell("a", say(2))
    world.run()
    assert heard(world, "b")[1:] == [(5.0, 1), (8.0, 2)]


def test_a_broker_that_crashes_while_busy_does_nothing_any_more() -> None:
    world = World(Parrot, service=lambda _message, _actions: 1.0)
    for name in "ab":
        world.start(name)
    world.link("a", "b")
    world.run()
    world.tell("a", say(1))
    world.run(until=world.now + 0.5)
    world.stop("a")
    world.run()
    assert heard(world, "b") == [("up", "a"), ("down", "a")]


def test_timers_follow_the_local_clock_and_are_set_anew() -> None:
    world = World(Parrot)
    world.start("a", Clock(offset=100.0, drift=1.0))
    world.tell("a", say(1, timers=[("t", 8.0, False), ("u", 2.0, False)]))
    world.run()
    assert heard(world, "a") == [(102.0, "u"), (108.0, "t")]
    assert world.now == 4.0
    world.tell("a", say(2, timers=[("t", 8.0, False)]))
    world.run(until=5.0)
    world.tell("a", say(3, timers=[("t", 8.0, False)]))
    world.run()
    assert heard(world, "a")[2:] == [(100.0 + 2 * 9, "t")]


def test_an_overlay_with_background_timers_only_is_quiet(world: World) -> None:
    world.tell("a", say(1, timers=[("t", 50.0, True)]))
    world.run()
    assert world.now == 2.0
    world.run(until=60.0)
    assert heard(world, "a")[-1] == (50.0, "t")


def test_links_that_cannot_be_are_refused(world: World) -> None:
    with pytest.raises(ValueError, match="already"):
        world.link("b", "a")
    with pytest.raises(ValueError, match="to itself"):
        world.link("a", "a")
    with pytest.raises(ValueError, match="no broker 'c'"):
        world.link("a", "c")
    with pytest.raises(ValueError, match="there is a broker 'a' already"):
        world.start("a")
    world.cut("a", "b")
    with pytest.raises(ValueError, match="no link between 'a' and 'b'"):
        world.cut("a", "b")


def test_a_link_can_become_slower(world: World) -> None:
    world.change("a", "b", Link(latency=10.0))
    world.tell("a", say(1))
    world.run()
    assert heard(world, "b")[-1] == (10.0, 1)


def test_what_is_sent_to_a_broker_that_is_no_neighbour_is_lost(world: World, losses: Losses) -> None:
    # The broker has not yet handled that the link is gone.
    world.tell("a", say(1))
    world.cut("a", "b")
    world.run()
    assert losses.seen == [(0.0, "a", "b", 1)]


def test_brokers_open_and_close_links_by_themselves(world: World) -> None:
    world.start("c")
    world.tell("a", say(1, open=["c", "b", "nobody"], close=["b", "nobody"]))
    world.run()
    assert list(world.nodes["a"].links) == ["c"]
    assert heard(world, "a")[1:] == [("up", "c"), ("down", "b")]
    assert heard(world, "b")[1:] == [("down", "a")]
    world.tell("c", say(2, open=["a"]))
    world.run()
    assert heard(world, "c") == [("up", "a")]
