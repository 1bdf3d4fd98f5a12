"""Matching rows of events against several parts, by several threads."""

import os
from collections.abc import Callable, Iterable, Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from functools import cache
from itertools import pairwise
from typing import Any, Final, TypeVar

import numpy as np
import numpy.typing as npt
import pyarrow as pa

from tamis.matching.ranks.lists import Longs
from tamis.matching.segments.few import Few
from tamis.matching.segments.part import Part
from tamis.matching.segments.windows import EVENTS
from tamis.matching.subscriptions import limited

A = TypeVar("A")
R = TypeVar("R")

#: Fewer rows than this are not worth a second thread.
ROWS_PER_THREAD: Final = 1024
#: A thread takes so many rows at most before the next ones go to whoever is free: no core waits long for a slower one,
#: and answers fit into memory that was used before.
ROWS_AT_A_TIME: Final = EVENTS


def match_rows(
    parts: Sequence[Part | Few],
    alive: Sequence[npt.NDArray[np.bool_] | None],
    batch: pa.RecordBatch,
    limit: int,
    kept: bool,
) -> list[tuple[Longs, npt.NDArray[Any]]]:
    """Return what rows meet in some parts, numbered through these; one answer for each run of rows.

    `alive` says by part which of its rows count; none if all do.
    """
    threads = min(_cores(), batch.num_rows // ROWS_PER_THREAD)
    if threads < 2:
        return [_match(parts, alive, batch, limit, kept)]
    turns = threads * -(-batch.num_rows // (threads * ROWS_AT_A_TIME))
    edges = [batch.num_rows * number // turns for number in range(turns + 1)]
    slices = [batch.slice(first, last - first) for first, last in pairwise(edges)]
    return list(on_threads(lambda rows: _match(parts, alive, rows, limit, kept), slices))


def on_threads(function: Callable[[A], R], given: Iterable[A]) -> Iterator[R]:
    """Do as `map` does, on all cores."""
    return _pool(_cores()).map(function, given)


def _match(
    parts: Sequence[Part | Few],
    alive: Sequence[npt.NDArray[np.bool_] | None],
    batch: pa.RecordBatch,
    limit: int,
    kept: bool,
) -> tuple[Longs, npt.NDArray[Any]]:
    found: list[tuple[Longs, npt.NDArray[Any]]] = []
    shift = 0
    for part, there in zip(parts, alive, strict=True):
        offsets, rows = part.match_batch(batch, there, limit, kept)
        found.append((offsets, rows + shift if shift else rows))
        shift += len(part)
    if len(found) == 1:
        return found[0]
    if not found:
        return np.zeros(batch.num_rows + 1, np.int64), np.zeros(0, np.int32)
    total = np.sum([offsets for offsets, _ in found], axis=0)
    rows = np.concatenate([rows for _, rows in found])
    if kept:
        owner = np.concatenate([np.repeat(np.arange(batch.num_rows), np.diff(offsets)) for offsets, _ in found])
        rows = rows[np.argsort(owner, kind="stable")]
    else:
        total = np.concatenate(([0], np.cumsum(np.minimum(np.diff(total), limit))))
    return limited(total, rows, limit, kept)


def _cores() -> int:
    """Return how many cores this process may use now."""
    return len(os.sched_getaffinity(0))


@cache
def _pool(threads: int) -> ThreadPoolExecutor:
    return ThreadPoolExecutor(max_workers=threads, thread_name_prefix="tamis-match")


# The threads of a pool are not forked with it.
os.register_at_fork(after_in_child=_pool.cache_clear)
