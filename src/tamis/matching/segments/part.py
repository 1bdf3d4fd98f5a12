"""A part of an index: a segment with the ids and texts of its rows, and which of them were removed since."""

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any, Final

import numpy as np
import numpy.typing as npt
import pyarrow as pa

from tamis.compiled import brief, kernel
from tamis.language import Expression, parse
from tamis.language.tree import ArrayContains, Like
from tamis.matching.errors import IndexFileError
from tamis.matching.ranks.lists import Ints, Longs
from tamis.matching.ranks.space import Dimension
from tamis.matching.segments.arrays import read_arrays, write_arrays
from tamis.matching.segments.cuts import Cuts
from tamis.matching.segments.draft import Draft, joined
from tamis.matching.segments.ids import Id, Ids
from tamis.matching.segments.lines import Lines
from tamis.matching.segments.rows import Rows, checked
from tamis.matching.segments.segment import Hits, Segment, build
from tamis.matching.segments.spelled import expression_of
from tamis.matching.segments.texts import Texts
from tamis.matching.segments.values import Values
from tamis.matching.subscriptions import limited

#: When rows die that were not removed.
NEVER: Final = 2**63 - 1


class Part:
    """Subscriptions that never change, but for being removed. Row n of everything is one subscription.

    `died` says by row from which version of the index on it is gone; none if all are there.
    """

    def __init__(self, segment: Segment, ids: Ids, texts: Texts) -> None:
        self.segment = segment
        self.ids = ids
        self.texts = texts
        self.died: Longs | None = None
        self.removed = 0
        #: How many events were known when its anchors were chosen.
        self.seen = 0
        #: Where it is on disk already.
        self.file: Path | None = None

    @classmethod
    def of(cls, ids: Ids, draft: Draft, texts: Texts, hits: Hits | None = None) -> "Part":
        """Return a part with these subscriptions, whose texts are empty where the draft says it all."""
        segment, order = build(draft, hits)
        return cls(segment, ids.select(order), texts.select(order))

    def whole(self) -> "Part":
        """Return the same part as if nothing had been removed. What never changes is shared."""
        part = Part(self.segment, self.ids, self.texts)
        part.file = self.file
        return part

    def __len__(self) -> int:
        return len(self.ids)

    @property
    def alive(self) -> int:
        """How many rows were not removed."""
        return len(self) - self.removed

    # --- subscriptions ------------------------------------------------------------------------------

    def find(self, id: Id, version: int) -> int:
        """Return the row of an id that is there in a version, or -1."""
        row = self.ids.find(id)
        died = self.died
        return row if row >= 0 and (died is None or died[row] > version) else -1

    def find_many(self, ids: Ids, version: int) -> Longs:
        """Return the rows of ids, and -1 for those that are not there in a version."""
        rows = self.ids.find_many(ids)
        died = self.died
        return rows if died is None else _there(rows, died, version)

    def remove(self, rows: npt.NDArray[Any], version: npt.NDArray[np.int64] | int) -> None:
        """Let rows be gone from a version on."""
        if self.died is None:
            self.died = np.full(len(self), NEVER, np.int64)
        self.died[rows] = version
        self.removed += len(rows)

    def bury(self, died: Longs) -> None:
        """Take over from which versions on rows are gone."""
        gone = np.flatnonzero(died != NEVER)
        if len(gone):
            self.remove(gone, died[gone])

    def condition(self, row: int) -> Expression:
        """Return the condition of a row."""
        text = self.texts[row]
        return parse(text) if text else expression_of(row, self.segment.lines, self.segment.rows)

    # --- events -------------------------------------------------------------------------------------

    def match(self, values: Values, version: int, limit: int) -> Ints:
        """Return the rows that an event meets in a version, at most so many. The next event overwrites them."""
        died = self.died
        if died is None:
            return self.segment.match(values, limit)
        rows = self.segment.match(values)
        return rows[: _keep_living(rows, died, version, limit)]

    def match_batch(
        self, batch: pa.RecordBatch, alive: npt.NDArray[np.bool_] | None, limit: int, kept: bool
    ) -> tuple[Longs, Ints]:
        """Return the rows that the rows of a batch meet, among those that are alive."""
        if alive is None:
            return self.segment.match_batch(batch, limit, kept)
        offsets, rows = self.segment.match_batch(batch)
        there = alive[rows]
        return limited(np.concatenate(([0], np.cumsum(there)))[offsets], rows[there], limit, kept)

    # --- merging ------------------------------------------------------------------------------------

    def living(self, version: int) -> npt.NDArray[np.bool_]:
        """Return for each row whether it is there in a version."""
        return np.ones(len(self), np.bool_) if self.died is None else self.died > version

    @property
    def bytes(self) -> int:
        """How much memory it takes, without ids and texts."""
        return self.segment.bytes + (0 if self.died is None else self.died.nbytes)

    # --- files --------------------------------------------------------------------------------------

    def write(self, path: Path) -> None:
        """Write it to a file, as if nothing had been removed."""
        lines = self.segment.lines
        groups: dict[str, Mapping[str, npt.NDArray[Any]]] = {
            "cuts": lines.cuts._asdict(),
            "rows": self.segment.rows._asdict(),
            "ids": self.ids.arrays(),
            "texts": self.texts.arrays(),
        }
        arrays = {f"{group}.{name}": array for group, held in groups.items() for name, array in held.items()}
        names = [[str(name), not isinstance(name, str)] for name in lines.names]
        write_arrays(path, arrays, {"names": names})
        self.file = path

    @classmethod
    def read(cls, path: Path) -> "Part":
        """Return the part in a file, mapped into memory. What is damaged or foreign is an `IndexFileError`."""
        arrays, meta = read_arrays(path)
        try:
            groups: dict[str, dict[str, npt.NDArray[Any]]] = {}
            for key, array in arrays.items():
                group, _, name = key.partition(".")
                groups.setdefault(group, {})[name] = array
            ids, texts = Ids.from_arrays(groups["ids"]), Texts.from_arrays(groups["texts"])
            cuts, rows = Cuts(**groups["cuts"]), Rows(**groups["rows"])
            lines = Lines(_dimensions(meta["names"]), cuts.checked(len(meta["names"])))
            part = cls(Segment(lines, checked(rows, cuts, len(ids))), ids, texts)
            if len(texts) != len(ids):
                raise ValueError("there are not as many texts as ids")
        except (ValueError, KeyError, TypeError) as error:
            if isinstance(error, IndexFileError):
                raise
            raise IndexFileError(f"{path} is no part of a Tamis index: {error}") from None
        part.file = path
        return part


@brief
def _keep_living(rows: Ints, died: Longs, version: int, limit: int) -> int:
    """Move those of the rows that are there in a version to the front, at most so many, and return how many they are.

    As one step that keeps the lock of Python: NumPy gives it back for these, and a reader that gives it back after
    every event starves a writer, which wakes up each time to find it taken again.
    """
    kept = 0
    for row in rows:
        if kept == limit:
            break
        if died[row] > version:
            rows[kept] = row
            kept += 1
    return kept


@kernel
def _there(rows: Longs, died: Longs, version: int) -> Longs:
    """Return rows, with -1 for those that are not there in a version."""
    found = np.full(len(rows), -1, np.int64)
    for place in range(len(rows)):
        if rows[place] >= 0 and died[rows[place]] > version:
            found[place] = rows[place]
    return found


def merged(parts: Sequence[Part], alive: Sequence[npt.NDArray[np.bool_]], hits: Hits | None) -> tuple[Part, Longs]:
    """Return one part with the given rows of others, and for each of its rows the number of it among those.

    The rows are numbered through all parts, one behind the other.
    """
    drafts = [part.segment.draft(rows) for part, rows in zip(parts, alive, strict=True)]
    segment, order = build(joined(drafts), hits)
    kept = np.flatnonzero(np.concatenate(alive))[order]
    ids = Ids.concatenated([part.ids for part in parts]).select(kept)
    texts = Texts.concatenated([part.texts for part in parts]).select(kept)
    return Part(segment, ids, texts), kept


def _dimensions(names: Sequence[Sequence[Any]]) -> list[Dimension]:
    found: list[Dimension] = []
    for text, is_filter in names:
        name = parse(text) if is_filter else text
        if not isinstance(name, str | Like | ArrayContains):
            raise ValueError(f"{text!r} is no filter")
        found.append(name)
    return found
