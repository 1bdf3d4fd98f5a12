"""The probe's idea in NumPy: subscriptions filed under their rarest predicate, a batch of events at a time."""

from collections.abc import Callable
from time import thread_time
from typing import Final, NamedTuple

import numpy as np
import numpy.typing as npt

from tamis.lab.workloads import Conjunctions, SparseEvents, Workload
from tamis.lab.workloads.draws import Flags, Floats, Ints, Numbers, offsets_of
from yardstick.probe import Probed, ProbeError

ATTRIBUTES: Final = 100
VALUES: Final = 1_000
PASSES: Final = 3
#: Events matched at once.
BATCH: Final = 256

_LEAST, _MOST = np.iinfo(np.int16).min, np.iinfo(np.int16).max
Shorts = npt.NDArray[np.int16]


class _Filed(NamedTuple):
    """Subscriptions by bucket, and their predicates side by side: rarest first, the rest of a row true of all."""

    starts: Ints
    postings: npt.NDArray[np.int32]
    attributes: Shorts
    low: Shorts
    high: Shorts


def run(workload: Workload, batch: int = BATCH) -> Probed:
    """Build and match, the best of three passes; CPU time of this thread."""
    return matcher(workload, batch)()


def matcher(workload: Workload, batch: int = BATCH) -> Callable[[], Probed]:
    """Build; return a function that makes three passes and says how long the best took."""
    conditions, events = workload.conditions, workload.events
    if not isinstance(conditions, Conjunctions) or not isinstance(events, SparseEvents):
        raise ProbeError("the probe takes conjunctions and sparse events only")
    start = thread_time()
    filed = _file(conditions)
    build = thread_time() - start

    def match() -> Probed:
        times = []
        for _ in range(PASSES):
            start = thread_time()
            matches, id_sum, candidates = _match(filed, events, batch)
            times.append(thread_time() - start)
        return Probed(len(conditions), len(events), build, min(times), matches, id_sum, candidates)

    return match


def _file(conditions: Conjunctions) -> _Filed:
    sizes, codes = np.diff(conditions.offsets), conditions.codes
    low, high = conditions.predicates.low, conditions.predicates.high
    if codes.max() >= ATTRIBUTES or low.min() < 0 or high.max() >= VALUES or sizes.min() < 1:
        raise ProbeError(f"the probe knows {ATTRIBUTES} attributes and {VALUES} values, and no empty conjunctions")
    owners = np.repeat(np.arange(len(sizes)), sizes)
    order = np.lexsort((_chances(codes, low, high), owners))
    codes, low, high = codes[order], low[order], high[order]
    places = np.arange(len(codes)) - np.repeat(conditions.offsets[:-1], sizes)
    shape = len(sizes), int(sizes.max())
    side_by_side = np.zeros(shape, np.int16), np.full(shape, _LEAST, np.int16), np.full(shape, _MOST, np.int16)
    for table, column in zip(side_by_side, (codes, low, high), strict=True):
        table[owners, places] = column
    rarest = conditions.offsets[:-1]
    widths = high[rarest] - low[rarest] + 1
    keys = np.repeat(codes[rarest] * VALUES + low[rarest], widths) + _within(widths)
    filed: npt.NDArray[np.int32] = np.repeat(np.arange(len(sizes), dtype=np.int32), widths)
    order = np.argsort(keys, kind="stable")
    return _Filed(np.searchsorted(keys[order], np.arange(ATTRIBUTES * VALUES + 1)), filed[order], *side_by_side)


def _chances(codes: Ints, low: Numbers, high: Numbers) -> Floats:
    """Return how likely each predicate is true, as far as the subscriptions tell."""
    asked = np.bincount(codes, minlength=ATTRIBUTES)
    there = np.minimum(1, asked / asked.max() * 1.2)[codes]
    equal: Flags = low == high
    asked_for = np.bincount(codes[equal] * VALUES + low[equal], minlength=ATTRIBUTES * VALUES) + 0.5
    shares = asked_for / np.repeat(asked_for.reshape(ATTRIBUTES, VALUES).sum(axis=1), VALUES)
    return np.asarray(there * np.where(equal, shares[codes * VALUES + low], (high - low + 1) / VALUES))


def _match(filed: _Filed, events: SparseEvents, batch: int) -> tuple[int, int, int]:
    matches = id_sum = candidates = 0
    for first in range(0, len(events), batch):
        offsets = events.offsets[first : first + batch + 1]
        codes, values = (column[offsets[0] : offsets[-1]] for column in (events.codes, events.values))
        owners = np.repeat(np.arange(len(offsets) - 1), np.diff(offsets))
        told = np.full((len(offsets) - 1, ATTRIBUTES), -1, np.int16)
        told[owners, codes] = values
        keys = codes * VALUES + values
        starts = filed.starts[keys]
        lengths = filed.starts[keys + 1] - starts
        found = filed.postings[np.repeat(starts, lengths) + _within(lengths)]
        rows = np.repeat(owners, lengths)
        candidates += len(found)
        for place in range(1, filed.attributes.shape[1]):
            value = told[rows, filed.attributes[found, place]]
            kept = (value >= filed.low[found, place]) & (value <= filed.high[found, place])
            found, rows = found[kept], rows[kept]
        matches += len(found)
        id_sum += int(found.sum(dtype=np.int64))
    return matches, id_sum, candidates


def _within(sizes: Ints) -> Ints:
    """Return 0, 1, … for each of the sizes, one after the other."""
    ends = offsets_of(sizes)
    return np.arange(ends[-1]) - np.repeat(ends[:-1], sizes)
