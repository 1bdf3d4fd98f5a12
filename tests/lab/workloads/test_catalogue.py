"""What holds for every workload by name."""

from functools import cache

import numpy as np
import pytest
from msgspec.structs import replace

from tamis.lab.workloads import Conjunctions, SparseEvents, Workload, generate, workloads
from tamis.language import parse
from tamis.language.names import name_of


def small(name: str, seed: int) -> Workload:
    return generate(replace(workloads()[name], subscriptions=200, events=25), seed)


@cache
def first_seed(name: str) -> Workload:
    return small(name, 1)


@pytest.mark.parametrize("name", workloads())
def test_equal_seeds_give_equal_workloads_and_different_ones_do_not(name: str) -> None:
    first, again, other = first_seed(name), small(name, 1), small(name, 2)
    assert len(first.conditions) == 200
    assert len(first.events) == 25
    assert first.spec == again.spec
    assert first.conditions.texts() == again.conditions.texts()
    assert first.conditions.texts() != other.conditions.texts()
    assert list(first.events.rows()) == list(again.events.rows())
    assert list(first.events.rows()) != list(other.events.rows())


@pytest.mark.parametrize("name", workloads())
def test_texts_mean_what_the_arrays_mean(name: str) -> None:
    workload = first_seed(name)
    expressions = [parse(text) for text in workload.conditions.texts().to_pylist()]
    told = list(workload.events.rows())
    met = [expression.matches(event) for expression in expressions for event in told]
    if isinstance(workload.conditions, Conjunctions):
        assert isinstance(workload.events, SparseEvents)
        numbers, rows = np.divmod(np.arange(len(met)), len(told))
        assert workload.conditions.holds(workload.events, numbers, rows).tolist() == met
        names = workload.conditions.columns().group_by("subscription").aggregate([("attribute", "distinct")])
        asked = [{name_of(name) for name in distinct} for distinct in names["attribute_distinct"].to_pylist()]
        assert asked == [expression.attributes for expression in expressions]
    else:
        with pytest.raises(ValueError, match="use texts"):
            workload.conditions.columns()
