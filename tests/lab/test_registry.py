import pkgutil

from tamis.lab import experiments
from tamis.lab.registry import all_experiments


def test_every_module_declares_one_experiment_and_names_its_source() -> None:
    found = all_experiments()
    modules = list(pkgutil.iter_modules(experiments.__path__))
    assert len(found) == len(modules) > 0
    assert list(found) == sorted(found)
    for experiment_id, experiment in found.items():
        assert experiment.id == experiment_id
        assert "specs/" in experiment.source
        assert experiment.title
        assert experiment.setup.endswith(".")


def test_the_first_experiments_are_there() -> None:
    assert {"000-density", "002-workloads"} <= set(all_experiments())
