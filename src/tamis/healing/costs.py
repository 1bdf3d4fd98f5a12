"""What waiting for a link costs, and what the best choice would have cost (specs/000 §9).

Hops in vain cost 1 each while tables are kept. To withdraw costs T, and to subscribe again costs T if the link returns.

[FIX] Theorem 7 claims that to withdraw when more than T hops were in vain costs at most twice the best. Its proof takes
the best to be 2 T whenever hops in vain exceed T, but up to 2 T of them the best is to wait. The true bounds, for a
threshold of m T with m from 1 to 2, are 1 + 2 / m if the link returns and 1 + m if not, plus the hops of one event,
which may overshoot the threshold: 3 and 2 for m = 1, 2 and 3 for m = 2, and 2.414 for both at the root of 2.
"""

from collections.abc import Iterable


def adaptive_cost(in_vain: Iterable[float], cost: float, returns: bool, mult: float = 1.0) -> float:
    """Return what it costs to withdraw once more than `mult * cost` hops were in vain.

    `in_vain` has for each event while the link is gone the hops that are in vain as long as tables are kept.
    """
    spent = 0.0
    for hops in in_vain:
        spent += hops
        if spent > mult * cost:
            return spent + cost + (cost if returns else 0.0)
    return spent


def best_cost(in_vain: Iterable[float], cost: float, returns: bool) -> float:
    """Return what it costs who knows the future: to withdraw at once, or never."""
    return min(sum(in_vain), 2 * cost if returns else cost)


def bound(mult: float, returns: bool) -> float:
    """Return how many times the best cost the adaptive one is at most, overshoot not counted."""
    # The worst link stays away until just after the threshold; up to then the best is to wait, or to withdraw at once.
    return (mult + 2) / min(mult, 2) if returns else (mult + 1) / min(mult, 1)
