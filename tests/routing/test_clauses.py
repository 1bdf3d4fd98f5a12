"""Clients with clauses at one broker, against a list of everything that they hold."""

from typing import Any

from hypothesis import given, settings
from hypothesis import strategies as st

from support.clauses import CLAUSES, Subscribers
from tamis.routing import make_strategy
from tamis.routing.messages import (
    Action,
    ClientLeft,
    Deliver,
    NeighbourUp,
    Publish,
    Record,
    Send,
    Subscribe,
    Unsubscribe,
)
from tamis.routing.packets import Event, Filters

CLIENTS = ("alice", "bob", "carol")
#: More conditions than are read through one by one.
CONDITIONS = ("true", "x > 2", "x < 6", *(f"x <> {number}" for number in range(8)))
texts = st.builds("{}{}".format, st.sampled_from(CONDITIONS), st.sampled_from(CLAUSES))
events = st.builds(
    lambda x, s: {name: value for name, value in (("x", x), ("s", s)) if value is not None},
    st.integers(-2, 9) | st.none(),
    st.sampled_from(["a", "b", None]),
)
STEPS = st.lists(
    st.tuples(st.just("subscribe"), st.sampled_from(CLIENTS), texts)
    | st.tuples(st.just("unsubscribe"), st.sampled_from(CLIENTS), texts)
    | st.tuples(st.just("give up"), st.integers(0, 20), st.none())
    | st.tuples(st.just("leave"), st.sampled_from(CLIENTS), st.none())
    | st.tuples(st.just("publish"), st.none(), events)
    | st.tuples(st.just("publish"), st.none(), events),
    max_size=60,
)


@settings(max_examples=150)
@given(st.sampled_from(["flood", "identity", "reuse-partial"]), STEPS)
def test_clients_are_told_what_a_list_says(strategy: str, steps: list[tuple[str, Any, Any]]) -> None:
    broker, judge = make_strategy(strategy).broker("b"), Subscribers()
    for number, (kind, who, what) in enumerate(steps):
        if kind == "subscribe":
            broker.handle(Subscribe(who, what), 0.0)
            judge.subscribe(who, what)
        elif kind == "unsubscribe":
            broker.handle(Unsubscribe(who, what), 0.0)
            judge.unsubscribe(who, what)
        elif kind == "give up" and judge.held:
            pair = sorted(judge.held)[who % len(judge.held)]
            broker.handle(Unsubscribe(*pair), 0.0)
            judge.unsubscribe(*pair)
        elif kind == "leave":
            broker.handle(ClientLeft(who), 0.0)
            judge.leave(who)
        elif kind == "publish":
            actions = broker.handle(Publish("p", Event(number, what)), 0.0)
            told = [action.client for action in actions if isinstance(action, Deliver)]
            assert len(told) == len(set(told))
            assert set(told) == judge.told(what)
        broker.check_invariants()
        assert len(broker.clients) == len({(client, text.partition(" notify")[0]) for client, text in judge.held})


def sent(actions: list[Action]) -> list[Filters]:
    return [action.packet for action in actions if isinstance(action, Send) and isinstance(action.packet, Filters)]


def test_neighbours_hear_of_conditions_alone_and_of_each_once() -> None:
    broker = make_strategy("identity").broker("b")
    broker.handle(NeighbourUp("n"), 0.0)
    first = broker.handle(Subscribe("alice", "x>3 notify x moves 2"), 0.0)
    assert sent(first) == [Filters((), ("x > 3",))]
    assert not sent(broker.handle(Subscribe("alice", "not (x <= 3) notify x moves 5%"), 0.0))
    assert not sent(broker.handle(Subscribe("alice", "x > 3"), 0.0))
    assert broker.stored() == 1
    assert not sent(broker.handle(Unsubscribe("alice", "x > 3"), 0.0))
    assert not sent(broker.handle(Unsubscribe("alice", "x > 3 notify y moves 2"), 0.0))
    assert not sent(broker.handle(Unsubscribe("alice", "x > 3 notify x moves 2.0"), 0.0))
    assert sent(broker.handle(Unsubscribe("alice", "x > 3 NOTIFY x MOVES 5 %"), 0.0)) == [Filters(("x > 3",), ())]
    assert broker.stored() == 0


def test_an_event_that_comes_twice_counts_once_and_odd_values_are_counted() -> None:
    broker = make_strategy("flood").broker("b")
    broker.handle(Subscribe("alice", "true notify x moves 2"), 0.0)
    broker.handle(Subscribe("bob", "true"), 0.0)

    def told(id: int, **content: Any) -> list[Action]:
        actions = broker.handle(Publish("p", Event(id, content)), 0.0)
        return [each for each in actions if each != Record("matches")]

    first, second = Event(1, {"x": 1}), Event(2, {"x": 2})
    assert told(1, x=1) == [Deliver("alice", first), Deliver("bob", first)]
    assert told(2, x=2) == [Deliver("bob", second)]
    assert told(2, x=2) == []
    assert told(3, x="far") == [Record("unmeasured"), Deliver("bob", Event(3, {"x": "far"}))]
    assert told(4, x=3)[0] == Deliver("alice", Event(4, {"x": 3}))
