import gc
import weakref
from typing import Any

import numpy as np
import pyarrow as pa

import tamis
from tamis.matching.segments.draft import draft_of
from tamis.matching.segments.sample import Sample
from tamis.matching.segments.segment import build


def test_it_counts_where_events_fall() -> None:
    segment, _ = build(draft_of([tamis.parse("a = 1"), tamis.parse("a > 5")]))
    sample = Sample()
    assert sample.hits(segment.lines) == (None, 0), "few events say nothing"
    sample.note_rows(pa.record_batch({"a": [9] * 100}))
    for number in range(70):
        sample.note({"a": number % 2})
    hits, events = sample.hits(segment.lines)
    assert hits is not None
    assert events > 70
    assert hits.sum() == events
    [one] = segment.lines.leaves_of({"a": 1})
    [nine] = segment.lines.leaves_of({"a": 9})
    assert hits[one] == 35
    assert hits[nine] == events - 70


def test_it_holds_on_to_nothing_that_is_not_its_own() -> None:
    sample = Sample()
    event: dict[str, Any] = {"a": 1}
    sample.note(event)
    event["b"] = 2
    assert sample.events(5) == [{"a": 1}]
    values = np.arange(1_000_000)
    gone = weakref.ref(values)
    sample.note_rows(pa.record_batch({"a": pa.array(values)}))
    del values
    gc.collect()
    assert gone() is None, "a few rows do not keep a whole batch in memory"


def test_the_last_ones_are_kept() -> None:
    sample = Sample()
    for number in range(10_000):
        sample.note({"a": number})
    assert len(sample.events(10_000)) < 1000
    assert sample.events(1)[0]["a"] > 9000
    sample.note_rows(pa.record_batch({"a": pa.array([], pa.int64())}))
    assert sample.events(1)[0]["a"] > 9000
