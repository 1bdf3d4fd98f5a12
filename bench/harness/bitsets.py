"""A matcher for one shape only, as a rival: conjunctions of three ranges of floats from 0 to 1, fixed for ever.

It is the prototype that bench/spark.py has to be no slower than, made again so that both run on one machine.
Conditions are clustered by their set of attributes. A cluster has a set of bits for each attribute and each 256th of
its line: the conditions whose range reaches into it. Three such sets and-ed give candidates, whose ends are compared.
Events go through the clusters in blocks, so that a cluster's bits stay in the cache.
"""

from collections.abc import Iterator
from pathlib import Path
from typing import Any, Final

import numpy as np
import pyarrow as pa
from numba import njit

from tamis.matching.segments.bits import lowest, without_lowest

BUCKETS: Final = 256
BLOCK: Final = 4_096
WORD: Final = 64


def build(attribute: Any, low: Any, high: Any, folder: Path) -> None:
    """Write the index of conditions, given the attributes and ends of each, in order of attributes."""
    order = np.lexsort(attribute.T[::-1])
    sets, first, sizes = np.unique(attribute[order], axis=0, return_index=True, return_counts=True)
    words = -(-sizes // WORD)
    base = np.concatenate([[0], np.cumsum(words * attribute.shape[1] * BUCKETS)])
    bits = np.zeros(base[-1], np.uint64)
    _fill(sets, first, sizes, words, base, low[order], high[order], bits)
    folder.mkdir()
    made = {"sets": sets, "first": first, "words": words, "base": base, "bits": bits}
    made |= {"low": low[order], "high": high[order], "ids": order.astype(np.int32)}
    for name, array in made.items():
        np.save(folder / f"{name}.npy", array)


def opened(folder: Path) -> list[Any]:
    """Map an index into memory."""
    names = ("sets", "first", "words", "base", "bits", "low", "high", "ids")
    return [np.load(folder / f"{name}.npy", mmap_mode="r").view(np.ndarray) for name in names]


def found(index: list[Any], values: Any) -> tuple[Any, Any]:
    """Return the ids that each event meets, one after the other, and where those of each event begin."""
    offsets = np.zeros(values.shape[1] + 1, np.int32)
    return _found(values, *index, offsets), offsets


def matcher(folder: str, names: list[str], key: str) -> Any:
    """Return what `mapInArrow` runs: key and ids of each event."""

    def run(batches: Iterator[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
        index = opened(Path(folder))
        for batch in batches:
            values = np.stack([batch.column(name).to_numpy() for name in names])
            ids, offsets = found(index, values)
            lists = pa.ListArray.from_arrays(pa.array(offsets), pa.array(ids))
            yield pa.RecordBatch.from_arrays([batch.column(key), lists], [key, "ids"])

    return run


@njit(cache=True)  # type: ignore[untyped-decorator]
def _fill(sets: Any, first: Any, sizes: Any, words: Any, base: Any, low: Any, high: Any, bits: Any) -> None:
    for cluster in range(len(sets)):
        for place in range(sizes[cluster]):
            bit = np.uint64(1) << np.uint64(place % WORD)
            for at in range(sets.shape[1]):
                least = int(low[first[cluster] + place, at] * BUCKETS)
                most = min(int(high[first[cluster] + place, at] * BUCKETS), BUCKETS - 1)
                for bucket in range(least, most + 1):
                    bits[base[cluster] + (at * BUCKETS + bucket) * words[cluster] + place // WORD] |= bit


@njit(cache=True, nogil=True)  # type: ignore[untyped-decorator]
def _found(
    values: Any, sets: Any, first: Any, words: Any, base: Any, bits: Any, low: Any, high: Any, ids: Any, offsets: Any
) -> Any:
    events = values.shape[1]
    pairs = np.empty((2, 64 * BLOCK), np.int32)
    out = np.empty(64 * max(events, 1), np.int32)
    used = 0
    for begin in range(0, events, BLOCK):
        end = min(begin + BLOCK, events)
        count = 0
        for cluster in range(len(sets)):
            x, y, z = sets[cluster, 0], sets[cluster, 1], sets[cluster, 2]
            long, at = words[cluster], base[cluster]
            for event in range(begin, end):
                u, v, w = values[x, event], values[y, event], values[z, event]
                i = at + min(int(u * BUCKETS), BUCKETS - 1) * long
                j = at + (BUCKETS + min(int(v * BUCKETS), BUCKETS - 1)) * long
                k = at + (2 * BUCKETS + min(int(w * BUCKETS), BUCKETS - 1)) * long
                if count + long * WORD > pairs.shape[1]:
                    larger = np.empty((2, 2 * pairs.shape[1]), np.int32)
                    larger[:, :count] = pairs[:, :count]
                    pairs = larger
                for word in range(long):
                    met = bits[i + word] & bits[j + word] & bits[k + word]
                    while met:
                        row = first[cluster] + word * WORD + lowest(met)
                        met = without_lowest(met)
                        if (
                            low[row, 0] <= u <= high[row, 0]
                            and low[row, 1] <= v <= high[row, 1]
                            and low[row, 2] <= w <= high[row, 2]
                        ):
                            pairs[0, count] = event
                            pairs[1, count] = ids[row]
                            count += 1
        if used + count > len(out):
            more = np.empty(2 * (used + count), np.int32)
            more[:used] = out[:used]
            out = more
        for place in range(count):
            offsets[pairs[0, place] + 1] += 1
        for event in range(begin, end):
            offsets[event + 1] += offsets[event]
        # From the end of each event's ids to their beginning, which then is where the event before it ends.
        for place in range(count - 1, -1, -1):
            event = pairs[0, place]
            offsets[event + 1] -= 1
            out[offsets[event + 1]] = pairs[1, place]
        for event in range(begin, end):
            offsets[event] = offsets[event + 1]
        offsets[end] = used + count
        used += count
    return out[:used]
