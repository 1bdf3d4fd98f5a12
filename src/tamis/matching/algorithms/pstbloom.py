"""PSTBloom (specs/002 §5, thesis ch. 7): one access predicate, signatures for the others, then the exact test."""

from tamis.compiled import kernel
from tamis.matching.algorithms.access import Access, AccessLists, find_listed
from tamis.matching.algorithms.signatures import Kind
from tamis.matching.engine import Capabilities, register
from tamis.matching.ranks.conjunctive import ConjunctiveEngine
from tamis.matching.ranks.encoding import Encoded
from tamis.matching.ranks.kernels import enter, leave
from tamis.matching.ranks.layout import layout
from tamis.matching.ranks.line import Merge, Split
from tamis.matching.ranks.lists import Ints, Longs
from tamis.matching.ranks.verification import Tests, Verification, word_of

#: Counters in the signature of a leaf, and hash functions. In rank space the exact test costs no more than a look at a
#: signature, so larger ones save tests but no time: with m = 16,384 on BE-Gen, 20,000 subscriptions whose attributes
#: all events have, a third of the tests went and matching took half as long again. Six million leaves, as 1,000,000
#: subscriptions over 30,000 attributes have, take 50 MB at this size.
M, K = 8, 1
#: From so many subscriptions at once it is worth to look at all leaves and predicates.
BULK = 256


@register(
    "pstbloom",
    Capabilities(
        arbitrary=False,
        exact=True,
        dynamic=True,
        batch=True,
        summary="lists by the most selective predicate, Bloom signatures for the others (PSTBloom; specs/002 §5)",
    ),
)
class PSTBloom(ConjunctiveEngine):
    """The leaves of a subscription's most selective predicate list it; an event looks at the lists of its leaves."""

    def __init__(self, m: int = M, k: int = K, signature: Kind = "bloom") -> None:
        super().__init__()
        self._verification = Verification(self.space, self.held)
        self._access = AccessLists(self.space, self.held, m, k, signature)

    def insert(self, position: int, predicates: list[int]) -> None:
        self._access.insert(position, self._verification.insert(position, predicates))

    def insert_many(self, positions: Ints) -> None:
        if len(positions) < BULK:
            super().insert_many(positions)
            return
        where = layout(self.space)
        self._verification.insert_many(positions, where)
        self._access.insert_many(positions, where)

    def delete(self, position: int, predicates: list[int]) -> None:
        self._access.delete(position, predicates)
        self._verification.delete(position)

    def split(self, split: Split) -> None:
        self._access.split(split)

    def merge(self, merge: Merge) -> None:
        self._access.merge(merge)

    def search(self, first: int, last: int, events: Encoded, ends: Longs, out: Ints, work: Longs) -> int:
        return _search(
            first,
            last,
            events,
            self._access.view(),
            self._verification.tests(),
            self.scratch("here", self.space.dimensions),
            self.ranks(),
            self.top,
            ends,
            out,
            work,
        )

    def extra_bytes(self) -> int:
        return self._verification.bytes + self._access.bytes

    def check_invariants(self) -> None:
        super().check_invariants()
        self._verification.check_invariants()
        self._access.check(self._verification.stored())


@kernel
def _search(
    first: int,
    last: int,
    events: Encoded,
    access: Access,
    tests: Tests,
    here: Ints,
    ranks: Ints,
    top: int,
    ends: Longs,
    out: Ints,
    work: Longs,
) -> int:
    used = 0
    for row in range(first, last):
        if len(out) - used < top:
            return row
        enter(row, events, tests.predicates.rank, ranks)
        for place in range(events.offsets[row], events.offsets[row + 1]):
            here[events.dimensions[place]] = events.leaves[place]
        used = find_listed(row, events, word_of(row, events), here, ranks, access, tests, out, used, work)
        leave(row, events, ranks)
        ends[row] = used
    return last
