"""Which predicates of a conjunction let the fewest events through (specs/002 §2)?

With event history: the predicate whose leaves were hit by the fewest events. Without, or where the sums are equal: the
order of `Shape`; then the predicate that covers fewer leaves; then [ours] the one that fewer subscriptions share,
because what many ask for is what many events have, and their lists would be long; then the one with the lower number.
Predicates that take null come last: an event that lacks the attribute meets them, so they cannot lead to candidates.
"""

from collections.abc import Iterable
from typing import TypeAlias

import numpy as np
import numpy.typing as npt

from tamis.compiled import kernel
from tamis.matching.ranks.layout import Layout, layout
from tamis.matching.ranks.lists import Bytes, Ints, Longs, View
from tamis.matching.ranks.space import Space

Floats: TypeAlias = npt.NDArray[np.float32]

#: From so many predicates at once it is worth to look at all leaves.
_FEW = 256
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


def weights(space: Space, predicates: Ints) -> Floats:
    """Return how many events met each predicate so far, plus a guess below one, which speaks before there are any.

    [ours] What subscriptions ask for is what events have: the guess is the share of all uses that a predicate has,
    plus the share of its line that it covers times the share of all predicates that are on this line. Predicates
    that take null get a weight above all others.
    """
    many = len(predicates) >= _FEW
    if not many:
        found = np.array([space.hits[space.leaves_of(each)].sum() for each in predicates.tolist()], np.float32)
        uses = np.array([space.uses[each] for each in predicates.tolist()], np.float32)
    else:
        found = _hits(space, predicates)
        uses = np.array(space.uses, np.float32)[predicates]
    on = space.dimension[predicates]
    dimensions = np.flatnonzero(np.bincount(on)) if many else np.unique(on)
    lengths, popular = np.zeros((2, space.dimensions), np.float32)
    lengths[dimensions] = [len(space.line(each).leaves()) for each in dimensions.tolist()]
    popular[dimensions] = [space.predicates_on(each) / space.predicates for each in dimensions.tolist()]
    shares = _shares(predicates, space.rank, space.bounds.view(), lengths[on])
    guesses: Floats = shares * popular[on] + uses / max(uses.sum(), space.predicates)
    return found + guesses


def _hits(space: Space, predicates: Ints) -> Floats:
    """Return how many events met each of many predicates."""
    found = np.zeros(len(predicates), np.float32)
    if space.hits.any():
        before = np.zeros(space.leaves + 1, np.int64)
        where = layout(space)
        np.cumsum(space.hits[where.leaves], out=before[1 : len(where.leaves) + 1])
        _sum_hits(predicates, space.bounds.view(), where, before, found)
    return found


@kernel
def _sum_hits(predicates: Ints, bounds: View, where: Layout, before: Longs, found: Floats) -> None:
    for number in range(len(predicates)):
        first = bounds.start[predicates[number]]
        met = 0
        for at in range(first, first + bounds.size[predicates[number]], 2):
            met += before[where.place[bounds.data[at + 1]]] - before[where.place[bounds.data[at]]]
        found[number] = met


@kernel
def _shares(predicates: Ints, rank: Ints, bounds: View, lengths: Floats) -> Floats:
    shares = np.zeros(len(predicates), np.float32)
    for number in range(len(predicates)):
        first = bounds.start[predicates[number]]
        for at in range(first, first + bounds.size[predicates[number]], 2):
            shares[number] += (rank[bounds.data[at + 1]] - rank[bounds.data[at]]) / lengths[number]
        if rank[bounds.data[first]] == 0:
            shares[number] = np.inf
    return shares


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
