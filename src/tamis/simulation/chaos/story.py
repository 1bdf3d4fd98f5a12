"""A plan by chance: storms in which things go wrong, each followed by a calm in which all must become right again."""

from collections.abc import Callable, Iterator
from itertools import accumulate
from random import Random
from typing import Any, Final

import networkx as nx

from tamis.simulation.chaos.casts import Cast
from tamis.simulation.chaos.plan import Calm, Garbage, Plan, Publishes, Step, Subscribes, Unsubscribes
from tamis.simulation.chaos.profiles import Trouble, profiles
from tamis.simulation.faults import (
    ChangeLink,
    Corrupt,
    Crash,
    Cut,
    Heal,
    Partition,
    Restart,
    Reunite,
    StepClock,
)
from tamis.simulation.link import Link
from tamis.simulation.topologies import degree, random_tree, transit_stub

#: A storm lasts so many seconds; in it something goes wrong, and clients do something, every so many.
STORM: Final = 300.0
TROUBLE_EVERY: Final = 15.0
CLIENTS_EVERY: Final = 3.0
#: Brokers there are, at least and at most, and clients at each.
FEWEST, MOST = 4, 10
CLIENTS: Final = 2
#: Clocks jump by so many seconds at most.
JUMP: Final = 100.0
HOUR: Final = 3600.0

CONDITIONS: Final = (
    "x > 3",
    "x > 5",
    "x = 5",
    "x between 2 and 7",
    "x < 4 and y > 2",
    "x > 3 and y <= 6",
    "y in (1, 3, 5)",
    "y <> 4",
    "s = 'a'",
    "s like 'a%'",
    "s like '%b%' and x > 1",
    "x > 6 or y < 3",
    "not (x between 3 and 6)",
    "(x = 1 or x = 8) and (y = 2 or s = 'ab')",
    "z is null",
)
EVENTS: Final[tuple[dict[str, Any], ...]] = (
    {"x": 5, "y": 3},
    {"x": 2, "y": 5},
    {"x": 8, "y": 2, "s": "ab"},
    {"x": 4},
    {"y": 4, "s": "a"},
    {"x": 7, "y": 6, "s": "cab"},
    {"x": 1, "y": 1, "s": "a", "z": 0},
)


def story(profile: str, cast: Cast, seed: int, hours: float) -> Plan:
    """Return a plan for at least so many hours; the same for the same seed.

    A profile that there is not, or of which a cast withstands nothing, is a `ValueError`.
    """
    known = profiles()
    if profile not in known:
        raise ValueError(f"there is no profile {profile!r}; there are: {', '.join(known)}")
    troubles = [trouble for trouble in known[profile] if trouble in cast.withstands]
    if not troubles:
        withstood = ", ".join(sorted(cast.withstands))
        raise ValueError(f"{cast.name!r} promises nothing under {profile!r}: it withstands {withstood}")
    random = Random(f"{profile} {cast.name} {seed}")  # noqa: S311 - a simulation, to be repeated
    graph = _graph(cast, random)
    author = _Author(graph, troubles, random)
    calm = cast.promised(nx.diameter(graph))
    steps: list[Step] = []
    start = 0.0
    while start < HOUR * hours:
        steps += author.storm(start)
        start += STORM + calm
    return Plan(
        cast=cast.name,
        seed=seed,
        brokers=len(graph),
        links=tuple(sorted((min(link), max(link)) for link in graph.edges)),
        clusters=tuple(map(tuple, graph.graph.get("clusters", ()))),
        steps=tuple(steps),
    )


def _graph(cast: Cast, random: Random) -> "nx.Graph[Any]":
    count = random.randint(FEWEST, MOST)
    seed = random.randrange(1 << 30)
    if cast.topology == "tree":
        return random_tree(count, seed)
    if cast.topology == "graph":
        return degree(count, random.uniform(2, min(4, count - 1)), seed)
    return transit_stub(count, random.randint(2, 3), 3, seed)


class _Author:
    """Thinks up what goes wrong, and what clients do meanwhile."""

    def __init__(self, graph: "nx.Graph[Any]", troubles: list[Trouble], random: Random) -> None:
        self._brokers = list(graph.nodes)
        self._links = list(graph.edges)
        self._troubles = troubles
        self._random = random
        self._homes = {f"c{number}": number % len(graph) for number in range(CLIENTS * len(graph))}
        self._held: list[tuple[str, str]] = []

    def storm(self, start: float) -> list[Step]:
        """Return what happens in a storm, in order, and the calm after it."""
        steps: list[Step] = [step for at in self._times(start, CLIENTS_EVERY) for step in self._clients(at)]
        for at in self._times(start, TROUBLE_EVERY):
            steps += _TROUBLES[self._random.choice(self._troubles)](self, at)
        # What ends a trouble may come after the storm: the calm ends it anyway.
        steps = [step for step in steps if step.at < start + STORM]
        return [*sorted(steps, key=lambda step: step.at), Calm(at=start + STORM)]

    def _times(self, start: float, every: float) -> Iterator[float]:
        gaps = (self._random.expovariate(1 / every) for _ in range(round(2 * STORM / every)))
        return (start + at for at in accumulate(gaps) if at < STORM)

    def _clients(self, at: float) -> list[Step]:
        kind = self._random.random()
        if kind < 0.3:
            client = self._random.choice(list(self._homes))
            condition = self._random.choice(CONDITIONS)
            self._held.append((client, condition))
            return [Subscribes(at=at, broker=self._homes[client], client=client, condition=condition)]
        if kind < 0.45 and self._held:
            client, condition = self._held.pop(self._random.randrange(len(self._held)))
            return [Unsubscribes(at=at, broker=self._homes[client], client=client, condition=condition)]
        return [Publishes(at=at, broker=self._random.choice(self._brokers), event=self._random.choice(EVENTS))]

    # --- troubles ----------------------------------------------------------------------------------------

    def _later(self, at: float) -> float:
        """Return when a trouble ends: mostly soon."""
        return at + self._random.expovariate(1 / 20)

    def _breaks(self, at: float, silent: bool) -> list[Step]:
        """Let a broker or a link go, or several links, and come back."""
        kind, end = self._random.random(), self._later(at)
        if kind < 0.5 or not self._links:
            broker = self._random.choice(self._brokers)
            return [Crash(at=at, broker=broker, silent=silent), Restart(at=end, broker=broker)]
        if kind < 0.8:
            one, other = self._random.choice(self._links)
            return [Cut(at=at, one=one, other=other, silent=silent), Heal(at=end, one=one, other=other)]
        group = tuple(broker for broker in self._brokers if self._random.random() < 0.5)
        return [Partition(at=at, groups=(group,), silent=silent), Reunite(at=end)]

    def _worsens(self, at: float, link: Link) -> list[Step]:
        if not self._links:
            return []
        one, other = self._random.choice(self._links)
        return [
            ChangeLink(at=at, one=one, other=other, link=link),
            ChangeLink(at=self._later(at), one=one, other=other, link=Link()),
        ]

    def _crash(self, at: float) -> list[Step]:
        return self._breaks(at, silent=False)

    def _silence(self, at: float) -> list[Step]:
        return self._breaks(at, silent=True)

    def _loss(self, at: float) -> list[Step]:
        return self._worsens(at, Link(loss=self._random.choice((0.05, 0.3, 0.9))))

    def _disorder(self, at: float) -> list[Step]:
        return self._worsens(at, Link(jitter=self._random.choice((0.1, 5.0)), ordered=False))

    def _doubles(self, at: float) -> list[Step]:
        return self._worsens(at, Link(jitter=1.0, duplicates=self._random.uniform(0.1, 1)))

    def _corruption(self, at: float) -> list[Step]:
        broker, seed = self._random.choice(self._brokers), self._random.randrange(1 << 30)
        if self._random.random() < 0.7:
            return [Corrupt(at=at, broker=broker, seed=seed)]
        # It comes back with tables that are wrong.
        end = self._later(at)
        return [
            Crash(at=at, broker=broker),
            Restart(at=end, broker=broker),
            Corrupt(at=end + 0.1, broker=broker, seed=seed),
        ]

    def _garbage(self, at: float) -> list[Step]:
        if not self._links:
            return []
        one, other = self._random.sample(self._random.choice(self._links), 2)
        return [Garbage(at=at, one=one, other=other, seed=self._random.randrange(1 << 30))]

    def _clocks(self, at: float) -> list[Step]:
        by = self._random.choice((-1, 1)) * self._random.uniform(0, JUMP)
        return [StepClock(at=at, broker=self._random.choice(self._brokers), by=by)]


_TROUBLES: Final[dict[Trouble, Callable[[_Author, float], list[Step]]]] = {
    "crash": _Author._crash,
    "silence": _Author._silence,
    "loss": _Author._loss,
    "disorder": _Author._disorder,
    "doubles": _Author._doubles,
    "corruption": _Author._corruption,
    "garbage": _Author._garbage,
    "clocks": _Author._clocks,
}
