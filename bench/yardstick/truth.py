"""Brute force: the subscriptions that an event meets, found by looking at every one."""

from collections.abc import Iterator
from itertools import islice

import numpy as np

import tamis
from tamis.lab.workloads import Conjunctions, SparseEvents, Workload
from tamis.lab.workloads.draws import Ints


def true_ids(workload: Workload, rows: int) -> Iterator[Ints]:
    """Yield for each of the first events the numbers of the conditions that it meets, ascending.

    Conjunctions are evaluated on arrays, everything else by `Expression.matches`.
    """
    conditions, events = workload.conditions, workload.events
    if isinstance(conditions, Conjunctions) and isinstance(events, SparseEvents):
        everyone = np.arange(len(conditions))
        for row in range(min(rows, len(events))):
            yield np.flatnonzero(conditions.holds(events, everyone, np.full(len(everyone), row)))
        return
    expressions = [tamis.parse(text) for text in conditions.texts().to_pylist()]
    for event in islice(events.rows(), rows):
        yield np.flatnonzero([expression.matches(event) for expression in expressions])
