"""What Python workers of Spark run, by the name that plans and the pages of Spark show."""

import gc
from collections.abc import Callable, Iterator
from functools import cache
from typing import TypeAlias

import pyarrow as pa
from pyspark import TaskContext

Batches: TypeAlias = Iterator[pa.RecordBatch]


def by_workers(function: Callable[[Batches], Batches], name: str) -> Callable[[Batches], Batches]:
    """Return a function for `mapInArrow`, under a name for people."""

    def run(batches: Batches) -> Batches:
        yield from function(batches)
        settle_in()

    run.__name__ = name
    return run


@cache
def settle_in() -> None:
    """Let the garbage collector leave alone what a worker has loaded by now, once and for all.

    Spark has it go through everything after each task of a worker, and there are so many modules and compiled kernels
    that this took longer than a small task (33 to 75 ms).
    """
    if TaskContext.get() is not None:
        gc.collect()
        gc.freeze()
