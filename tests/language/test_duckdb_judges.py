"""DuckDB is an independent judge of what a condition means."""

from typing import Any

import pyarrow as pa

import tamis
from support.duckdb_judge import judged
from support.judges import DIFFERENCES, SCHEMA, Source, assert_agreement

CONDITIONS, EVENTS = 400, 60

#: Where the judges differ from each other, Tamis says what Spark says.
AGAINST_SPARK: list[tuple[str, pa.DataType, Any, bool | None, bool | None]] = [
    # A null among the elements leaves it open whether the value is there.
    ("array_contains(x, 1)", pa.list_(pa.int64()), [2, None], False, None),
]


def test_twenty_thousand_pairs_agree() -> None:
    source = Source(seed=20_26, null_elements=False)
    events = source.events(EVENTS)
    conditions = [source.condition() for _ in range(CONDITIONS)]
    assert CONDITIONS * EVENTS >= 20_000
    (answers,) = judged([(pa.Table.from_pylist(events, SCHEMA), [str(each) for each in conditions])])
    assert_agreement(conditions, events, answers)


def test_differences() -> None:
    cases = DIFFERENCES + AGAINST_SPARK
    answers = judged([(pa.table({"x": pa.array([value], kind)}), [text]) for text, kind, value, _, _ in cases])
    for (text, _, value, theirs, ours), answer in zip(cases, answers, strict=True):
        assert answer == [[theirs]], text
        assert tamis.parse(text).truth({"x": value}) is ours, text
