import numpy as np
import pyarrow as pa
import pytest

from tamis.lab.workloads import Conjunctions, QueryLog, SparseEvents, Workload, generate
from tamis.lab.workloads.query_log import predicates_of


@pytest.fixture(scope="module")
def workload() -> Workload:
    return generate(QueryLog(subscriptions=20_000, events=400))


@pytest.mark.parametrize(
    ("keyword", "name", "value"),
    [
        ("boolean", "boo", "lea"),
        ("vldb", "vl", "db"),
        ("publish", "pub", "lis"),
        ("subscriptions", "sub", "scr"),
        ("tables", "tab", "les"),
        ("trees", "tr", "ees"),
        ("xml", "x", "ml"),
        ("go", "g", "o"),
    ],
)
def test_a_keyword_becomes_an_attribute_and_a_value(keyword: str, name: str, value: str) -> None:
    names, values = predicates_of(pa.array([keyword]))
    assert (names[0].as_py(), values[0].as_py()) == (name, value)


def test_a_keyword_of_one_letter_is_refused() -> None:
    with pytest.raises(ValueError, match="at least two characters"):
        predicates_of(pa.array(["boolean", "x"]))


def test_the_means_and_the_dimensions_are_those_of_the_source(workload: Workload) -> None:
    assert isinstance(workload.conditions, Conjunctions)
    assert isinstance(workload.events, SparseEvents)
    assert np.diff(workload.conditions.offsets).mean() == pytest.approx(2.78, rel=0.05)
    assert np.diff(workload.events.offsets).mean() == pytest.approx(93.07, rel=0.05)
    assert len(set(workload.conditions.attributes)) == 17_577


def test_no_attribute_is_asked_or_told_twice(workload: Workload) -> None:
    for part in (workload.conditions, workload.events):
        assert isinstance(part, Conjunctions | SparseEvents)
        owners = np.repeat(np.arange(len(part)), np.diff(part.offsets))
        assert len(np.unique(owners * 17_577 + part.codes)) == len(part.codes)


def test_names_and_values_are_halves_of_keywords(workload: Workload) -> None:
    table = workload.conditions.columns()
    assert set(table["operator"].to_pylist()) == {"="}
    for name, value in zip(table["attribute"].to_pylist(), table["low"].to_pylist(), strict=True):
        assert len(value) in {1: (1, 2), 2: (2, 3), 3: (3,)}[len(name)]


def test_queries_and_documents_share_their_popular_keywords(workload: Workload) -> None:
    conditions, events = workload.conditions, workload.events
    assert isinstance(conditions, Conjunctions)
    assert isinstance(events, SparseEvents)
    asked = np.bincount(conditions.codes, minlength=17_577)
    told = np.bincount(events.codes, minlength=17_577)
    popular = np.argsort(-told)[:100]
    assert asked[popular].mean() > 5 * asked.mean()


def test_more_attributes_than_names_are_refused() -> None:
    with pytest.raises(ValueError, match="18,278 possible attributes"):
        generate(QueryLog(subscriptions=1, events=1, dimensions=18_279))
