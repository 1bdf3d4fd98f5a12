import numpy as np
import pytest

from tamis.lab.workloads import BeGen, CoverOperations, Market, Shen, Spec, generate, sweep


def test_a_sweep_varies_one_parameter_over_the_values_of_the_source() -> None:
    specs = sweep(BeGen(dimensions=30_000), "alpha")
    assert [spec.alpha for spec in specs] == [0, 1, 2, 3, 4, 5]
    assert {spec.dimensions for spec in specs} == {30_000}


def test_every_parameter_of_a_grid_is_one_of_the_spec() -> None:
    for spec in (BeGen(), Shen(), CoverOperations()):
        for parameter in spec.GRID:
            assert getattr(spec, parameter) in spec.GRID[parameter]
            assert len(sweep(spec, parameter)) == len(spec.GRID[parameter])


def test_a_sweep_the_source_did_not_make_is_refused_with_those_it_made() -> None:
    with pytest.raises(ValueError, match=r"not swept over 'events'; known: distribution, density"):
        sweep(Shen(), "events")
    with pytest.raises(ValueError, match="known: none"):
        sweep(Market(), "events")


def test_a_spec_cannot_be_changed() -> None:
    with pytest.raises(AttributeError):
        Shen().density = 0.5  # type: ignore[misc]


def test_a_spec_that_generates_nothing_says_so() -> None:
    with pytest.raises(TypeError, match="Spec does not say"):
        Spec[object]().draw(np.random.default_rng(1))


def test_the_seed_decides() -> None:
    spec = Shen(subscriptions=5, events=5)
    first, again, other = (generate(spec, seed).conditions.texts() for seed in (7, 7, 8))
    assert first == again == generate(spec).conditions.texts()
    assert first != other
