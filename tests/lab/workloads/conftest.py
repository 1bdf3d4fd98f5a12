"""An oracle on arrays: how many conjunctions each event meets."""

from collections.abc import Callable

import numpy as np
import pytest

from tamis.lab.workloads import Conjunctions, SparseEvents, Workload
from tamis.lab.workloads.draws import Ints

Counter = Callable[[Workload], Ints]


def _matches(workload: Workload) -> Ints:
    asked, told = workload.conditions, workload.events
    assert isinstance(asked, Conjunctions)
    assert isinstance(told, SparseEvents)
    sizes = np.diff(asked.offsets)
    owners = np.repeat(np.arange(len(asked)), sizes)
    order = np.argsort(asked.codes, kind="stable")
    starts = np.searchsorted(asked.codes[order], np.arange(len(asked.attributes) + 1))
    counts = []
    for first, last in zip(told.offsets, told.offsets[1:], strict=False):
        codes, values = told.codes[first:last], told.values[first:last]
        places = np.concatenate([order[starts[code] : starts[code + 1]] for code in codes])
        true = asked.predicates.accept(places, np.repeat(values, starts[codes + 1] - starts[codes]))
        satisfied = np.bincount(owners[places[true]], minlength=len(asked))
        counts.append(np.count_nonzero(satisfied == sizes))
    return np.array(counts)


@pytest.fixture(scope="session")
def matches() -> Counter:
    """Return a function: the number of conjunctions that each event of a workload meets."""
    return _matches
