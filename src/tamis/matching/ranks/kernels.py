"""What the compiled matching loops of the conjunctive engines share."""

from typing import NamedTuple

from tamis.compiled import kernel
from tamis.matching.ranks.encoding import Encoded
from tamis.matching.ranks.lists import Ints, Longs, View

#: Where kernels count their work: `work[CANDIDATES]` subscriptions looked at, `work[TESTS]` predicates tested.
CANDIDATES, TESTS = 0, 1


class Predicates(NamedTuple):
    """What kernels see of `Space`: by leaf its rank; by predicate its dimension and its list low, high, low, high, …"""

    rank: Ints
    dimension: Ints
    bounds: View


@kernel
def meets(predicate: int, at: int, predicates: Predicates) -> bool:
    """Return whether the rank of an event's leaf lies in one of a predicate's stretches; it is 0 where it has none."""
    start, size, data = predicates.bounds
    rank = predicates.rank
    first = start[predicate]
    low, high = 0, size[predicate] // 2
    while low < high:
        middle = (low + high) // 2
        if rank[data[first + 2 * middle + 1]] <= at:
            low = middle + 1
        else:
            high = middle
    return bool(low < size[predicate] // 2 and rank[data[first + 2 * low]] <= at)


@kernel
def meets_all(position: int, but: int, ranks: Ints, held: View, predicates: Predicates, work: Longs) -> bool:
    """Return whether the event in `ranks` meets all predicates of a subscription but one that it is known to meet."""
    first = held.start[position]
    for place in range(first, first + held.size[position]):
        predicate = held.data[place]
        if predicate != but:
            work[TESTS] += 1
            if not meets(predicate, ranks[predicates.dimension[predicate]], predicates):
                return False
    return True


@kernel
def enter(row: int, events: Encoded, rank: Ints, ranks: Ints) -> None:
    """Write the ranks of an event's leaves into an array by dimension that is zero everywhere else."""
    for place in range(events.offsets[row], events.offsets[row + 1]):
        ranks[events.dimensions[place]] = rank[events.leaves[place]]


@kernel
def leave(row: int, events: Encoded, ranks: Ints) -> None:
    """Make the array zero again."""
    for place in range(events.offsets[row], events.offsets[row + 1]):
        ranks[events.dimensions[place]] = 0


@kernel
def scan(
    first: int,
    last: int,
    events: Encoded,
    positions: Ints,
    held: View,
    predicates: Predicates,
    ranks: Ints,
    ends: Longs,
    out: Ints,
    work: Longs,
) -> int:
    """Test all `positions` on the rows from first to last. See `ConjunctiveEngine.search` for what is returned."""
    used = 0
    for row in range(first, last):
        if len(out) - used < len(positions):
            return row
        enter(row, events, predicates.rank, ranks)
        for position in positions:
            work[CANDIDATES] += 1
            if meets_all(position, -1, ranks, held, predicates, work):
                out[used] = position
                used += 1
        leave(row, events, ranks)
        ends[row] = used
    return last
