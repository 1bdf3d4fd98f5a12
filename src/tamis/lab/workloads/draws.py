"""Random draws that several generators share, all of them on whole arrays."""

from typing import Any

import numpy as np
import numpy.typing as npt

Ints = npt.NDArray[np.int64]
Floats = npt.NDArray[np.float64]
Flags = npt.NDArray[np.bool_]
Numbers = npt.NDArray[Any]

#: Rounds of redrawing repeats before the keys of all codes are compared at once.
_REDRAWS = 8
#: Keys held in memory at once.
_KEYS = 1 << 22
_BISECTIONS = 60


def offsets_of(sizes: Ints) -> Ints:
    """Return where each row starts when rows of these sizes lie one after the other, and the end."""
    return np.concatenate([[0], np.cumsum(sizes)]).astype(np.int64)


def zipf(count: int, exponent: float) -> Floats:
    """Return P(r) = C / r**exponent for the ranks 1 to `count`; exponent 0 is the uniform law."""
    weights = np.arange(1, count + 1, dtype=np.float64) ** -exponent
    return np.asarray(weights / weights.sum())


def tilted(low: int, high: int, mean: float) -> Floats:
    """Return the probabilities of `low` to `high`, each a constant factor of the one before, with this mean."""
    if not low <= mean <= high:
        raise ValueError(f"no law on {low} to {high} has the mean {mean}")
    numbers = np.arange(low, high + 1)
    smallest, largest = -50.0, 50.0
    for _ in range(_BISECTIONS):
        slope = (smallest + largest) / 2
        if _powers(numbers, slope) @ numbers < mean:
            smallest = slope
        else:
            largest = slope
    return _powers(numbers, smallest)


def _powers(numbers: Ints, slope: float) -> Floats:
    weights = np.exp(slope * numbers - (slope * numbers).max())
    return np.asarray(weights / weights.sum())


def pick(rng: np.random.Generator, probabilities: Floats, size: int) -> Ints:
    """Draw positions with these probabilities."""
    cumulative = np.cumsum(probabilities)
    found = np.searchsorted(cumulative, rng.random(size) * cumulative[-1], side="right")
    return np.asarray(np.minimum(found, len(probabilities) - 1))


def truncated_normal(
    rng: np.random.Generator,
    mean: float,
    deviation: float,
    low: float,
    high: float,
    size: int | tuple[int, ...],
) -> Floats:
    """Draw from the normal law, again and again where a value lies outside `low` to `high`."""
    values = np.asarray(rng.normal(mean, deviation, size))
    outside = (values < low) | (values > high)
    while outside.any():
        values[outside] = rng.normal(mean, deviation, int(outside.sum()))
        outside = (values < low) | (values > high)
    return values


def subsets(rng: np.random.Generator, log_weights: Floats, size: int) -> Ints:
    """For each row draw `size` different columns, in turn and with chances in proportion to the weights.

    The columns with the largest weight-shifted Gumbel keys are such a draw.
    """
    keys = log_weights + rng.gumbel(size=log_weights.shape)
    return np.argpartition(-keys, size - 1, axis=1)[:, :size]


def distinct(rng: np.random.Generator, probabilities: Floats, sizes: Ints) -> Ints:
    """For each row draw so many different codes: draws are repeated and repeats ignored.

    The rows lie one after the other. Where the law is so skewed that repeats do not end soon, the codes
    still missing are taken by their Gumbel keys, which is the same law.
    """
    if len(sizes) and sizes.max() > np.count_nonzero(probabilities):
        raise ValueError(f"cannot draw {sizes.max()} different codes of {np.count_nonzero(probabilities)}")
    rows = np.repeat(np.arange(len(sizes)), sizes)
    codes = np.empty(len(rows), dtype=np.int64)
    pending = active = np.arange(len(rows))
    for _ in range(_REDRAWS):
        codes[pending] = pick(rng, probabilities, len(pending))
        keys = rows[active] * len(probabilities) + codes[active]
        order = np.argsort(keys, kind="stable")
        repeats = keys[order[1:]] == keys[order[:-1]]
        pending = active[order[1:][repeats]]
        if not len(pending):
            return codes
        unfinished = np.zeros(len(sizes), dtype=np.bool_)
        unfinished[rows[pending]] = True
        active = np.flatnonzero(unfinished[rows])
    _complete(rng, probabilities, rows, codes, active, pending)
    return codes


def _complete(
    rng: np.random.Generator, probabilities: Floats, rows: Ints, codes: Ints, active: Ints, pending: Ints
) -> None:
    with np.errstate(divide="ignore"):
        log_weights = np.log(probabilities)
    pending = np.sort(pending)
    taken = np.setdiff1d(active, pending, assume_unique=True)
    unfinished, counts = np.unique(rows[pending], return_counts=True)
    starts = offsets_of(counts)
    step = max(1, _KEYS // len(probabilities))
    for first in range(0, len(unfinished), step):
        some, missing = unfinished[first : first + step], counts[first : first + step]
        keys = log_weights + rng.gumbel(size=(len(some), len(probabilities)))
        inside = taken[(rows[taken] >= some[0]) & (rows[taken] <= some[-1])]
        keys[np.searchsorted(some, rows[inside]), codes[inside]] = -np.inf
        best = np.argsort(-keys, axis=1)[:, : missing.max()]
        wanted = np.arange(missing.max()) < missing[:, None]
        codes[pending[starts[first] : starts[first + len(some)]]] = best[wanted]
