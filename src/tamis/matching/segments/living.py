"""A living index: parts that never change, a head for what came last, and a thread that merges them.

Everything that readers see is one `State`, which writers replace as a whole: a reader takes it once and needs no lock.
Every change has a version; rows and entries know in which versions they are there, so that a reader sees a change
entirely or not at all, also one that takes something away here and adds it there.
"""

import threading
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from itertools import chain, islice
from pathlib import Path
from typing import Any, Final, NamedTuple, TypeAlias

import numpy as np
import numpy.typing as npt
import pyarrow as pa

from tamis.language import Expression
from tamis.matching.errors import IndexChangedError, SubscriptionError
from tamis.matching.ranks.lists import Longs
from tamis.matching.segments import few
from tamis.matching.segments.background import Background
from tamis.matching.segments.draft import Draft, Drafting
from tamis.matching.segments.few import Few
from tamis.matching.segments.head import Entry, Head, part_of
from tamis.matching.segments.ids import Id, Ids
from tamis.matching.segments.part import NEVER, Part, merged
from tamis.matching.segments.reading import match_rows, on_threads
from tamis.matching.segments.rows import LOOSE, POINTS, RANGES, SPREAD
from tamis.matching.segments.sample import Sample
from tamis.matching.segments.saved import Opened, open_saved, save_parts
from tamis.matching.segments.segment import Hits
from tamis.matching.segments.texts import Texts
from tamis.matching.segments.values import Values
from tamis.matching.segments.versions import Folder
from tamis.matching.subscriptions import Found, New, Subscriptions, stacked

#: So many subscriptions that come at once become a part at once.
AT_ONCE: Final = 1024
#: A head of so many entries is made a part in the background.
FULL_HEAD: Final = 2048
#: Anchors of parts with less rows are chosen without asking the sample of events.
LARGE: Final = 16_384
#: Anchors are chosen again when so many events are known, and so many times as many as before.
KNOWN: Final = 4096
OUTDATED: Final = 8
#: Parts whose sizes are within this factor are alike, and so many that are alike are merged.
FACTOR: Final = 8
ALIKE: Final = 4
#: A part of which less than this is left is written anew.
LEFT: Final = 0.6
#: What is done in the background: a part is made of a head, or of other parts.
Task: TypeAlias = Head | list[Part]


class State(NamedTuple):
    """What a reader sees. Only the last head grows."""

    parts: tuple[Part, ...]
    heads: tuple[Head, ...]
    version: int


class Living(Subscriptions):
    """Subscriptions in parts and heads. Any number of threads may read and change it."""

    def __init__(self, path: Path | None = None, opened: Opened | None = None) -> None:
        self._state = State(tuple(opened.parts) if opened is not None else (), (Head(),), 0)
        #: The folder in which it is saved, under which number, and as it was in which version.
        self._saved = (path, opened.number, 0) if path is not None and opened is not None else None
        #: Held by whoever changes the state.
        self._writing = threading.Lock()
        #: Held by whoever saves or refreshes.
        self._saving = threading.Lock()
        self._background: Background[Task] = Background()
        self.sample = Sample()
        #: How many rows were looked at in parts that are no more.
        self._looked_at = 0

    # --- subscriptions ------------------------------------------------------------------------------

    def accept(self, expression: Expression) -> None:
        """Take every condition."""

    @property
    def kind(self) -> type[str] | type[int] | None:
        while True:
            state = self._state
            for part in state.parts:
                if part.alive:
                    return part.ids.kind
            first = next((id for head in state.heads for id in head.by_id), None)
            if first is not None:
                return str if isinstance(first, str) else int
            # As in `_look_up`.
            if self._state is state:
                return None

    def add(self, new: Iterable[New]) -> None:
        coming = iter(new)
        some = list(islice(coming, AT_ONCE))
        if len(some) < AT_ONCE:
            with self._changing() as version:
                if some:
                    self._check_kind(type(some[0].id))
                self.check_new([each.id for each in some])
                for each in some:
                    self._state.heads[-1].append(Entry(each.id, each.expression, each.text, version))
            return
        ids: list[Id] = []
        texts: list[str] = []
        drafting = Drafting()
        # As they come: all of them as expressions would fill memory, and keep the garbage collector busy.
        for each in chain(some, coming):
            ids.append(each.id)
            texts.append(each.text)
            drafting.append(each.expression)
        self.add_draft(Ids.of(ids), drafting.draft(), Texts.of(texts))

    def add_draft(self, ids: Ids, draft: Draft, texts: Texts) -> None:
        """Add subscriptions that are drafted already."""
        seen = self.sample.seen
        part = Part.of(ids, draft, texts, self._hits(len(ids)))
        part.seen = seen
        with self._changing():
            self._check_new(ids)
            self._state = self._state._replace(parts=(*self._state.parts, part))

    def remove(self, ids: Sequence[Id]) -> None:
        with self._changing() as version:
            self._taken_away(ids, version)()

    def replace(self, new: New) -> None:
        with self._changing() as version:
            gone = self._taken_away((new.id,), version)
            # First the new one: whoever looks for the id without a version finds it at any moment.
            self._state.heads[-1].append(Entry(new.id, new.expression, new.text, version))
            gone()

    @contextmanager
    def _changing(self) -> Iterator[int]:
        """Be the only one to change something, in a version that readers see when all is done."""
        with self._writing:
            yield self._state.version + 1
            self._state = self._state._replace(version=self._state.version + 1)
        self._background.look(self)

    def _taken_away(self, ids: Sequence[Id], version: int) -> Callable[[], None]:
        """Return what lets subscriptions be gone from a version on; they must be there."""
        parts, heads, before = self._state
        waiting = [head for head in heads if head.by_id]
        entries = [(head, head.by_id[id]) for head in waiting for id in ids if id in head.by_id]
        rest = [id for id in ids if not any(id in head.by_id for head in waiting)] if waiting else ids
        found = _found(rest, parts, before)
        if sum(len(rows) for rows in found) < len(rest):
            self.check_known(ids)

        def gone() -> None:
            for head, entry in entries:
                head.remove(entry, version)
            for part, rows in zip(parts, found, strict=True):
                if len(rows):
                    part.remove(rows, version)

        return gone

    def known(self, ids: Sequence[Id]) -> npt.NDArray[np.bool_]:
        if len(ids) == 1:
            return np.array([self._look_up(ids[0]) is not None])
        parts, heads, version = self._state
        found = np.fromiter((any(id in head.by_id for head in heads) for id in ids), np.bool_, len(ids))
        if parts and len(ids):
            column = Ids.of(ids)
            for part in parts:
                found |= part.find_many(column, version) >= 0
        return found

    def _look_up(self, id: Id) -> Entry | tuple[Part, int] | None:
        """Return where a subscription is, as an entry or a row."""
        while True:
            state = self._state
            for head in state.heads:
                entry = head.by_id.get(id)
                if entry is not None:
                    return entry
            for part in state.parts:
                row = part.find(id, state.version)
                if row >= 0:
                    return part, row
            # While we looked it may have been put where we did not look.
            if self._state is state:
                return None

    def _check_kind(self, kind: type[str] | type[int]) -> None:
        """Refuse ids of another kind than those that are there, which another thread may just have added."""
        known = self.kind
        if known is not None and known is not kind:
            raise SubscriptionError(f"these ids are no {known.__name__}, like the other ids of this index")

    def _check_new(self, ids: Ids) -> None:
        parts, heads, version = self._state
        if len(ids):
            self._check_kind(ids.kind)
        waiting = {id for head in heads for id in head.by_id}
        if any(part.find_many(ids, version).max(initial=-1) >= 0 for part in parts) or (
            waiting and not waiting.isdisjoint(ids.arrow().to_pylist())
        ):
            self.check_new(ids.arrow().to_pylist())

    def condition(self, id: Id) -> Expression:
        found = self._look_up(id)
        if found is None:
            raise KeyError(f"there is no subscription {id!r}")
        if isinstance(found, Entry):
            return found.expression
        part, row = found
        return part.condition(row)

    def __len__(self) -> int:
        parts, heads, _ = self._state
        return sum(part.alive for part in parts) + sum(map(len, heads))

    def __contains__(self, id: object) -> bool:
        return isinstance(id, str | int) and not isinstance(id, bool) and self._look_up(id) is not None

    def __iter__(self) -> Iterator[Id]:
        parts, heads, version = self._state
        for part in parts:
            yield from part.ids.take(np.flatnonzero(part.living(version)))
        for head in heads:
            yield from [entry.id for entry in head.living(version)]

    # --- events -------------------------------------------------------------------------------------

    def match(self, event: Mapping[str, Any], limit: int) -> list[Id]:
        parts, heads, version = self._state
        found: list[Id] = []
        values = Values(event)
        for part in parts:
            rows = part.match(values, version, limit)
            if len(rows):
                found += part.ids.take(rows)
        for head in heads:
            if head.entries:
                found += head.match(event, version)
        self.sample.note(event)
        return found if len(found) <= limit else found[:limit]

    def match_batches(self, batches: Sequence[pa.RecordBatch], limit: int, kept: bool) -> Found:
        state = self._state
        parts: list[Part | Few] = list(state.parts)
        alive = [part.living(state.version) if part.died is not None else None for part in state.parts]
        for head in state.heads:
            if len(head.entries) > few.MOST:
                part, entries = head.as_part()
                parts.append(part)
                alive.append(np.fromiter((each.is_there(state.version) for each in entries), np.bool_, len(entries)))
            elif some := head.living(state.version):
                parts.append(Few(some))
                alive.append(None)
        answers: list[tuple[Longs, npt.NDArray[Any]]] = []
        for batch in batches:
            answers += match_rows(parts, alive, batch, limit, kept)
            self.sample.note_rows(batch)
        self._background.look(self)
        return Found(*stacked(answers, on_threads), lambda: Ids.concatenated([part.ids for part in parts]).arrow())

    # --- in the background --------------------------------------------------------------------------

    def settle(self) -> None:
        self._freeze(least=1)
        # Enough for what is there now: a head becomes a part; a part is written anew, and merged; and so is what
        # becomes of it.
        self._background.wait(self, 3 * (len(self._state.parts) + len(self._state.heads)))

    def next_task(self) -> Task | None:
        """Return what to do next: a head to make a part of, or parts to merge into one."""
        parts, heads, _ = self._state
        if len(heads) > 1:
            return heads[0]
        if len(heads[-1].entries) >= FULL_HEAD:
            self._freeze(FULL_HEAD)
            return self._state.heads[0]
        alike: dict[int, list[Part]] = {}
        for part in parts:
            if part.alive < LEFT * len(part) or self._is_outdated(part):
                return [part]
            alike.setdefault(int(np.log(max(part.alive, AT_ONCE)) / np.log(FACTOR)), []).append(part)
        for level in sorted(alike):
            if len(alike[level]) >= ALIKE:
                return alike[level]
        return None

    def _is_outdated(self, part: Part) -> bool:
        """Return whether so many events came since that the anchors of a part should be chosen again.

        Not of one in a file, whose memory is shared.
        """
        return part.file is None and len(part) >= LARGE and self.sample.seen >= max(KNOWN, OUTDATED * part.seen)

    def _freeze(self, least: int) -> None:
        """Begin a new head if the last one has so many entries."""
        with self._writing:
            parts, heads, version = self._state
            if len(heads[-1].entries) >= least:
                self._state = State(parts, (*heads, Head()), version)

    def do(self, task: Task) -> None:
        """Make a part of a head, or one of several."""
        if isinstance(task, Head):
            self._make_part(task)
        else:
            self._merge(task)

    def _make_part(self, head: Head) -> None:
        made = head.finished(self._state.version)
        with self._writing:
            parts, heads, version = self._state
            if head not in heads:
                # Something else was opened in the meantime.
                return
            if made is not None:
                part, entries = made
                # What was removed in the meantime.
                died = np.fromiter((entry.died for entry in entries), np.int64, len(entries))
                part.bury(died)
                parts = (*parts, part)
            self._looked_at += head.looked_at
            self._state = State(parts, tuple(each for each in heads if each is not head), version)

    def _merge(self, some: list[Part]) -> None:
        alive = [part.living(self._state.version) for part in some]
        seen = self.sample.seen
        whole, kept = merged(some, alive, self._hits(sum(map(len, some))))
        whole.seen = seen
        with self._writing:
            parts, heads, version = self._state
            if not set(some) <= set(parts):
                # Something else was opened in the meantime.
                return
            # What was removed in the meantime.
            died = [np.full(len(part), NEVER) if part.died is None else part.died for part in some]
            whole.bury(np.concatenate(died)[kept])
            self._looked_at += sum(part.segment.looked_at for part in some)
            rest = tuple(part for part in parts if part not in some)
            self._state = State((*rest, whole) if len(whole) else rest, heads, version)

    def _hits(self, rows: int) -> Hits | None:
        """Return what counts the sample for a part of so many rows; small ones are not worth it."""
        return self.sample.hits if rows >= LARGE else None

    # --- figures ------------------------------------------------------------------------------------

    def stats(self) -> dict[str, Any]:
        parts, heads, version = self._state
        ends = np.zeros(LOOSE + 2, np.int64)
        for part in parts:
            ends[1:] += part.segment.rows.ends[: LOOSE + 1]
        counts = np.diff(ends).tolist()
        return {
            "version": version,
            "parts": [len(part) for part in parts],
            "head": sum(map(len, heads)),
            "chosen": {
                "point": counts[POINTS],
                "range": counts[RANGES],
                "spread": counts[SPREAD],
                "none": counts[LOOSE],
            },
            "candidates": self._looked_at
            + sum(part.segment.looked_at for part in parts)
            + sum(head.looked_at for head in heads),
            "bytes": sum(part.bytes + part.ids.bytes + part.texts.bytes for part in parts),
            "bytes_of_texts": sum(part.texts.bytes for part in parts),
        }

    def save(self, path: Path) -> None:
        self.settle()
        with self._saving:
            parts, heads, version = self._state
            # What others have added since is in a head: without it there would be half of a version.
            late = [entries for head in heads if (entries := head.living(version))]
            parts = (*parts, *(part_of(entries)[0] for entries in late))
            after = self._saved[1] if self._saved is not None and self._saved[0] == path else None
            self._saved = path, save_parts(path, parts, version, after), version

    def refresh(self) -> bool:
        """Take over a newer version from where it was opened or saved, and return whether there was one."""
        if self._saved is None:
            raise ValueError("this index was neither opened nor saved: there is nothing to look for")
        with self._saving, self._writing:
            path, number, version = self._saved
            if Folder(path).versions()[:1] <= [number]:
                return False
            parts, _, current = self._state
            if current != version:
                raise IndexChangedError(f"both this index and {path} were changed: save it elsewhere, or open it anew")
            opened = open_saved(path, parts)
            if opened.engine != "auto":
                raise IndexChangedError(f"{path} is now an index with engine {opened.engine!r}: open it anew")
            self._state = State(tuple(opened.parts), (Head(),), version + 1)
            self._saved = path, opened.number, version + 1
        return True

    def check_invariants(self) -> None:
        parts, heads, version = self._state
        ids = list(self)
        assert len(ids) == len(set(ids)) == len(self)
        assert all(id in self for id in ids)
        for part in parts:
            assert part.removed == int((~part.living(NEVER - 1)).sum())
            part.ids.check_invariants()
        for head in heads:
            assert all(entry.born <= version for entry in head.entries)


def _found(ids: Sequence[Id], parts: Sequence[Part], version: int) -> list[npt.NDArray[Any]]:
    """Return for each part the rows of those of the ids that are there in a version."""
    if not len(ids):
        # Arrow would have to be asked, and the first time it is, it loads for a third of a second.
        return [np.zeros(0, np.int64)] * len(parts)
    if len(ids) == 1:
        rows = [part.find(ids[0], version) for part in parts]
        return [np.array([row] if row >= 0 else [], np.int64) for row in rows]
    column = Ids.of(ids)
    found = [part.find_many(column, version) for part in parts]
    return [rows[rows >= 0] for rows in found]
