"""Which experiments there are: every module of `tamis.lab.experiments` that declares one."""

import importlib
import pkgutil
from functools import cache

from tamis.lab import experiments
from tamis.lab.experiment import Experiment


@cache
def all_experiments() -> dict[str, Experiment]:
    """Return every experiment by its id, in the order of the ids.

    An experiment is one module with an `EXPERIMENT`; nothing else has to be registered.
    """
    found: dict[str, Experiment] = {}
    for module_info in pkgutil.iter_modules(experiments.__path__, f"{experiments.__name__}."):
        experiment: Experiment = importlib.import_module(module_info.name).EXPERIMENT
        if experiment.id in found:
            raise ValueError(f"two experiments are called {experiment.id}")
        found[experiment.id] = experiment
    return dict(sorted(found.items()))
