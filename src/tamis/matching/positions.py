"""Subscriptions kept by an engine: ids in, positions inside, ids out."""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt
import pyarrow as pa

from tamis.language import Expression
from tamis.language.normal import TooManyClausesError, clauses
from tamis.matching.engine import Engine, Rows, engines, make_engine
from tamis.matching.errors import SubscriptionError
from tamis.matching.segments import saved
from tamis.matching.segments.blocks import NO_LIMIT
from tamis.matching.subscriptions import Found, Id, New, Subscriptions, limited, stacked

#: Subscriptions that are handed to an engine at a time.
BULK = 65_536


class Positions(Subscriptions):
    """The subscriptions of one engine, which knows them by position. For one thread at a time."""

    def __init__(self, name: str) -> None:
        self._name = name
        self._engine: Engine = make_engine(name)
        self._capabilities = engines()[name]
        self._stale = False
        self._positions: dict[Id, int] = {}
        self._ids: list[Id | None] = []
        self._expressions: list[Expression | None] = []
        self._free: list[int] = []
        self._names: pa.Array | None = None

    # --- subscriptions ------------------------------------------------------------------------------

    def accept(self, expression: Expression) -> None:
        if not self._capabilities.arbitrary and not _is_conjunction(expression):
            raise SubscriptionError(f"engine {self._name!r} takes conjunctions only, not: {expression}")

    @property
    def kind(self) -> type[str] | type[int] | None:
        first = next(iter(self._positions), None)
        return None if first is None else str if isinstance(first, str) else int

    def add(self, new: Iterable[New]) -> None:
        listed = list(new)
        self.check_new([each.id for each in listed])
        for first in range(0, len(listed), BULK):
            self._insert(listed[first : first + BULK])

    def _insert(self, new: Sequence[New]) -> None:
        positions = [self._free.pop() for _ in range(min(len(new), len(self._free)))]
        top = len(self._ids)
        fresh = len(new) - len(positions)
        positions.extend(range(top, top + fresh))
        self._ids.extend([None] * fresh)
        self._expressions.extend([None] * fresh)
        for position, each in zip(positions, new, strict=True):
            self._ids[position], self._expressions[position] = each.id, each.expression
            self._positions[each.id] = position
        self._names = None
        self._stale = not self._capabilities.dynamic
        if len(new) == 1 and not self._stale:
            self._engine.add(positions[0], new[0].expression)
        elif not self._stale:
            self._engine.add_many(positions, [each.expression for each in new])

    def remove(self, ids: Sequence[Id]) -> None:
        self.check_known(ids)
        for id in ids:
            position = self._positions.pop(id)
            self._ids[position] = self._expressions[position] = None
            self._free.append(position)
            if self._capabilities.dynamic:
                self._engine.remove(position)
        self._names = None
        self._stale = not self._capabilities.dynamic

    def replace(self, new: New) -> None:
        self.check_known((new.id,))
        position = self._positions[new.id]
        self._expressions[position] = new.expression
        if self._capabilities.dynamic:
            self._engine.remove(position)
            self._engine.add(position, new.expression)
        self._stale = not self._capabilities.dynamic

    def known(self, ids: Sequence[Id]) -> npt.NDArray[np.bool_]:
        return np.fromiter((id in self._positions for id in ids), np.bool_, len(ids))

    def condition(self, id: Id) -> Expression:
        return self._expression(self._positions[id])

    def __len__(self) -> int:
        return len(self._positions)

    def __contains__(self, id: object) -> bool:
        return type(id) in (str, int) and id in self._positions

    def __iter__(self) -> Iterator[Id]:
        return iter(self._positions)

    # --- events -------------------------------------------------------------------------------------

    def match(self, event: Mapping[str, Any], limit: int) -> list[Id]:
        engine, exact = self._current(), self._capabilities.exact
        positions = engine.find(event, limit) if exact and limit < NO_LIMIT else engine.match(event)
        if not exact:
            positions = [each for each in positions if self._expression(each).matches(event)]
        return [self._id(position) for position in positions[:limit]]

    def match_batches(self, batches: Sequence[pa.RecordBatch], limit: int, kept: bool) -> Found:
        found = [limited(*self._match_rows(batch), limit, kept) for batch in batches]
        return Found(*stacked(found), self._id_array)

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

    # --- figures and files --------------------------------------------------------------------------

    def shared_by(self, expression: Expression, negated: bool) -> int | None:
        return self._current().shared_by(expression, negated)

    def stats(self) -> dict[str, Any]:
        return self._current().stats()

    def save(self, path: Path) -> None:
        ids = list(self._positions)
        saved.save_texts(path, self._name, ids, [str(self.condition(each)) for each in ids])

    def check_invariants(self) -> None:
        assert len(self._positions) + len(self._free) == len(self._ids) == len(self._expressions)
        assert all(self._ids[position] == id for id, position in self._positions.items())
        assert all(self._ids[position] is None for position in self._free)
        self._current().check_invariants()

    # --- inside -------------------------------------------------------------------------------------

    def _current(self) -> Engine:
        """Return the engine, built anew if it is not dynamic and something changed."""
        if self._stale:
            self._engine = make_engine(self._name)
            positions = list(self._positions.values())
            self._engine.add_many(positions, [self._expression(position) for position in positions])
            self._stale = False
        return self._engine

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
            texts = any(isinstance(each, str) for each in self._ids)
            self._names = pa.array(self._ids, pa.large_string() if texts else pa.int64())
        return self._names


def _is_conjunction(expression: Expression) -> bool:
    try:
        clauses(expression, limit=1)
    except TooManyClausesError:
        return False
    return True
