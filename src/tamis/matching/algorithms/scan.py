"""The engine that every other one is measured against: test each expression (SCAN in specs/002 §8)."""

from collections.abc import Mapping
from typing import Any

import numpy as np
import pyarrow as pa

from tamis.language import Expression
from tamis.language.columns import Columns
from tamis.language.normal import Form, form
from tamis.matching.engine import Capabilities, Engine, Rows, register
from tamis.matching.footprint import footprint


@register(
    "scan",
    Capabilities(
        arbitrary=True,
        exact=True,
        dynamic=True,
        batch=True,
        summary="tests every condition: the reference row by row, NumPy and Arrow kernels on columns",
    ),
)
class Scan(Engine):
    """All expressions in a dictionary. A batch is evaluated condition by condition on whole columns."""

    def __init__(self) -> None:
        self._expressions: dict[int, Expression] = {}
        self._forms: dict[int, Form] = {}
        self._candidates = 0

    def add(self, position: int, expression: Expression) -> None:
        self._expressions[position] = expression

    def remove(self, position: int) -> None:
        del self._expressions[position]
        self._forms.pop(position, None)

    def match(self, event: Mapping[str, Any]) -> list[int]:
        self._candidates += len(self._expressions)
        return [position for position, expression in self._expressions.items() if expression.matches(event)]

    def match_batch(self, batch: pa.RecordBatch) -> Rows:
        self._candidates += len(self._expressions) * batch.num_rows
        columns = Columns(batch)
        rows = [np.flatnonzero(columns.mask(self._form(position))) for position in self._expressions]
        met = np.repeat(np.fromiter(self._expressions, np.int64, len(rows)), [len(each) for each in rows])
        flat = np.concatenate(rows) if rows else np.empty(0, np.int64)
        offsets = np.zeros(batch.num_rows + 1, np.int64)
        np.cumsum(np.bincount(flat, minlength=batch.num_rows), out=offsets[1:])
        return offsets, met[np.argsort(flat, kind="stable")]

    def _form(self, position: int) -> Form:
        prepared = self._forms.get(position)
        if prepared is None:
            prepared = self._forms[position] = form(self._expressions[position])
        return prepared

    def stats(self) -> dict[str, Any]:
        return {"candidates": self._candidates, "bytes": footprint(self._expressions, self._forms)}
