"""What is measured: a workload, and the index under test filled with it."""

from collections.abc import Callable
from itertools import islice
from typing import Any

import msgspec
import numpy as np
import pyarrow as pa

import tamis
from harness.predicates import has_columns, predicate_table
from tamis.lab.workloads import Conjunctions, Workload, generate, workloads
from tamis.lab.workloads.draws import Ints
from yardstick.truth import true_ids

#: Rows of the batches in which events are matched.
BATCH_ROWS = 8_192
#: The engine that takes columns.
AUTO = "auto"


class WrongAnswerError(SystemExit):
    """An answer is not what brute force says: nothing that was measured counts."""


class Subject:
    """A workload of the lab at a chosen size."""

    def __init__(self, name: str, subscriptions: int, events: int, **changes: Any) -> None:
        self.name = name
        self.subscriptions = subscriptions
        spec = workloads()[name]
        chosen = {"subscriptions": subscriptions, "events": events, **changes}
        self.workload: Workload = generate(msgspec.structs.replace(spec, **chosen))
        self._truths: dict[int, list[Ints]] = {}
        self.batches: list[pa.RecordBatch] = list(self.workload.events.batches(BATCH_ROWS))

    @property
    def events(self) -> int:
        """How many events there are."""
        return len(self.workload.events)

    def rows(self, most: int | None = None) -> list[dict[str, Any]]:
        """Return the first events as dictionaries."""
        return list(islice(self.workload.events.rows(), most))

    def suits(self, engine: str) -> bool:
        """Say whether an engine takes these conditions."""
        known = tamis.engines()
        return engine == AUTO or known[engine].arbitrary or isinstance(self.workload.conditions, Conjunctions)

    def index(self, engine: str, columns: bool = True) -> tamis.Index:
        """Return an index of all conditions, whose ids are their numbers, with nothing left to do in the background.

        It is filled from columns if that is wanted and possible, otherwise from texts.
        """
        return self.filler(engine, columns)()

    def filler(self, engine: str, columns: bool = True) -> Callable[[], tamis.Index]:
        """Make what an index is filled with, and return a function that fills one."""
        conditions = self.workload.conditions
        if columns and engine == AUTO and isinstance(conditions, Conjunctions) and has_columns(conditions):
            table = predicate_table(conditions)

            def fill(index: tamis.Index) -> None:
                index.add_columns(np.arange(len(conditions)), table)
        else:
            texts = conditions.texts()

            def fill(index: tamis.Index) -> None:
                index.add_many(range(len(conditions)), texts)

        def filled() -> tamis.Index:
            index = tamis.Index(engine=engine)
            fill(index)
            index.settle()
            return index

        return filled

    def match_all(self, index: tamis.Index) -> list[tamis.Matches]:
        """Match all batches."""
        return [index.match_batch(batch) for batch in self.batches]

    def truth(self, checked: int) -> list[Ints]:
        """Return what the first events meet, found by brute force once."""
        if checked not in self._truths:
            self._truths[checked] = list(true_ids(self.workload, checked))
        return self._truths[checked]

    def check(self, index: tamis.Index, checked: int) -> tuple[int, int]:
        """Compare the first answers with brute force; return all matches and the sum of their ids."""
        answers = self.match_all(index)
        truth = zip(self.rows(checked), self.truth(checked), strict=True)
        for row, (event, expected) in enumerate(truth):
            batch, place = divmod(row, BATCH_ROWS)
            self._compare(row, answers[batch].row(place), expected)
            self._compare(row, index.match(event), expected)
        return sum(map(len, answers)), sum(_sum(each.ids) for each in answers)

    def _compare(self, row: int, found: list[Any], expected: Ints) -> None:
        if sorted(found) == expected.tolist():
            return
        missed, extra = sorted({*expected.tolist()} - {*found}), sorted({*found} - {*expected.tolist()})
        raise WrongAnswerError(
            f"wrong answer on {self.name}, {self.subscriptions:,} subscriptions, event {row}: "
            f"{len(missed)} missed {missed[:5]}, {len(extra)} too many {extra[:5]}, {len(found)} in all"
        )

    def agree(self, who: str, ours: tuple[int, int], theirs: tuple[int, int]) -> None:
        """Stop unless both found as many matches with the same sum of ids."""
        if ours != theirs:
            raise WrongAnswerError(f"{who} and Tamis disagree on {self.name}: matches and sum {theirs}, ours {ours}")


def _sum(ids: pa.DictionaryArray) -> int:
    return int(ids.dictionary.to_numpy()[ids.indices.to_numpy()].sum())
