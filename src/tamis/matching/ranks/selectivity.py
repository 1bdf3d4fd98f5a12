"""Which predicates of a conjunction let the fewest events through (specs/002 §2)?

With event history: the predicate whose leaves were hit by the fewest events. Without, or where the sums are equal: the
order of `Shape`; then the predicate that covers fewer leaves; then [ours] the one that fewer subscriptions share,
because what many ask for is what many events have, and their lists would be long; then the one with the lower number.
Predicates that take null come last: an event that lacks the attribute meets them, so they cannot lead to candidates.
"""

from collections.abc import Iterable

import numpy as np

from tamis.matching.ranks.compiled import kernel
from tamis.matching.ranks.layout import Layout
from tamis.matching.ranks.lists import Bytes, Ints, Longs, View
from tamis.matching.ranks.space import Space

#: Where `Shape` and the number of leaves stand in one number, above the number of uses.
_SHAPE, _WIDTH, _MOST_USES = 60, 29, (1 << 29) - 1


def by_selectivity(space: Space, predicates: Iterable[int]) -> list[int]:
    """Return the predicates of one subscription, the most selective first and those that take null last."""
    return sorted(predicates, key=lambda each: _key(space, each))


def most_selective(space: Space, predicates: Iterable[int], count: int) -> list[int]:
    """Return so many predicates, the most selective first, or fewer where the others take null."""
    return [each for each in by_selectivity(space, predicates)[:count] if not space.takes_null[each]]


def _key(space: Space, predicate: int) -> tuple[int, ...]:
    leaves = space.leaves_of(predicate)
    takes_null = space.takes_null[predicate]
    return (
        takes_null,
        0 if takes_null else int(space.hits[leaves].sum()),
        int(space.shape[predicate]),
        len(leaves),
        min(space.uses[predicate], _MOST_USES),
        predicate,
    )


def sort_by_selectivity(space: Space, positions: Ints, held: View, where: Layout) -> None:
    """Bring the predicates of many subscriptions into the order of `by_selectivity`, in their places in `held`."""
    before = np.zeros(len(where.leaves) + 1, np.int64)
    np.cumsum(space.hits[where.leaves], out=before[1:])
    uses = np.minimum(np.array(space.uses, np.int64), _MOST_USES)
    hits = np.empty(space.top, np.int64)
    form = np.empty(space.top, np.int64)
    _measure(space.rank, space.shape, space.bounds.view(), uses, where, before, hits, form)
    _sort(positions, held, hits, form)


@kernel
def _measure(
    rank: Ints, shape: Bytes, bounds: View, uses: Longs, where: Layout, before: Longs, hits: Longs, form: Longs
) -> None:
    """Write for each predicate how many events met it, and what decides when that is equal."""
    never = np.iinfo(np.int64).max
    for predicate in range(len(hits)):
        first, size = bounds.start[predicate], bounds.size[predicate]
        met = covered = np.int64(0)
        for at in range(first, first + size, 2):
            low, high = where.place[bounds.data[at]], where.place[bounds.data[at + 1]]
            covered += high - low
            met += before[high] - before[low]
        if size and rank[bounds.data[first]] == 0:
            hits[predicate] = never
        else:
            hits[predicate] = met
        form[predicate] = (np.int64(shape[predicate]) << _SHAPE) | (covered << _WIDTH) | uses[predicate]


@kernel
def _sort(positions: Ints, held: View, hits: Longs, form: Longs) -> None:
    data = held.data
    for position in positions:
        first = held.start[position]
        for place in range(first + 1, first + held.size[position]):
            moved = data[place]
            at = place
            while at > first and _precedes(moved, data[at - 1], hits, form):
                data[at] = data[at - 1]
                at -= 1
            data[at] = moved


@kernel
def _precedes(one: int, other: int, hits: Longs, form: Longs) -> bool:
    if hits[one] != hits[other]:
        return bool(hits[one] < hits[other])
    if form[one] != form[other]:
        return bool(form[one] < form[other])
    return one < other
