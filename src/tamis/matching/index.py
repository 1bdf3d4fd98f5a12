"""`tamis.Index`: conditions in, events in, ids out."""

from collections.abc import Callable, Iterable, Iterator, Mapping
from pathlib import Path
from typing import Any, TypeAlias

import numpy as np
import pyarrow as pa

from tamis.language import Expression, ExpressionError, parse
from tamis.language.explain import Explanation, explain
from tamis.language.limits import MAX_INTEGER, MIN_INTEGER
from tamis.language.normal import TooManyClausesError, clauses
from tamis.matching import files
from tamis.matching.engine import Engine, Rows, engines, make_engine
from tamis.matching.errors import SubscriptionError
from tamis.matching.matches import Matches

Id: TypeAlias = str | int

#: Rows of a table that are matched at a time.
BATCH_ROWS = 65_536

#: Subscriptions that are handed to an engine at a time.
BULK = 65_536

#: What `engine="auto"` stands for.
AUTO = "scan"


class Index:
    """A set of subscriptions, each an id with a condition, that tells which ones an event meets.

    Ids are strings or 64-bit integers, of one type in one index. Every method either does what it says or raises and
    changes nothing. An index is for one thread at a time.
    """

    def __init__(self, engine: str = "auto") -> None:
        self._name = AUTO if engine == "auto" else engine
        self._engine: Engine = make_engine(self._name)
        self._capabilities = engines()[self._name]
        self._stale = False
        self._positions: dict[Id, int] = {}
        self._ids: list[Id | None] = []
        self._expressions: list[Expression | None] = []
        self._free: list[int] = []
        self._names: pa.Array | None = None
        self._events = 0
        self._matches = 0

    # --- subscriptions ------------------------------------------------------------------------------

    def add(self, id: Id, condition: str | Expression) -> None:
        """Add a subscription. An id that is there already is refused."""
        self._check_id(id)
        self._insert([(id, self._accepted(condition))])

    def add_many(
        self,
        ids: Iterable[Id],
        conditions: Iterable[str | Expression],
        progress: Callable[[int, int], None] | None = None,
    ) -> None:
        """Add many subscriptions, all or none. `progress` is called with how many are done, and of how many."""
        listed, texts = _listed(ids), _listed(conditions)
        if len(listed) != len(texts):
            raise SubscriptionError(f"{len(listed)} ids but {len(texts)} conditions")
        total = 2 * len(listed)
        accepted: dict[Id, Expression] = {}
        for row, (each, condition) in enumerate(zip(listed, texts, strict=True)):
            try:
                self._check_id(each, like=listed[0])
                if each in accepted:
                    raise SubscriptionError(f"subscription {each!r} occurs twice")
                accepted[each] = self._accepted(condition)
            except ExpressionError as error:
                raise SubscriptionError(f"row {row}, subscription {each!r}: {error.one_line()}") from error
            except SubscriptionError as error:
                raise SubscriptionError(f"row {row}: {error}") from None
            if progress is not None:
                progress(row + 1, total)
        pairs = list(accepted.items())
        for first in range(0, len(pairs), BULK):
            self._insert(pairs[first : first + BULK])
            if progress is not None:
                progress(len(pairs) + min(first + BULK, len(pairs)), total)

    def replace(self, id: Id, condition: str | Expression) -> None:
        """Give a subscription that is there another condition."""
        expression = self._accepted(condition)
        position = self._position(id)
        self._expressions[position] = expression
        if self._capabilities.dynamic:
            self._engine.remove(position)
            self._engine.add(position, expression)
        self._stale = not self._capabilities.dynamic

    def remove(self, id: Id) -> None:
        """Remove a subscription."""
        position = self._position(id)
        del self._positions[id]
        self._ids[position] = self._expressions[position] = None
        self._free.append(position)
        self._names = None
        if self._capabilities.dynamic:
            self._engine.remove(position)
        self._stale = not self._capabilities.dynamic

    def condition(self, id: Id) -> Expression:
        """Return the condition of a subscription."""
        return self._expression(self._position(id))

    def __len__(self) -> int:
        return len(self._positions)

    def __contains__(self, id: object) -> bool:
        return type(id) in (str, int) and id in self._positions

    def __iter__(self) -> Iterator[Id]:
        return iter(self._positions)

    # --- events -------------------------------------------------------------------------------------

    def match(self, event: Mapping[str, Any]) -> list[Id]:
        """Return the ids that an event meets, each once, in no particular order."""
        positions = self._current().match(event)
        if not self._capabilities.exact:
            positions = [each for each in positions if self._expression(each).matches(event)]
        self._events += 1
        self._matches += len(positions)
        return [self._id(position) for position in positions]

    def match_batch(self, events: pa.RecordBatch | pa.Table) -> Matches:
        """Return the ids that each row meets. Columns are attributes, struct columns nested ones."""
        if isinstance(events, pa.Table):
            batches = events.to_batches(max_chunksize=BATCH_ROWS)
        elif isinstance(events, pa.RecordBatch):
            batches = [events]
        else:
            raise TypeError(f"match_batch takes a pyarrow RecordBatch or Table, not {type(events).__name__}")
        offsets, positions = [np.zeros(1, np.int64)], [np.empty(0, np.int64)]
        total = 0
        for batch in batches:
            ends, found = self._match_rows(batch)
            offsets.append(ends[1:] + total)
            positions.append(found)
            total += len(found)
        self._events += events.num_rows
        self._matches += total
        return Matches(np.concatenate(offsets), np.concatenate(positions), self._id_array())

    def _match_rows(self, batch: pa.RecordBatch) -> Rows:
        offsets, positions = self._current().match_batch(batch)
        if self._capabilities.exact:
            return offsets, positions
        rows = np.repeat(np.arange(batch.num_rows), np.diff(offsets))
        events = batch.to_pylist()
        kept = np.array(
            [self._expression(each).matches(events[row]) for row, each in zip(rows, positions, strict=True)], np.bool_
        )
        counts = np.bincount(rows[kept], minlength=batch.num_rows)
        return np.concatenate(([0], np.cumsum(counts))).astype(np.int64), positions[kept]

    def explain(self, id: Id, event: Mapping[str, Any]) -> Explanation:
        """Say why a subscription does or does not match an event, predicate by predicate.

        An engine that shares parts of conditions tells besides how many subscriptions contain each part.
        """
        return explain(self.condition(id), event, self._current().shared_by)

    def stats(self) -> dict[str, Any]:
        """Return sizes, candidates per event and bytes."""
        engine = self._current().stats()
        return {
            "engine": self._name,
            "subscriptions": len(self),
            "events": self._events,
            "matches": self._matches,
            "candidates_per_event": engine.pop("candidates") / self._events if self._events else 0.0,
            **engine,
        }

    def check_invariants(self) -> None:
        """Raise `AssertionError` if ids, positions and the engine do not fit together."""
        assert len(self._positions) + len(self._free) == len(self._ids) == len(self._expressions)
        assert all(self._ids[position] == id for id, position in self._positions.items())
        assert all(self._ids[position] is None for position in self._free)
        self._current().check_invariants()

    # --- files --------------------------------------------------------------------------------------

    def save(self, path: str | Path) -> None:
        """Write all subscriptions to a file, which appears only when it is complete."""
        ids = list(self._positions)
        files.write(Path(path), self._name, _arrow_ids(ids), [str(self.condition(each)) for each in ids])

    @classmethod
    def open(cls, path: str | Path) -> "Index":
        """Return the index in a file. A file that is no index, or not whole, is refused with a `ValueError`."""
        engine, ids, conditions = files.read(Path(path))
        index = cls(engine)
        index.add_many(ids, conditions)
        return index

    # --- inside -------------------------------------------------------------------------------------

    def _current(self) -> Engine:
        """Return the engine, built anew if it is not dynamic and something changed."""
        if self._stale:
            self._engine = make_engine(self._name)
            positions = list(self._positions.values())
            self._engine.add_many(positions, [self._expression(position) for position in positions])
            self._stale = False
        return self._engine

    def _check_id(self, id: Id, like: Id | None = None) -> None:
        if type(id) not in (str, int):
            raise SubscriptionError(f"an id is a str or an int, not {type(id).__name__} ({id!r})")
        if isinstance(id, int) and not MIN_INTEGER <= id <= MAX_INTEGER:
            raise SubscriptionError(f"id {id} does not fit in 64 bits")
        first = next(iter(self._positions), like)
        if first is not None and type(first) is not type(id):
            raise SubscriptionError(f"id {id!r} is no {type(first).__name__}, like the other ids of this index")
        if id in self._positions:
            raise SubscriptionError(f"subscription {id!r} is there already; use replace to change it")

    def _accepted(self, condition: str | Expression) -> Expression:
        expression = condition if isinstance(condition, Expression) else parse(condition)
        if not self._capabilities.arbitrary and not _is_conjunction(expression):
            raise SubscriptionError(f"engine {self._name!r} takes conjunctions only, not: {expression}")
        return expression

    def _insert(self, pairs: list[tuple[Id, Expression]]) -> None:
        positions = [self._free.pop() for _ in range(min(len(pairs), len(self._free)))]
        top = len(self._ids)
        fresh = len(pairs) - len(positions)
        positions.extend(range(top, top + fresh))
        self._ids.extend([None] * fresh)
        self._expressions.extend([None] * fresh)
        for position, (id, expression) in zip(positions, pairs, strict=True):
            self._ids[position], self._expressions[position] = id, expression
            self._positions[id] = position
        self._names = None
        self._stale = not self._capabilities.dynamic
        if len(pairs) == 1 and not self._stale:
            self._engine.add(positions[0], pairs[0][1])
        elif not self._stale:
            self._engine.add_many(positions, [expression for _, expression in pairs])

    def _position(self, id: Id) -> int:
        if id not in self:
            raise KeyError(f"there is no subscription {id!r}")
        return self._positions[id]

    def _expression(self, position: int) -> Expression:
        expression = self._expressions[position]
        if expression is None:
            raise AssertionError(f"position {position} is free")
        return expression

    def _id(self, position: int) -> Id:
        found = self._ids[position]
        if found is None:
            raise AssertionError(f"position {position} is free")
        return found

    def _id_array(self) -> pa.Array:
        if self._names is None:
            self._names = _arrow_ids(self._ids)
        return self._names


def _listed(values: Iterable[Any]) -> list[Any]:
    return values.to_pylist() if isinstance(values, pa.Array | pa.ChunkedArray) else list(values)


def _arrow_ids(ids: list[Any]) -> pa.Array:
    texts = any(isinstance(each, str) for each in ids)
    return pa.array(ids, pa.string() if texts else pa.int64())


def _is_conjunction(expression: Expression) -> bool:
    try:
        clauses(expression, limit=1)
    except TooManyClausesError:
        return False
    return True
