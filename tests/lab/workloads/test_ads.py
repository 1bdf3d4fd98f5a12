import numpy as np
import pytest

from tamis.lab.workloads import Ads, ArbitraryAds, Conjunctions, SparseEvents, generate
from tamis.lab.workloads.draws import zipf
from tamis.language import And, Comparison, In, Not, Or, parse


def test_sizes_and_dimensions_are_those_of_the_source() -> None:
    workload = generate(Ads(subscriptions=50_000, events=200))
    conditions, events = workload.conditions, workload.events
    assert isinstance(conditions, Conjunctions)
    assert isinstance(events, SparseEvents)
    sizes = np.diff(conditions.offsets)
    assert sizes.min() == 1
    assert sizes.max() == 56
    assert sizes.mean() == pytest.approx(8, rel=0.05)
    assert len(np.unique(conditions.codes)) == 122
    assert set(np.diff(events.offsets)) == {20}


def test_operators_and_values_have_their_shares() -> None:
    conditions = generate(Ads(subscriptions=50_000, events=10)).conditions
    assert isinstance(conditions, Conjunctions)
    table = conditions.columns()
    counts = dict(zip(*(column.to_pylist() for column in table["operator"].value_counts().flatten()), strict=True))
    shares = {operator: count / table.num_rows for operator, count in counts.items()}
    assert shares == pytest.approx({"=": 0.4, "in": 0.4, "not in": 0.1, "between": 0.1}, rel=0.05)
    equal = conditions.predicates.operators == 0
    values = np.bincount(conditions.predicates.low[equal]) / equal.sum()
    np.testing.assert_allclose(values[:10], zipf(50, 1)[:10], rtol=0.05)


def test_arbitrary_advertisements_mix_and_or_and_not() -> None:
    workload = generate(ArbitraryAds(subscriptions=3_000, events=100))
    expressions = [parse(text) for text in workload.conditions.texts().to_pylist()]
    sizes = [sum(1 for _ in expression.predicates()) for expression in expressions]
    assert min(sizes) == 1
    assert max(sizes) <= 56
    assert np.mean(sizes) == pytest.approx(8, rel=0.05)
    inside = {type(group) for expression in expressions for group in expression.children()}
    assert {Or, Not} <= inside
    assert {And, Comparison, In} == {type(expression) for expression in expressions}
    first = {type(next(iter(expression.predicates()))) for expression in expressions}
    assert first == {Comparison, In}
    assert {len(event) for event in workload.events.rows()} == {20}
    assert ArbitraryAds().subscriptions == 1_392_196


def test_advertisements_may_be_there_several_times() -> None:
    texts = generate(ArbitraryAds(subscriptions=1_000, events=1, repeats=3)).conditions.texts()
    assert len(texts) == 1_000
    counts = texts.value_counts().field("counts").to_pylist()
    # Some are drawn twice: short ones, which ask for little more than an audience.
    assert sum(count % 4 == 0 for count in counts) == len(counts)
    assert 230 <= len(counts) <= 250


def test_how_selective_advertisements_are_is_a_choice() -> None:
    met = {}
    for audience, cardinality in ((True, 1_000), (False, 50)):
        spec = ArbitraryAds(subscriptions=2_000, events=40, audience=audience, cardinality=cardinality)
        workload = generate(spec)
        expressions = [parse(text) for text in workload.conditions.texts().to_pylist()]
        sizes = [sum(1 for _ in expression.predicates()) for expression in expressions]
        assert np.mean(sizes) == pytest.approx(8, rel=0.1)
        events = list(workload.events.rows())
        met[audience] = np.mean([each.matches(event) for each in expressions for event in events])
        # Without an audience, alternatives may come first.
        assert (Or in {type(expression) for expression in expressions}) is not audience
    assert met[True] == pytest.approx(0.003, abs=0.0015)
    assert met[False] == pytest.approx(0.05, abs=0.015)
