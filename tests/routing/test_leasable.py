"""What messages speak of, what is told again, and what is forgotten in silence, by strategies on trees."""

from typing import Any

import pytest

from tamis.routing import make_strategy
from tamis.routing.leasable import Leasable, LeasableTables, Row
from tamis.routing.messages import (
    Advertise,
    Arrived,
    ClientLeft,
    NeighbourDown,
    NeighbourUp,
    Send,
    Subscribe,
    Unadvertise,
    Unsubscribe,
)
from tamis.routing.packets import Adverts, AnyPacket, Filters, Subscription, Subscriptions
from tamis.routing.registry import leasable, strategies
from tamis.routing.spelling import spelt

CASES: list[tuple[str, dict[str, Any]]] = [
    ("simple", {}),
    ("identity", {}),
    ("covering", {}),
    ("advertisement", {"trees": False}),
    ("bloom", {}),
]


def broker(case: tuple[str, dict[str, Any]]) -> LeasableTables:
    """Return a broker with neighbours 1 and 2, from both of which anything is announced."""
    made = make_strategy(*case).broker(0)
    assert isinstance(made, LeasableTables)
    assert isinstance(made, Leasable)
    for neighbour in (1, 2):
        made.handle(NeighbourUp(neighbour), 0.0)
        if case[0] == "advertisement":
            made.handle(Arrived(neighbour, Adverts((), ("true",))), 0.0)
    return made


def telling(case: tuple[str, dict[str, Any]], condition: str) -> tuple[AnyPacket, str]:
    """Return a packet that tells a condition, and the item that this is."""
    if case[0] != "simple":
        return Filters((), (condition,)), condition
    subscription = Subscription(1, "alice", condition)
    return Subscriptions((), (subscription,)), spelt(subscription)


def test_which_strategies_can() -> None:
    assert leasable() == ["advertisement", "bloom", "covering", "ddbr", "identity", "simple"]
    assert not any(make_strategy(name).make.soft for name in set(strategies()) - set(leasable()))


def test_what_clients_speak_of() -> None:
    made = broker(("identity", {}))
    want, offer = Row("client", "a", "x > 3"), Row("advert", "a", "x > 3")
    assert made.spoken(Subscribe("a", "x>3")) == ([], [want])
    assert made.spoken(Subscribe("a", "x>3 notify x moves 5")) == ([], [want])
    assert made.spoken(Advertise("a", "x>3")) == ([], [offer])
    assert made.spoken(Unsubscribe("a", "x>3")) == ([want], [])
    assert made.spoken(Unadvertise("a", "x>3")) == ([offer], [])
    assert not made.holds(want)
    made.handle(Subscribe("a", "x > 3"), 0.0)
    made.handle(Advertise("a", "x > 3"), 0.0)
    assert made.holds(want)
    assert made.holds(offer)
    assert list(made.rows()) == [want, offer]
    assert made.spoken(ClientLeft("a")) == ([want, offer], [])


@pytest.mark.parametrize("case", CASES, ids=lambda case: case[0])
def test_what_neighbours_speak_of(case: tuple[str, dict[str, Any]]) -> None:
    made = broker(case)
    packet, item = telling(case, "x > 3")
    row = Row("broker", 1, item)
    assert made.spoken(Arrived(1, packet)) == ([], [row])
    assert made.spoken(Arrived(9, packet)) == ([], []), "there is no such neighbour"
    assert not made.holds(row)
    made.handle(Arrived(1, packet), 0.0)
    assert made.holds(row)
    assert row in list(made.rows())
    assert row in made.spoken(NeighbourDown(1))[0]


@pytest.mark.parametrize("case", CASES, ids=lambda case: case[0])
def test_what_is_known_is_told_again_to_all_others(case: tuple[str, dict[str, Any]]) -> None:
    made = broker(case)
    packet, item = telling(case, "x > 3")
    made.handle(Arrived(1, packet), 0.0)
    assert made.retell(Row("broker", 1, item)) == [Send(2, packet)]
    made.handle(Subscribe("alice", "y = 1"), 0.0)
    assert [each.neighbour for each in made.retell(Row("client", "alice", "y = 1"))] == [1, 2]  # type: ignore[union-attr]


@pytest.mark.parametrize("case", CASES, ids=lambda case: case[0])
def test_what_lapses_is_gone_and_nobody_is_told(case: tuple[str, dict[str, Any]]) -> None:
    made = broker(case)
    packet, item = telling(case, "x > 3")
    made.handle(Arrived(1, packet), 0.0)
    made.handle(Subscribe("alice", "x > 3 notify x moves 5"), 0.0)
    made.handle(Advertise("alice", "x > 3"), 0.0)
    for row in (Row("broker", 1, item), Row("client", "alice", "x > 3"), Row("advert", "alice", "x > 3")):
        assert made.holds(row)
        assert not [each for each in made.lapse(row) if isinstance(each, Send)]
        assert not made.holds(row)
        made.check_invariants()
        assert not made.lapse(row), "it is gone already"
    assert made.stored() == 0


def test_what_is_covered_is_not_told_again_until_its_coverer_lapses() -> None:
    made = broker(("covering", {}))
    made.handle(Arrived(1, Filters((), ("x > 3",))), 0.0)
    made.handle(Subscribe("alice", "x > 5"), 0.0)
    assert [each.neighbour for each in made.retell(Row("client", "alice", "x > 5"))] == [1]  # type: ignore[union-attr]
    made.lapse(Row("broker", 1, "x > 3"))
    assert [each.neighbour for each in made.retell(Row("client", "alice", "x > 5"))] == [1, 2]  # type: ignore[union-attr]


def test_advertisements_are_rows_of_their_own() -> None:
    made = broker(("advertisement", {"trees": False}))
    row = Row("broker", 1, "@advert true")
    assert made.holds(row)
    assert made.retell(row) == [Send(2, Adverts((), ("true",)))]
    assert not made.lapse(row)
    assert not made.holds(row)
    made.handle(Advertise("bob", "y = 1"), 0.0)
    told = [Send(neighbour, Adverts((), ("y = 1",))) for neighbour in (1, 2)]
    assert made.retell(Row("advert", "bob", "y = 1")) == told
    made.check_invariants()
