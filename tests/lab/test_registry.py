import pickle
import pkgutil
from typing import Any

import pytest

from tamis.lab import experiments
from tamis.lab.experiment import Context, Scale
from tamis.lab.registry import all_experiments
from tamis.lab.spread import Spread


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


class ReachedError(Exception):
    pass


class Reaching(Spread):
    """Sends work and points away, as to another process, and does not wait for them."""

    def run(self, work: Any, points: Any, progress: Any) -> list[Any]:  # noqa: ARG002
        sent, arrived = pickle.loads(pickle.dumps((work, points)))  # noqa: S301
        assert sent is work
        assert len(arrived) == len(points) > 1
        raise ReachedError


@pytest.mark.parametrize("scale", Scale)
@pytest.mark.parametrize("name", [name for name, each in all_experiments().items() if each.grid is not None])
def test_points_of_a_grid_can_run_in_other_processes(name: str, scale: Scale) -> None:
    with pytest.raises(ReachedError):
        all_experiments()[name].run(Context(scale, 7, lambda *_: None, Reaching()))
