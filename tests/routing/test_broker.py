"""What all brokers do alike."""

import pytest

from tamis import ExpressionError
from tamis.routing import make_strategy
from tamis.routing.messages import (
    Advertise,
    Arrived,
    ClientLeft,
    Deliver,
    NeighbourDown,
    NeighbourUp,
    Publish,
    Record,
    Send,
    Subscribe,
    Unsubscribe,
)
from tamis.routing.packets import Event, Filters, Plain, Subscription, Subscriptions

EVENT = Event(1, {"x": 5})


def test_a_broker_answers_with_actions_and_does_nothing_itself() -> None:
    broker = make_strategy("simple").broker("b")
    assert broker.handle(NeighbourUp("n"), 0.0) == []
    told = Subscriptions((), (Subscription("b", "alice", "x > 3"),))
    assert broker.handle(Subscribe("alice", "x>3"), 1.0) == [Send("n", told)]
    assert broker.handle(Subscribe("alice", "not (x <= 3)"), 2.0) == []
    assert broker.handle(Publish("bob", EVENT), 3.0) == [Record("matches"), Deliver("alice", EVENT)]
    assert broker.stored() == 1
    gone = Subscriptions((Subscription("b", "alice", "x > 3"),), ())
    assert broker.handle(Unsubscribe("alice", "x > 3"), 4.0) == [Send("n", gone)]
    assert broker.handle(Unsubscribe("alice", "x > 3"), 5.0) == []


def test_a_condition_that_is_none_changes_nothing() -> None:
    broker = make_strategy("identity").broker("b")
    with pytest.raises(ExpressionError):
        broker.handle(Subscribe("alice", "x >"), 0.0)
    broker.check_invariants()
    assert broker.stored() == 0


def test_an_advertisement_has_no_clause() -> None:
    broker = make_strategy("identity").broker("b")
    with pytest.raises(
        ExpressionError, match="a condition is wanted here; a 'notify' clause belongs to a subscription"
    ):
        broker.handle(Advertise("alice", "x > 3 notify x moves 2"), 0.0)
    assert not len(broker.adverts)


def test_a_client_that_leaves_takes_everything_with_it() -> None:
    broker = make_strategy("identity").broker("b")
    broker.handle(NeighbourUp("n"), 0.0)
    broker.handle(Subscribe("alice", "x > 3"), 0.0)
    broker.handle(Subscribe("alice", "y > 3"), 0.0)
    broker.handle(Advertise("alice", "true"), 0.0)
    actions = broker.handle(ClientLeft("alice"), 1.0)
    assert actions == [Send("n", Filters(("x > 3",), ())), Send("n", Filters(("y > 3",), ()))]
    assert not len(broker.adverts)
    assert broker.handle(ClientLeft("nobody"), 2.0) == []


def test_packets_over_a_link_that_is_gone_or_of_another_strategy_are_refused() -> None:
    broker = make_strategy("flood").broker("b")
    assert broker.handle(Arrived("n", Plain(EVENT)), 0.0) == [Record("refused")]
    broker.handle(NeighbourUp("n"), 0.0)
    broker.handle(NeighbourUp("m"), 0.0)
    assert broker.handle(NeighbourUp("m"), 0.0) == []
    assert broker.handle(Arrived("n", Plain(EVENT)), 0.0) == [Record("matches"), Send("m", Plain(EVENT))]
    assert broker.handle(Arrived("n", Filters((), ("x > 1",))), 0.0) == [Record("refused")]
    broker.handle(NeighbourDown("m"), 0.0)
    assert broker.handle(NeighbourDown("m"), 0.0) == []
    assert broker.handle(Arrived("n", Plain(EVENT)), 0.0) == [Record("matches")]


def test_an_event_that_comes_twice_is_delivered_once() -> None:
    broker = make_strategy("flood").broker("b")
    broker.handle(Subscribe("alice", "x = 5"), 0.0)
    broker.handle(NeighbourUp("n"), 0.0)
    assert Deliver("alice", EVENT) in broker.handle(Arrived("n", Plain(EVENT)), 0.0)
    assert Deliver("alice", EVENT) not in broker.handle(Arrived("n", Plain(EVENT)), 1.0)
