"""Building on one core, from columns and from texts, and how large the index gets."""

import ctypes
import gc
from collections.abc import Callable, Iterator
from functools import partial
from time import process_time
from typing import Final

import numpy as np
import pyarrow as pa

import tamis
from harness.clock import on_cores, resident_bytes
from harness.context import Context, Measured
from harness.figures import Figure, at_least, at_most
from harness.predicates import predicate_table
from harness.subject import AUTO
from tamis.lab.workloads import Conjunctions

SECTION: Final = "build"
#: Conjunctions per second, and bytes of each beyond its text.
RATE: Final = at_least(150_000)
BYTES: Final = at_most(200)
PREDICATES: Final = 5


def run(context: Context) -> Iterator[Figure]:
    """Measure W-A with five predicates in each conjunction."""
    context.warm(context.engine)
    sizes = (context.sizes.usual, context.sizes.large)
    for size in sizes:
        subject = context.subject("w-a", size, fewest_predicates=PREDICATES, most_predicates=PREDICATES)
        conditions = subject.workload.conditions
        figure = Measured(SECTION, f"w-a, {PREDICATES} predicates", size)
        texts = conditions.texts()
        with on_cores(1):
            if context.engine == AUTO and isinstance(conditions, Conjunctions):
                context.doing(f"w-a, {size:,} subscriptions: building from columns")
                ids, predicates = np.arange(size), predicate_table(conditions)
                index = tamis.Index()
                before = _resident()
                seconds = _seconds(index, partial(index.add_columns, ids, predicates))
                grown = _resident() - before
                subject.check(index, context.sizes.checked)
                yield figure("from columns", size / seconds, "per s", RATE)
                yield figure("bytes", index.stats()["bytes"] / size, "bytes each", BYTES)
                yield figure("resident", grown / size, "bytes each")
                del index
            if size == sizes[0]:
                context.doing(f"w-a, {size:,} subscriptions: building from texts")
                index = tamis.Index(engine=context.engine)
                seconds = _seconds(index, partial(index.add_many, range(size), texts))
                yield figure("from texts", size / seconds, "per s")
                yield figure("bytes from texts", index.stats()["bytes"] / size, "bytes each")
                yield figure("the texts", texts.nbytes / size, "bytes each")
                del index


def _seconds(index: tamis.Index, fill: Callable[[], None]) -> float:
    """Return the CPU time of filling an index, with all that this sets off in the background."""
    gc.collect()
    start = process_time()
    fill()
    index.settle()
    return process_time() - start


def _resident() -> int:
    """Return what is resident once freed memory has gone back to the system."""
    gc.collect()
    pa.default_memory_pool().release_unused()
    ctypes.CDLL(None).malloc_trim(0)
    return resident_bytes()
