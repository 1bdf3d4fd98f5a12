"""The judge of clauses beside a broker that is slow, starts anew and loses events, but tells what it should."""

from copy import deepcopy
from typing import Any

from hypothesis import given, settings
from hypothesis import strategies as st

from support.clauses import CLAUSES, Subscribers
from tamis.routing.conditions import asked
from tamis.routing.packets import Event
from tamis.simulation.reference import Reference

CLIENTS = ("alice", "bob")
TEXTS = tuple(condition + clause for condition in ("true", "x > 2") for clause in CLAUSES)
EVENTS = (*({"x": x, "s": s} for x in (-1, 1, 2, 3, 4, 5, 8) for s in ("a", "b")), {"s": "a"}, {"x": 3})
who, text, number = st.sampled_from(CLIENTS), st.sampled_from(TEXTS), st.integers(0, 20)
event = st.sampled_from(EVENTS)


class Home:
    """The broker of all clients: what it is told waits until it works, and what it answers waits once more."""

    def __init__(self) -> None:
        self.judge = Reference()
        self.clients = Subscribers()
        self.wanted: dict[tuple[str, str], None] = {}
        self.published: list[dict[str, Any]] = []
        self.flying: list[int] = []
        self.queue: list[tuple[str, Any]] = []
        self.out: list[tuple[str, int]] = []
        self.lost: set[int] = set()

    def subscribe(self, client: str, text: str) -> None:
        self.judge.subscribe(client, *asked(text))
        self.wanted[client, text] = None
        self.queue.append(("subscribe", (client, text)))

    def unsubscribe(self, place: int, _: object) -> None:
        if self.wanted:
            client, text = list(self.wanted)[place % len(self.wanted)]
            self._settle_plain(text)
            del self.wanted[client, text]
            assert self.judge.unsubscribe(client, *asked(text))
            self.queue.append(("unsubscribe", (client, text)))

    def leave(self, client: str, _: object) -> None:
        self._settle_plain(*(text for holder, text in self.wanted if holder == client))
        self.judge.leave(client)
        self.wanted = {pair: None for pair in self.wanted if pair[0] != client}
        self.queue.append(("leave", (client,)))

    def _settle_plain(self, *texts: str) -> None:
        """Whether a plain subscription was held between publication and delivery, the judge does not ask."""
        if any("notify" not in text for text in texts):
            self.settle(None, None)

    def publish(self, content: dict[str, Any], _: object) -> None:
        self.flying.append(len(self.published))
        self.judge.publish(0.0, 0, Event(len(self.published), content))
        self.published.append(content)

    def arrive(self, place: int, _: object) -> None:
        if self.flying:
            self.queue.append(("event", self.flying.pop(place % len(self.flying))))

    def lose(self, place: int, _: object) -> None:
        if self.flying:
            self.lost.add(self.flying.pop(place % len(self.flying)))

    def work(self, count: int, _: object) -> None:
        for _ in range(min(count, len(self.queue))):
            kind, what = self.queue.pop(0)
            if kind == "event":
                told = sorted(self.clients.told(self.published[what]))
                self.out += [(client, what) for client in told]
            else:
                getattr(self.clients, kind)(*what)

    def answer(self, count: int, _: object) -> None:
        for _ in range(min(count, len(self.out))):
            client, what = self.out.pop(0)
            assert self.judge.deliver(client, Event(what, self.published[what])) is not None

    def restart(self, _one: object, _two: object) -> None:
        self.lost |= {what for kind, what in self.queue if kind == "event"} | {what for _, what in self.out}
        self.clients, self.queue, self.out = Subscribers(), [], []
        for client in CLIENTS:
            self.judge.restart(client)
        self.queue = [("subscribe", pair) for pair in self.wanted]

    def settle(self, _one: object, _two: object) -> None:
        while self.flying:
            self.arrive(0, None)
        self.work(len(self.queue), None)
        self.answer(len(self.out), None)
        self.judge.settle()


STEP = st.one_of(
    *[st.tuples(st.just("subscribe"), who, text)] * 3,
    st.tuples(st.just("unsubscribe"), number, st.none()),
    *[st.tuples(st.just("publish"), event, st.none())] * 5,
    *[st.tuples(st.just("arrive"), number, st.none())] * 4,
    *[st.tuples(st.just("work"), st.integers(1, 4), st.none())] * 3,
    *[st.tuples(st.just("answer"), st.integers(1, 4), st.none())] * 3,
    st.tuples(st.just("settle"), st.none(), st.none()),
    st.tuples(st.just("lose"), number, st.none())
    | st.tuples(st.just("restart"), st.none(), st.none())
    | st.tuples(st.just("leave"), who, st.none()),
)


@settings(max_examples=150)
@given(st.lists(STEP, min_size=25, max_size=60))
def test_a_broker_that_is_right_is_never_blamed(steps: list[tuple[str, Any, Any]]) -> None:
    home = Home()
    for name, one, two in steps:
        getattr(home, name)(one, two)
        home.judge.check_invariants()
    home.settle(None, None)
    home.judge.check_invariants()
    assert (home.judge.false_positives, home.judge.duplicates) == (0, 0)
    assert {what for _, what in home.judge.missing()} <= home.lost


@settings(max_examples=150)
@given(
    st.lists(st.tuples(who, text), min_size=1, max_size=5),
    st.lists(st.tuples(event, st.sampled_from(["right", "right", "right", "lose", "too much"])), max_size=25),
)
def test_one_event_at_a_time_is_judged_exactly(
    held: list[tuple[str, str]], events: list[tuple[dict[str, Any], str]]
) -> None:
    home = Home()
    for client, what in held:
        home.subscribe(client, what)
    home.settle(None, None)
    missing: list[tuple[str, int]] = []
    blamed = delivered = 0
    for place, (content, fate) in enumerate(events):
        told = sorted(deepcopy(home.clients).told(content))
        home.publish(content, None)
        if fate == "lose":
            home.lose(0, None)
            missing += [(client, place) for client in told]
        else:
            home.settle(None, None)
            delivered += len(told)
        if fate == "too much":
            for client in set(CLIENTS) - set(told):
                assert home.judge.deliver(client, Event(place, content)) is None
                blamed += 1
        home.judge.settle()
        assert sorted(home.judge.missing()) == sorted(missing)
        assert home.judge.false_positives == blamed
        assert home.judge.expected == delivered + len(missing)


def test_what_was_on_its_way_when_a_subscription_was_made_is_uncertain() -> None:
    home = Home()
    home.subscribe("alice", "x > 2 notify x moves 2")
    home.publish({"x": 3}, None)
    home.arrive(0, None)
    home.subscribe("alice", "true notify x moves 2 per s")
    home.settle(None, None)
    home.publish({"x": 2}, None)
    home.settle(None, None)
    assert (home.judge.false_positives, home.judge.missing(), home.judge.expected) == (0, [], 2)


def test_a_broker_that_starts_anew_tells_anew() -> None:
    home = Home()
    home.subscribe("alice", "true notify x moves 2")
    for start_anew in (False, True, True):
        if start_anew:
            home.restart(None, None)
        home.publish({"x": 3}, None)
        home.settle(None, None)
    assert (home.judge.false_positives, home.judge.missing(), home.judge.expected) == (0, [], 3)


def test_keys_beyond_what_brokers_remember_may_be_told_again(monkeypatch: Any) -> None:
    monkeypatch.setattr("tamis.simulation.wish.KEYS_KEPT", 2)
    judge = Reference()
    judge.subscribe("alice", *asked("true notify x moves 2 per s"))
    for place, key in enumerate("abca"):
        judge.publish(0.0, 0, Event(place, {"x": 1, "s": key}))
        assert judge.deliver("alice", Event(place, {"x": 1, "s": key})) is not None
    assert judge.false_positives == 0
