"""Byte code (specs/002 §8, BoP): expressions as words, every connective before its parts.

[ours] One word holds what the source has in two bytes: what it is, and the number of parts or the predicate.
"""

from typing import Final

import numpy as np

from tamis.compiled import kernel
from tamis.matching.algorithms.occurrences import Tree, tree_of
from tamis.matching.ranks.forms import ALL, LEAF
from tamis.matching.ranks.kernels import TESTS
from tamis.matching.ranks.lists import Ints, Longs

#: What a word is, in its lowest bits. The number is in the others.
CONJUNCTION: Final = 1
DISJUNCTION: Final = 2
PREDICATE: Final = 4
BITS: Final = 3
TAG: Final = (1 << BITS) - 1


def byte_code(offsets: Longs, codes: Longs) -> tuple[Ints, Ints]:
    """Return forms, in which everything is written out, as byte code, and how many met leaves each needs at least.

    Over the parts of a conjunction that is the sum, over those of a disjunction the least.
    """
    words = np.empty(len(codes), np.int32)
    minima = np.zeros(len(codes), np.int32)
    _encode(codes, tree_of(offsets, codes), words, minima)
    return words, minima[offsets[1:] - 1]


@kernel
def _encode(codes: Longs, tree: Tree, words: Ints, minima: Ints) -> None:
    """Write byte code, and by place of a form the minimum of what ends there."""
    parent, _, depth, begin = tree
    for place in range(len(codes)):
        tag, value = codes[place] & 3, codes[place] >> 2
        word = PREDICATE if tag == LEAF else CONJUNCTION if tag == ALL else DISJUNCTION
        words[begin[place] + depth[place]] = value << BITS | word
        if tag == LEAF:
            minima[place] = 1
        around = parent[place]
        if around >= 0:
            if codes[around] & 3 == ALL:
                minima[around] += minima[place]
            elif minima[around] == 0 or minima[place] < minima[around]:
                minima[around] = minima[place]


@kernel
def evaluate(
    candidates: Ints,
    count: int,
    start: Longs,
    words: Ints,
    truths: Ints,
    now: int,
    unfinished: Ints,
    out: Ints,
    used: int,
    work: Longs,
) -> int:
    """Write the candidates whose byte code is true. Parts that do not matter any more are skipped.

    In `unfinished` are the connectives around the current word, each with the parts that it still has.
    """
    for each in range(count):
        place = start[candidates[each]]
        depth = 0
        truth = False
        while True:
            word = words[place]
            place += 1
            work[TESTS] += 1
            if word & TAG != PREDICATE:
                unfinished[depth] = word
                depth += 1
                continue
            truth = truths[word >> BITS] == now
            while depth > 0:
                unfinished[depth - 1] -= 1 << BITS
                missing = unfinished[depth - 1] >> BITS
                decided = truth == (unfinished[depth - 1] & TAG == DISJUNCTION)
                if missing > 0 and not decided:
                    break
                while missing > 0:
                    if words[place] & TAG != PREDICATE:
                        missing += words[place] >> BITS
                    missing -= 1
                    place += 1
                depth -= 1
            if depth == 0:
                break
        if truth:
            out[used] = candidates[each]
            used += 1
    return used
