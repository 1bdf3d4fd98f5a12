"""Clients repeat what they said and did not take back, each in its own rhythm."""

from tamis.routing import make_strategy
from tamis.routing.messages import Advertise, Message, Subscribe, Unadvertise, Unsubscribe
from tamis.routing.packets import Name
from tamis.simulation.observer import Observer
from tamis.simulation.refreshing import Refreshing
from tamis.simulation.world import World


class Heard(Observer):
    def __init__(self) -> None:
        self.told_at: list[tuple[float, Name, Message]] = []

    def told(self, now: float, broker: Name, message: Message, hops: int) -> None:  # noqa: ARG002
        self.told_at.append((round(now, 6), broker, message))


def world() -> tuple[World, Heard, Refreshing]:
    made = World(make_strategy("identity").broker)
    heard = Heard()
    made.watch(heard)
    made.start(0)
    made.start(1)
    return made, heard, Refreshing(made, 0.5)


def test_everything_is_repeated_until_it_is_taken_back() -> None:
    made, heard, refreshing = world()
    want, other, offer = Subscribe("a", "x > 3"), Subscribe("a", "x>3 notify x moves 5"), Advertise("a", "x > 3")
    for message in (want, other, offer):
        refreshing.note(0, message)
    made.run(until=0.6)
    assert heard.told_at == [(0.5, 0, want), (0.5, 0, other), (0.5, 0, offer)]
    refreshing.note(0, Unsubscribe("a", "x   >   3"))
    refreshing.note(0, Unadvertise("a", "x > 3"))
    made.run(until=1.1)
    assert heard.told_at[3:] == [(1.0, 0, other)]


def test_each_client_has_its_own_rhythm_and_home() -> None:
    made, heard, refreshing = world()
    refreshing.note(0, Subscribe("a", "x > 3"))
    made.run(until=0.2)
    refreshing.note(1, Subscribe("b", "x > 3"))
    made.run(until=1.3)
    assert [each[:2] for each in heard.told_at] == [(0.5, 0), (0.7, 1), (1.0, 0), (1.2, 1)]


def test_who_left_says_nothing_and_may_come_back() -> None:
    made, heard, refreshing = world()
    refreshing.note(0, Subscribe("a", "x > 3"))
    made.run(until=0.3)
    refreshing.leave("a")
    refreshing.note(1, Subscribe("a", "x > 5"))
    made.run(until=1.0)
    assert heard.told_at == [(0.8, 1, Subscribe("a", "x > 5"))]


def test_while_a_broker_is_down_its_clients_wait() -> None:
    made, heard, refreshing = world()
    refreshing.note(0, Subscribe("a", "x > 3"))
    made.stop(0)
    made.run(until=0.9)
    made.start(0)
    made.run(until=1.1)
    assert [each[0] for each in heard.told_at] == [1.0]


def test_repeating_is_quiet() -> None:
    made, heard, refreshing = world()
    refreshing.note(0, Subscribe("a", "x > 3"))
    made.run()
    assert not heard.told_at
