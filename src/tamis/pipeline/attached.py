"""A version of an index in a worker: opened once by each process, its memory shared by all processes of a host."""

from functools import lru_cache
from typing import Any, Final, NamedTuple

import numpy as np
import numpy.typing as npt
import pyarrow as pa
import pyarrow.compute as pc

from tamis.matching.ranks.lists import Ints, Longs
from tamis.matching.segments.blocks import NO_LIMIT
from tamis.matching.segments.part import Part
from tamis.matching.segments.saved import open_saved
from tamis.pipeline.manifests import NAME
from tamis.pipeline.particulars import Particulars
from tamis.pipeline.store import Store

#: Versions that a process keeps open: the one in use, the one before, and one for another query.
_OPEN: Final = 4
#: Up to so many bytes, texts are addressed by 32 bits, as Spark wants them.
_SHORT: Final = 2**31 - 1


class Found(NamedTuple):
    """Which subscriptions rows met: row r has `ids[offsets[r] : offsets[r + 1]]`."""

    offsets: npt.NDArray[np.int64]
    ids: pa.Array


class Attached:
    """The shards of a version; with a slot `(number, count)` those whose turn it is among so many slots.

    One task is one thread, as Spark counts its cores: so parts are matched here one after the other, and not by the
    threads of `tamis.Index`, whose answers are the same.
    """

    def __init__(self, path: str, version: int, slot: tuple[int, int] = (0, 1)) -> None:
        store = Store(path)
        manifest = store.manifest(version)
        folders = [store.folder(version) / each.folder for each in manifest.shards[slot[0] :: slot[1]]]
        self.parts = [Ready(part) for folder in folders for part in open_saved(folder).parts]
        self._none = pa.array([], pa.string() if manifest.ids == "string" else pa.int64())

    def match(self, batch: pa.RecordBatch) -> Found:
        """Return which subscriptions the rows of a batch meet."""
        found = [part.match(batch) for part in self.parts]
        if len(found) == 1:
            return found[0]
        if not found:
            return Found(np.zeros(batch.num_rows + 1, np.int64), self._none)
        rows = np.arange(batch.num_rows)
        owner = np.concatenate([np.repeat(rows, np.diff(each.offsets)) for each in found])
        order = np.argsort(owner, kind="stable")
        ids = pa.concat_arrays([each.ids for each in found]).take(pa.array(order))
        return Found(np.sum([each.offsets for each in found], axis=0), ids)


class Ready:
    """A part with what it takes to match it and name its rows."""

    def __init__(self, part: Part) -> None:
        self._part = part
        self._alive = part.living(0) if part.died is not None else None
        ids = part.ids.arrow()
        # The bytes stay where they are, in the mapped file; only the offsets are copied.
        short = ids.type == pa.large_string() and ids.nbytes <= _SHORT
        self._ids = ids.cast(pa.string()) if short else ids
        self._clauses: Longs | None = None

    def match_rows(self, batch: pa.RecordBatch) -> tuple[Longs, Ints]:
        """Return which rows of the part the rows of a batch meet."""
        return self._part.match_batch(batch, self._alive, NO_LIMIT, True)

    def match(self, batch: pa.RecordBatch) -> Found:
        """Return the ids of what the rows of a batch meet."""
        offsets, rows = self.match_rows(batch)
        return Found(offsets, self.ids(rows))

    def ids(self, rows: npt.NDArray[Any]) -> pa.Array:
        """Return the ids of some rows."""
        ids = pc.take(self._ids, pa.array(rows), boundscheck=False)
        return ids.cast(pa.string()) if ids.type == pa.large_string() else ids

    def clauses(self, known: Particulars) -> Longs:
        """Return by row where the particulars of this version have its clause, or -1: it is worked out once."""
        if self._clauses is None:
            self._clauses = known.find(self._ids)
        return self._clauses


def attached(path: str, version: int, slot: tuple[int, int] = (0, 1)) -> Attached:
    """Return a version, which stays open in this process."""
    # Whoever removes a whole store and makes another in its place gets the same numbers again.
    try:
        inode = (Store(path).folder(version) / NAME).stat().st_ino
    except FileNotFoundError:
        inode = 0
    return _opened(path, version, slot, inode)


@lru_cache(maxsize=_OPEN)
def _opened(path: str, version: int, slot: tuple[int, int], inode: int) -> Attached:  # noqa: ARG001 - a key
    return Attached(path, version, slot)
