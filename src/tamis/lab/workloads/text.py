"""Conditions as text, written for whole columns at once."""

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np
import numpy.typing as npt
import pyarrow as pa
import pyarrow.compute as pc

from tamis.lab.workloads.draws import Flags, Ints, offsets_of

#: In a composed condition: the chance that a predicate starts a new group, and that a group is negated.
NEW_GROUP = 0.5
NEGATED_GROUP = 0.1


def literals(values: npt.NDArray[Any] | pa.Array) -> pa.Array:
    """Return numbers or strings as they are written in a condition."""
    array = pa.array(values)
    if pa.types.is_string(array.type):
        return line("'", pc.replace_substring(array, "'", "''"), "'", separator="")
    return array.cast(pa.string())


def line(*parts: pa.Array | str, separator: str = " ") -> pa.Array:
    """Join columns, and words that are the same in every row, row by row."""
    return pc.binary_join_element_wise(*parts, separator)


def joined(texts: pa.Array, offsets: Ints, separator: str) -> pa.Array:
    """Join the texts of each row; a row is the texts between two offsets."""
    return pc.binary_join(pa.ListArray.from_arrays(pa.array(offsets, pa.int32()), texts), separator)


def merged(masks: Sequence[Flags], parts: Sequence[pa.Array]) -> pa.Array:
    """Put the parts together: the rows of each mask, in order, are those of its part."""
    order = np.concatenate([np.flatnonzero(mask) for mask in masks])
    places = np.empty(len(order), dtype=np.int64)
    places[order] = np.arange(len(order))
    return pa.concat_arrays(parts).take(pa.array(places))


def repeated(
    rng: np.random.Generator, count: int, repeats: int, draw: Callable[[np.random.Generator, int], pa.Array]
) -> pa.Array:
    """Draw so many texts, of which each occurs `repeats` times more, in random order."""
    different = -(-count // (repeats + 1))
    texts = draw(rng, different)
    return texts.take(pa.array(rng.permutation(np.resize(np.arange(different), count)))) if repeats else texts


def composed(rng: np.random.Generator, predicates: pa.Array, sizes: Ints) -> pa.Array:
    """Return arbitrary conditions: an `and` of groups, each an `or` of neighbouring predicates, some negated.

    Condition number i is made of the next `sizes[i]` predicates.
    """
    owners = np.repeat(np.arange(len(sizes)), sizes)
    starts = rng.random(len(owners)) < NEW_GROUP
    starts[offsets_of(sizes)[:-1]] = True
    firsts = np.flatnonzero(starts)
    ends = np.append(firsts, len(owners))
    groups = joined(predicates, ends, " or ")
    negated = rng.random(len(firsts)) < NEGATED_GROUP
    alternatives = np.diff(ends) > 1
    plain = ~negated & ~alternatives
    bracketed = ~negated & alternatives
    groups = merged(
        [plain, bracketed, negated],
        [
            groups.filter(pa.array(plain)),
            line("(", groups.filter(pa.array(bracketed)), ")", separator=""),
            line("not (", groups.filter(pa.array(negated)), ")", separator=""),
        ],
    )
    return joined(groups, offsets_of(np.bincount(owners[firsts], minlength=len(sizes))), " and ")
