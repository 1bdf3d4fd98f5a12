"""Who has to withstand chaos: strategies, each with what keeps its brokers right."""

from collections.abc import Mapping
from typing import Any, Final, Literal

import msgspec

from tamis.healing import Ages, Healing, Leases, Stabilise
from tamis.simulation.chaos.profiles import Trouble, profiles

#: Rounds of stabilisation are so many seconds apart.
EVERY: Final = 30.0
#: Leases last so long, and are refreshed so often, in seconds.
INTERVAL: Final = 30.0
REFRESH: Final = 12.0
#: Until what is on links has drained, and what was in tables is used no more.
DRAINED: Final = 10.0
#: Heartbeats are so many seconds apart; a neighbour that misses three is taken for dead.
HEARTBEAT: Final = 2.0

_ALL: Final[frozenset[Trouble]] = frozenset(profiles()["all"])


class Cast(msgspec.Struct, frozen=True, kw_only=True):
    """A strategy with its options and what heals it, what it withstands, and how fast it is right again."""

    name: str
    strategy: str
    options: Mapping[str, Any] = {}
    healing: Healing = Healing()
    #: The kinds of trouble after which it promises to be right again.
    withstands: frozenset[Trouble] = _ALL
    topology: Literal["tree", "graph", "clusters"] = "tree"
    #: Seconds after which it is right again, once nothing goes wrong any more: so many, and so many for each hop.
    within: float = DRAINED
    per_hop: float = 0.0

    def promised(self, diameter: int) -> float:
        """Return in how many seconds everything is right again in an overlay of this diameter."""
        return self.within + self.per_hop * diameter


def _stabilised(strategy: str, exchange: Literal["full", "sketch"] = "full", rounds: int = 1, **options: Any) -> Cast:
    return Cast(
        name=f"{strategy}-{exchange}",
        strategy=strategy,
        options=options,
        healing=Healing(stabilise=Stabilise(every=EVERY, exchange=exchange)),
        within=DRAINED + 2 * EVERY,
        per_hop=rounds * EVERY,
    )


def _soft(
    strategy: str,
    topology: Literal["tree", "graph"] = "tree",
    withstands: frozenset[Trouble] = _ALL,
    **options: Any,
) -> Cast:
    leases = Leases(interval=INTERVAL, refresh=REFRESH)
    return Cast(
        name=f"{strategy}-soft",
        strategy=strategy,
        options=options,
        healing=Healing(leases=leases),
        withstands=withstands,
        topology=topology,
        within=DRAINED + 3 * leases.interval,
        per_hop=leases.refresh,
    )


_CASTS: Final = (
    Cast(name="flood", strategy="flood"),
    _stabilised("simple"),
    _stabilised("identity", "sketch"),
    msgspec.structs.replace(
        _stabilised("identity"),
        name="identity-ages",
        healing=Healing(stabilise=Stabilise(every=EVERY), ages=Ages()),
        # Bounds of ages are for clocks that run, not for clocks that jump.
        withstands=_ALL - {"clocks"},
    ),
    _stabilised("covering"),
    _stabilised("covering", "sketch"),
    _stabilised("reuse-partial"),
    _stabilised("mics"),
    _stabilised("bloom", verify_at_edge=True),
    _stabilised("advertisement", rounds=2, trees=False),
    _soft("covering"),
    _soft("bloom", verify_at_edge=True),
    _soft("ddbr", topology="graph", withstands=_ALL - {"corruption"}, heartbeat=HEARTBEAT),
    Cast(
        name="ddbr",
        strategy="ddbr",
        options={"heartbeat": HEARTBEAT},
        withstands=frozenset(profiles()["crashes"]),
        topology="graph",
        within=DRAINED + 5 * HEARTBEAT,
    ),
    Cast(
        name="merc",
        strategy="merc",
        options={"heartbeat": HEARTBEAT},
        withstands=frozenset(profiles()["crashes"]),
        topology="clusters",
        within=DRAINED + 5 * HEARTBEAT,
    ),
)


def casts() -> dict[str, Cast]:
    """Return all casts by name."""
    return {cast.name: cast for cast in _CASTS}
