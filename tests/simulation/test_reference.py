"""The reference against a judge that keeps every moment of every client's wishes."""

from hypothesis import given
from hypothesis import strategies as st

from tamis.routing.packets import Event
from tamis.simulation.reference import Reference

CLIENTS = ("a", "b", "c")
CONDITIONS = {"x > 1": lambda x: x > 1, "x > 2": lambda x: x > 2, "x = 0": lambda x: x == 0}
STEP = st.tuples(st.sampled_from(CLIENTS), st.sampled_from(sorted(CONDITIONS)), st.integers(0, 3))
KIND = st.sampled_from(["subscribe", "subscribe", "unsubscribe", "leave", "publish", "publish", "deliver", "deliver"])


class Judge:
    """Knows what everybody wanted at every time, and looks it up."""

    def __init__(self) -> None:
        self.wishes: list[dict[str, set[str]]] = [{client: set() for client in CLIENTS}]
        self.published: list[tuple[int, int]] = []
        self.deliveries: list[tuple[int, str, int]] = []

    def wants(self, time: int, client: str, x: int) -> bool:
        return any(CONDITIONS[condition](x) for condition in self.wishes[time][client])

    def change(self, client: str, conditions: set[str]) -> None:
        self.wishes.append({**self.wishes[-1], client: conditions})

    @property
    def now(self) -> int:
        return len(self.wishes) - 1

    def missing(self) -> set[tuple[str, int]]:
        got: dict[tuple[str, int], int] = {}
        for time, client, event in self.deliveries:
            got.setdefault((client, event), time)
        return {
            (client, event)
            for event, (time, x) in enumerate(self.published)
            for client in CLIENTS
            if (client, event) not in got and all(self.wants(each, client, x) for each in range(time, self.now + 1))
        }

    def counts(self) -> tuple[int, int]:
        duplicates = false = 0
        good: set[tuple[str, int]] = set()
        for time, client, event in self.deliveries:
            published, x = self.published[event]
            if (client, event) in good:
                duplicates += 1
            elif self.wants(published, client, x) or self.wants(time, client, x):
                good.add((client, event))
            else:
                false += 1
        return duplicates, false


@given(st.lists(st.tuples(KIND, STEP), max_size=40))
def test_missed_false_and_repeated_deliveries(history: list[tuple[str, tuple[str, str, int]]]) -> None:
    reference, judge = Reference(), Judge()
    for kind, (client, condition, number) in history:
        held = judge.wishes[-1][client]
        if kind == "subscribe":
            reference.wanted.add(client, condition)
            judge.change(client, held | {condition})
        elif kind == "unsubscribe":
            assert reference.unsubscribe(client, condition) == (condition in held)
            judge.change(client, held - {condition})
        elif kind == "leave":
            reference.leave(client)
            judge.change(client, set())
        elif kind == "publish":
            reference.publish(0.0, 0, Event(len(judge.published), {"x": number}))
            judge.published.append((judge.now, number))
        elif judge.published:
            event = number % len(judge.published)
            reference.deliver(client, Event(event, {"x": judge.published[event][1]}))
            judge.deliveries.append((judge.now, client, event))
        reference.check_invariants()
        assert set(reference.missing()) == judge.missing()
        assert (reference.duplicates, reference.false_positives) == judge.counts()
