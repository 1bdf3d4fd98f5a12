import numpy as np
import pytest
from msgspec.structs import replace

from tamis.lab.workloads import Conjunctions, SparseEvents, XSiena, generate
from tamis.lab.workloads.xsiena import XSIENA_E3_PARETO, XSIENA_E7, XSIENA_E9, law


def parts(spec: XSiena) -> tuple[Conjunctions, SparseEvents]:
    workload = generate(spec)
    assert isinstance(workload.conditions, Conjunctions)
    assert isinstance(workload.events, SparseEvents)
    return workload.conditions, workload.events


def test_laws_have_the_shapes_of_the_source() -> None:
    rng = np.random.default_rng(1)
    normal = rng.normal(0, 0.3, 400_000)
    normal = normal[np.abs(normal) < 1]
    pareto = 1 + rng.pareto(3, 400_000)
    pareto = (pareto[pareto < 10] - 1) / 9
    for cells, values in ((law("normal", 2_000, 10), (normal + 1) / 2), (law("pareto", 2_000, 10), pareto)):
        drawn = np.histogram(values, bins=20, range=(0, 1))[0] / len(values)
        likely = drawn > 0.01
        np.testing.assert_allclose(cells.reshape(20, 100).sum(axis=1)[likely], drawn[likely], rtol=0.05)
    np.testing.assert_allclose(law("uniform", 4, 10), 0.25)


def test_operators_are_even_and_sizes_uniform() -> None:
    conditions, events = parts(XSiena(subscriptions=40_000, events=40_000, names=1_000))
    counts = np.bincount(conditions.predicates.operators, minlength=9)
    np.testing.assert_allclose(counts[[0, 2, 3, 4, 5]] / counts.sum(), 0.2, rtol=0.05)
    assert counts[[1, 6, 7, 8]].sum() == 0
    sizes = np.bincount(np.diff(conditions.offsets))
    np.testing.assert_allclose(sizes[2:] / 40_000, 1 / 7, rtol=0.05)
    sizes = np.bincount(np.diff(events.offsets))
    np.testing.assert_allclose(sizes[2:] / 40_000, 1 / 11, rtol=0.05)
    assert (events.values.min(), events.values.max()) == (-50, 50)


def test_names_follow_their_law() -> None:
    conditions, events = parts(replace(XSIENA_E9, subscriptions=100_000, events=20_000))
    expected = law("pareto", 2_000, 10)
    for codes in (conditions.codes, events.codes):
        shares = np.bincount(codes, minlength=2_000).reshape(20, 100).sum(axis=1) / len(codes)
        np.testing.assert_allclose(shares[:6], expected.reshape(20, 100).sum(axis=1)[:6], rtol=0.05)


def test_values_follow_their_law() -> None:
    _, events = parts(replace(XSIENA_E7, subscriptions=10, events=20_000))
    assert events.values.mean() == pytest.approx(100_000, rel=0.05)
    assert events.values.std() == pytest.approx(0.3 * 100_000, rel=0.05)


def test_the_experiments_have_the_settings_of_the_source() -> None:
    conditions, events = parts(replace(XSIENA_E7, subscriptions=2_000))
    assert set(np.diff(conditions.offsets)) == {2, 3, 4, 5}
    assert set(np.diff(events.offsets)) == {2, 3, 4, 5}
    assert len(events) == 1_000
    conditions, events = parts(XSIENA_E9)
    assert len(conditions) == len(conditions.codes) == 5_000
    assert set(np.diff(events.offsets)) == set(range(1, 11))
    assert len(events) == 10_000
    conditions, _ = parts(replace(XSIENA_E3_PARETO, subscriptions=2_000))
    assert set(np.diff(conditions.offsets)) == set(range(2, 9))
    assert len(conditions.attributes) == 112_505
