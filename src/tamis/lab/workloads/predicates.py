"""Predicates over whole numbers 0 to cardinality - 1, each drawn so that it is true of a given value."""

from typing import Final

import numpy as np
import numpy.typing as npt

from tamis.lab.workloads.conjunctions import Operator, Predicates
from tamis.lab.workloads.draws import Flags, Ints, offsets_of

#: Values in a list, as far as the cardinality allows.
LIST_SIZE: Final = 3
#: A `between` reaches at most this share of the values to either side.
REACH: Final = 0.1

_BOUNDS: Final = (Operator.LT, Operator.LE, Operator.GT, Operator.GE)
_LOWER: Final = (Operator.LT, Operator.LE)


def operators(rng: np.random.Generator, equal: Flags) -> npt.NDArray[np.int8]:
    """Return `=` where told and elsewhere one of the other eight, evenly (specs/002 §9.4, [ours])."""
    others = rng.integers(Operator.NE, Operator.NOT_IN + 1, size=len(equal))
    return np.where(equal, Operator.EQ, others).astype(np.int8)


def true_of(rng: np.random.Generator, chosen: npt.NDArray[np.int8], values: Ints, cardinality: int) -> Predicates:
    """Return predicates with the chosen operators, each true of its value and otherwise narrow.

    The sources do not say how constants are chosen, so: a bound lies at the value itself, and `<` and `>` (or
    `<=` and `>=`) change places so that fewer values remain; which leaves the share of each operator as
    it was, because values lie as often in the upper as in the lower half. A `between` reaches up to a
    tenth of the values to either side, a list has three values.
    """
    if cardinality < 2:
        raise ValueError(f"a cardinality of {cardinality} leaves nothing to choose; it must be at least 2")
    picked = _turned(chosen, values, cardinality)
    low, high = values.copy(), values.copy()

    unequal = picked == Operator.NE
    low[unequal] = (values[unequal] + rng.integers(1, cardinality, size=int(unequal.sum()))) % cardinality
    high[unequal] = low[unequal]

    between = picked == Operator.BETWEEN
    reach = max(1, int(REACH * cardinality))
    spread = rng.integers(0, reach + 1, size=(2, int(between.sum())))
    low[between] = np.maximum(values[between] - spread[0], 0)
    high[between] = np.minimum(values[between] + spread[1], cardinality - 1)

    listed = np.flatnonzero(np.isin(picked, (Operator.IN, Operator.NOT_IN)))
    size = min(LIST_SIZE, cardinality - 1)
    # Ascending draws plus 1, 2, 3 are different from one another and from 0: steps to other values.
    steps = np.sort(rng.integers(0, cardinality - size, size=(len(listed), size)), axis=1) + np.arange(1, size + 1)
    steps[picked[listed] == Operator.IN, 0] = 0
    lists = np.sort((values[listed, None] + steps) % cardinality, axis=1)
    sizes = np.zeros(len(picked), dtype=np.int64)
    sizes[listed] = size
    return Predicates(picked, low, high, offsets_of(sizes), lists.ravel())


def _turned(chosen: npt.NDArray[np.int8], values: Ints, cardinality: int) -> npt.NDArray[np.int8]:
    bound, lower = np.isin(chosen, _BOUNDS), np.isin(chosen, _LOWER)
    up = 2 * values > cardinality - 1
    down = 2 * values < cardinality - 1
    turned = chosen.copy()
    turned[bound & lower & up] += Operator.GT - Operator.LT
    turned[bound & ~lower & down] -= Operator.GT - Operator.LT
    return turned
