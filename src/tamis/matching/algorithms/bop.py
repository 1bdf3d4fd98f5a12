"""BoP (specs/002 §8): count the met leaves of each expression; evaluate its byte code when they can be enough."""

import numpy as np

from tamis.compiled import kernel
from tamis.matching.algorithms.bytecode import BITS, PREDICATE, TAG, byte_code, evaluate
from tamis.matching.algorithms.occurrences import Asked, OccurrenceEngine, ask, extend, with_same, written_out
from tamis.matching.engine import Capabilities, register
from tamis.matching.ranks.encoding import Encoded
from tamis.matching.ranks.forms import LEAF, leaves_of
from tamis.matching.ranks.kernels import CANDIDATES
from tamis.matching.ranks.lists import Ints, Lists, Longs, View, grown


@register(
    "bop",
    Capabilities(
        arbitrary=True,
        exact=True,
        dynamic=True,
        batch=True,
        summary="counts met leaves, evaluates byte code where they reach a minimum (BoP; specs/002 §8)",
    ),
)
class Bop(OccurrenceEngine):
    """[fix] An expression is a candidate as soon as it has as many met leaves as it needs at least, not more.

    Leaves count as often as they occur, for otherwise `a and (a or b)` would need more than it can have.
    """

    def __init__(self) -> None:
        super().__init__()
        #: By position: its byte code, and how many leaves must be met.
        self.code = Lists()
        self.minimum: Ints = np.zeros(1, np.int32)
        #: By position, if something is written in its byte code more than once: the predicates as they were counted.
        self._counted: dict[int, list[int]] = {}
        self._longest = 0

    def store(self, positions: Ints, offsets: Longs, codes: Longs) -> None:
        plain, written = written_out(offsets, codes)
        for number in with_same(offsets, codes):
            counted = leaves_of(codes[offsets[number] : offsets[number + 1]])
            self._counted[int(positions[number])] = counted.tolist()
        words, minima = byte_code(plain, written)
        self.minimum = grown(self.minimum, self.top)
        self.minimum[positions] = minima
        owners = np.repeat(positions, np.diff(plain))
        extend(self.code, owners, words)
        self._longest = max(self._longest, int(np.diff(plain).max(initial=0)))
        self.list_occurrences(leaves_of(written), owners[(written & 3) == LEAF])

    def forget(self, position: int) -> list[int]:
        words = self.code[position]
        predicates: list[int] = (words[words & TAG == PREDICATE] >> BITS).tolist()
        self.code.clear(position)
        for predicate in predicates:
            self.occurrences.discard(predicate, position)
        return self._counted.pop(position, predicates)

    def search(self, first: int, last: int, events: Encoded, ends: Longs, out: Ints, work: Longs) -> int:
        self.code.reserve(self.top)
        return _search(
            first,
            last,
            events,
            self.asked(),
            self.occurrences.view(),
            self.minimum,
            self.code.view(),
            self.clock(),
            self.scratch("stamps", self.top),
            self.scratch("truths", self.space.top),
            self.scratch("counts", self.top),
            self.scratch("candidates", self.top),
            self.scratch("open", self._longest),
            self.top,
            ends,
            out,
            work,
        )

    def extra_bytes(self) -> int:
        return super().extra_bytes() + self.code.bytes + self.minimum.nbytes

    def check_invariants(self) -> None:
        super().check_invariants()
        self.code.check_invariants()
        assert np.count_nonzero(self.code.size) == self.stored
        _, held = self.code.pairs(np.flatnonzero(self.code.size))
        assert np.count_nonzero(held & TAG == PREDICATE) == self.occurrences.size.sum()


@kernel
def _search(
    first: int,
    last: int,
    events: Encoded,
    asked: Asked,
    occurrences: View,
    minimum: Ints,
    code: View,
    clock: Ints,
    stamps: Ints,
    truths: Ints,
    counts: Ints,
    candidates: Ints,
    unfinished: Ints,
    top: int,
    ends: Longs,
    out: Ints,
    work: Longs,
) -> int:
    start, size, positions = occurrences
    met = asked.met
    used = 0
    for row in range(first, last):
        if len(out) - used < top:
            return row
        clock[0] += 1
        now = clock[0]
        count = 0
        for each in range(ask(row, events, asked)):
            truths[met[each]] = now
            begin = start[met[each]]
            for place in range(begin, begin + size[met[each]]):
                position = positions[place]
                if stamps[position] != now:
                    stamps[position] = now
                    counts[position] = 0
                counts[position] += 1
                if counts[position] == minimum[position]:
                    candidates[count] = position
                    count += 1
        work[CANDIDATES] += count
        used = evaluate(candidates, count, code.start, code.data, truths, now, unfinished, out, used, work)
        ends[row] = used
    return last
