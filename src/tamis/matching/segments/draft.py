"""Conditions as columns, before they are put in order: what a segment is built from.

However conditions come (parsed, as columns, or out of other segments), they become a draft. Each is a row:

    terms   stretches of lines that all must be met, each as two cuts
    code    what else must be met: one form of stretches, every connective before its parts

Code is written in triples: `(dimension, low, high)` is a stretch, `(ALL, length, 0)` and `(ANY, length, 0)` are the
connectives over what follows, where `length` counts the triples from there on, the connective included.
"""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from itertools import chain
from typing import Final

import numpy as np
import numpy.typing as npt

from tamis.compiled import kernel
from tamis.language import Expression
from tamis.matching.algorithms.occurrences import written_out
from tamis.matching.ranks import forms
from tamis.matching.ranks.forms import Forms
from tamis.matching.ranks.line import Key
from tamis.matching.ranks.lists import Ints, Longs
from tamis.matching.ranks.space import Dimension, Wanted
from tamis.matching.segments.cuts import Cuts, concatenated, of_keys

ALL: Final = -1
ANY: Final = -2
#: Numbers in a triple.
TRIPLE: Final = 3
#: So many keys become cuts at a time.
SOME: Final = 4096


@dataclass(frozen=True, eq=False)
class Draft:
    """Conditions as columns. `low` and `high` of terms and codes are numbers of cuts."""

    names: list[Dimension]
    cuts: Cuts
    #: By term, rows ascending.
    row: Ints
    low: Ints
    high: Ints
    #: By triple, rows ascending.
    code_row: Ints
    code: Ints
    #: Rows that no event meets.
    never: npt.NDArray[np.bool_]

    @property
    def rows(self) -> int:
        """How many conditions there are."""
        return len(self.never)


class Drafting:
    """Takes conditions one after the other, for a draft of them all."""

    def __init__(self) -> None:
        self._forms = Forms()
        #: Those that have a form, and those that no event meets; every event meets the others.
        self._stored: list[int] = []
        self._never: list[int] = []
        self._count = 0

    def __len__(self) -> int:
        return self._count

    def append(self, expression: Expression) -> None:
        """Take one more condition."""
        # First: whoever is interrupted leaves a number that fits nothing.
        number = self._count
        self._count += 1
        constant = self._forms.write(expression)
        if constant is None:
            self._stored.append(number)
        elif not constant:
            self._never.append(number)

    def draft(self) -> Draft:
        """Return all conditions as a draft."""
        written = self._forms
        never = np.zeros(self._count, np.bool_)
        never[self._never] = True
        predicates = _predicates(written.wanted)
        offsets, codes = written_out(*written.resolve(list(range(written.wanted.count))))
        rows = np.array(self._stored, np.int32)
        sizes = predicates.sizes[forms.leaves_of(codes)]
        room = len(codes) + int(sizes[sizes > 1].sum())
        terms, triples = np.empty((len(codes), TRIPLE), np.int32), np.empty((room, TRIPLE + 1), np.int32)
        ended = _lay_out(
            rows, offsets, codes, predicates.dimension, predicates.starts, predicates.stretches, terms, triples
        )
        terms, triples = terms[: ended[0]], triples[: ended[1]]
        row, low, high = map(np.ascontiguousarray, terms.T)
        code_row, code = np.ascontiguousarray(triples[:, 0]), np.ascontiguousarray(triples[:, 1:])
        return Draft(list(written.wanted.by_name), predicates.cuts, row, low, high, code_row, code, never)


def draft_of(expressions: Iterable[Expression]) -> Draft:
    """Return expressions as a draft."""
    drafting = Drafting()
    for expression in expressions:
        drafting.append(expression)
    return drafting.draft()


def joined(drafts: Sequence[Draft]) -> Draft:
    """Return the conditions of all drafts, one behind the other."""
    places: dict[Dimension, int] = {}
    cuts: list[Cuts] = []
    codes: list[tuple[Ints, Ints]] = []
    terms = sum(len(draft.row) for draft in drafts)
    row, low, high = np.empty(terms, np.int32), np.empty(terms, np.int32), np.empty(terms, np.int32)
    rows = shift = used = 0
    for draft in drafts:
        moved = np.array([places.setdefault(name, len(places)) for name in draft.names], np.int32)
        cuts.append(draft.cuts._replace(dimension=moved[draft.cuts.dimension]))
        _put(used, draft.row, draft.low, draft.high, rows, shift, row, low, high)
        code = draft.code.copy()
        stretches = code[:, 0] >= 0
        code[stretches, 0] = moved[code[stretches, 0]]
        code[stretches, 1:] += shift
        codes.append((draft.code_row + rows, code))
        rows += draft.rows
        shift += len(draft.cuts.dimension)
        used += len(draft.row)
    code_row, code = map(np.concatenate, zip(*codes, strict=True))
    never = np.concatenate([draft.never for draft in drafts])
    return Draft(list(places), concatenated(cuts), row, low, high, code_row, code, never)


@kernel
def _put(
    at: int, rows: Ints, lows: Ints, highs: Ints, first: int, shift: int, row: Ints, low: Ints, high: Ints
) -> None:
    """Put terms at a place, with rows counted from a first one on and cuts likewise."""
    for term in range(len(rows)):
        row[at + term] = rows[term] + first
        low[at + term] = lows[term] + shift
        high[at + term] = highs[term] + shift


@dataclass(frozen=True, eq=False)
class _Predicates:
    """Predicates as stretches: predicate n has `stretches[starts[n] : starts[n + 1]]`, each a pair of cuts."""

    cuts: Cuts
    dimension: Ints
    starts: Longs
    stretches: Ints

    @property
    def sizes(self) -> Longs:
        return np.diff(self.starts)


def _predicates(wanted: Wanted) -> _Predicates:
    keys: list[Key] = []
    numbers: list[int] = []
    lengths: list[int] = []
    for known in wanted.by_name.values():
        keys += chain.from_iterable(known)
        numbers += known.values()
        lengths += map(len, known)
    # Stretches stand in the order in which dimensions were wanted; they are put in the order of predicates.
    order, ends = np.array(numbers, np.int64), np.array(lengths, np.int64)
    on = np.repeat(np.arange(len(wanted.by_name), dtype=np.int32), [len(known) for known in wanted.by_name.values()])
    dimension, sizes = np.empty_like(on), np.empty_like(ends)
    dimension[order], sizes[order] = on, ends // 2
    starts = np.zeros(wanted.count + 1, np.int64)
    np.cumsum(sizes, out=starts[1:])
    pairs = np.arange(len(keys), dtype=np.int32).reshape(-1, 2)
    begins = np.concatenate(([0], np.cumsum(sizes[order])))[:-1]
    stretches = np.empty_like(pairs)
    spread = np.repeat(starts[order] - begins, sizes[order]) + np.arange(len(pairs))
    stretches[spread] = pairs
    lines = np.repeat(on, ends)
    # Not all at once: meanwhile no other thread could run.
    cuts = [of_keys(lines[at : at + SOME], keys[at : at + SOME]) for at in range(0, max(len(keys), 1), SOME)]
    return _Predicates(concatenated(cuts), dimension, starts, stretches)


@kernel
def _lay_out(
    rows: Ints,
    offsets: Longs,
    codes: Longs,
    dimension: Ints,
    starts: Longs,
    stretches: Ints,
    terms: Ints,
    triples: Ints,
) -> tuple[int, int]:
    """Write forms as terms (row, low, high) and triples behind their row, and return how many of each there are.

    A form read backwards has every connective before its parts.
    """
    parts, lengths = np.empty(len(codes) + 1, np.int32), np.empty(len(codes) + 1, np.int32)
    length = np.empty(len(codes), np.int32)
    term, at = 0, 0
    for number in range(len(rows)):
        first, last, row = offsets[number], offsets[number + 1], rows[number]
        depth = 0
        for place in range(first, last):
            tag, value = codes[place] & 3, codes[place] >> 2
            if tag == forms.LEAF:
                size = starts[value + 1] - starts[value]
                lengths[depth] = 1 if size == 1 else size + 1
            else:
                depth -= value
                total = 1
                for part in range(depth, depth + value):
                    total += lengths[part]
                lengths[depth] = total
            length[place] = lengths[depth]
            depth += 1
        # The parts of a conjunction at the top that are one stretch are terms.
        top = codes[last - 1] & 3 == forms.ALL
        begin = at
        place = last - 1
        kept = 1
        if top:
            kept = 0
            at += 1
            place -= 1
        while place >= first:
            code = codes[place]
            tag, value = code & 3, code >> 2
            if tag == forms.LEAF and starts[value + 1] - starts[value] == 1:
                terms[term, 0] = row
                terms[term, 1] = stretches[starts[value], 0]
                terms[term, 2] = stretches[starts[value], 1]
                term += 1
                place -= 1
                continue
            kept += top
            # Everything down to where this part begins.
            depth, parts[0] = 0, 1
            while True:
                tag, value = codes[place] & 3, codes[place] >> 2
                place -= 1
                parts[depth] -= 1
                if tag == forms.LEAF:
                    size = starts[value + 1] - starts[value]
                    if size > 1:
                        triples[at, 0], triples[at, 1], triples[at, 2], triples[at, 3] = row, ANY, size + 1, 0
                        at += 1
                    for stretch in range(starts[value], starts[value + 1]):
                        triples[at, 0], triples[at, 1] = row, dimension[value]
                        triples[at, 2], triples[at, 3] = stretches[stretch, 0], stretches[stretch, 1]
                        at += 1
                else:
                    connective = ALL if tag == forms.ALL else ANY
                    triples[at, 0], triples[at, 1], triples[at, 2] = row, connective, length[place + 1]
                    triples[at, 3] = 0
                    at += 1
                    depth += 1
                    parts[depth] = value
                while depth > 0 and parts[depth] == 0:
                    depth -= 1
                if depth == 0 and parts[0] == 0:
                    break
        if top:
            if kept > 1:
                triples[begin, 0], triples[begin, 1], triples[begin, 2] = row, ALL, at - begin
                triples[begin, 3] = 0
            else:
                # One part needs no connective, and none no code.
                for move in range(begin, at - 1):
                    for column in range(TRIPLE + 1):
                        triples[move, column] = triples[move + 1, column]
                at -= 1
    return term, at
