"""A workload of any size in blocks: each is drawn alone, from a seed of its own, by whoever needs it.

The same spec and seed always give the same blocks, whoever draws them and in which order. Together they are as
`generate` would draw them, but not the same: there all comes from one seed, one after the other.
"""

from collections.abc import Iterator
from functools import lru_cache
from typing import Any, Final

import numpy as np
import pyarrow as pa

from tamis.lab.workloads.workload import WorkloadSpec

#: Conditions or events in a block. With another size, the same seed gives another workload.
BLOCK: Final = 1 << 14
#: The column that tells events apart.
EVENT_ID: Final = "event_id"
SUBSCRIPTIONS: Final = pa.schema([("id", pa.int64()), ("condition", pa.string())])
#: Attributes that a table may have as columns; Spark and Parquet take long for more.
MOST_COLUMNS: Final = 5_000

# What is drawn from a seed, apart from all else that is.
_ASKED, _TOLD = 1, 2


def blocks(count: int) -> int:
    """Return how many blocks so many conditions or events are."""
    return -(-count // BLOCK)


def event_schema(spec: WorkloadSpec, seed: int) -> pa.Schema:
    """Return the columns of events; `ValueError` if there would be too many."""
    schema = spec.told(np.random.default_rng(seed), _shared(spec, seed), 1).schema
    if len(schema) > MOST_COLUMNS:
        raise ValueError(f"its events have {len(schema):,} attributes; a table has at most {MOST_COLUMNS:,} columns")
    return schema.insert(0, pa.field(EVENT_ID, pa.int64()))


def subscription_block(spec: WorkloadSpec, seed: int, number: int) -> Iterator[pa.RecordBatch]:
    """Yield the subscriptions of a block; they are numbered through all blocks."""
    rng, rows = np.random.default_rng([seed, _ASKED, number]), _rows(spec.subscriptions, number)
    texts = spec.asked(rng, _shared(spec, seed), len(rows)).texts()
    yield pa.RecordBatch.from_arrays([pa.array(rows, pa.int64()), texts], schema=SUBSCRIPTIONS)


def event_block(spec: WorkloadSpec, seed: int, number: int) -> Iterator[pa.RecordBatch]:
    """Yield the events of a block, some at a time; they are numbered through all blocks."""
    rng, rows = np.random.default_rng([seed, _TOLD, number]), _rows(spec.events, number)
    first = rows.start
    for batch in spec.told(rng, _shared(spec, seed), len(rows)).batches():
        ids = pa.array(range(first, first + len(batch)), pa.int64())
        first += len(batch)
        yield pa.RecordBatch.from_arrays([ids, *batch.columns], names=[EVENT_ID, *batch.schema.names])


def _rows(count: int, number: int) -> range:
    return range(number * BLOCK, min(count, (number + 1) * BLOCK))


@lru_cache(maxsize=2)
def _shared(spec: WorkloadSpec, seed: int) -> Any:
    """Return what all blocks share: it may take seconds to draw."""
    return spec.shared(np.random.default_rng(seed))
