"""Boxes and points with a given matching density (specs/000 §3, Experiment A)."""

from collections.abc import Mapping
from typing import Any, ClassVar, Final, Literal

import numpy as np

from tamis.lab.workloads.conjunctions import Conjunctions, conjunctions, numbered, ranges
from tamis.lab.workloads.draws import Floats, truncated_normal
from tamis.lab.workloads.events import SparseEvents, sparse_events
from tamis.lab.workloads.workload import WorkloadSpec

DENSITIES: Final = (0.001, 0.002, 0.005, 0.01, 0.05, 0.1, 0.15, 0.2)
_ATTRIBUTES: Final = 5
#: The standard deviation of the boxes' centres, and the least length for each of the densities (specs/000 §3, [V]).
_CENTRES: Final = {"norm-1": 0.125, "norm-2": 0.25}
_LENGTHS: Final = {
    "norm-1": dict(zip(DENSITIES, (0.162, 0.187, 0.227, 0.263, 0.378, 0.449, 0.499, 0.541), strict=True)),
    "norm-2": dict(zip(DENSITIES, (0.196, 0.227, 0.275, 0.319, 0.460, 0.546, 0.609, 0.661), strict=True)),
}
_MEAN, _DEVIATION = 0.5, 0.25
#: The exponent b of the Pareto law of lengths.
_PARETO: Final = 19


class Shen(WorkloadSpec, frozen=True, kw_only=True):
    """Boxes in [0, 1]**attributes of which an event meets a share, the density.

    `uniform`: sides of length density**(1 / attributes), the left end uniform. `norm-1` and `norm-2`:
    normal events and centres, sides by the Pareto law; their lengths are known for five
    attributes and the source's densities only. [O] Events and centres outside [0, 1] are drawn again.
    """

    GRID: ClassVar[Mapping[str, tuple[Any, ...]]] = {
        "distribution": ("uniform", "norm-1", "norm-2"),
        "density": DENSITIES,
    }

    subscriptions: int = 10_000
    events: int = 1_000
    attributes: int = _ATTRIBUTES
    distribution: Literal["uniform", "norm-1", "norm-2"] = "uniform"
    density: float = 0.01

    def asked(self, rng: np.random.Generator, shared: None, count: int) -> Conjunctions:  # noqa: ARG002
        """Draw boxes."""
        low, high = self._boxes(rng, count)
        codes = np.tile(np.arange(self.attributes), count)
        sizes = np.full(count, self.attributes)
        return conjunctions(numbered(self.attributes), sizes, codes, ranges(low.ravel(), high.ravel()))

    def told(self, rng: np.random.Generator, shared: None, count: int) -> SparseEvents:  # noqa: ARG002
        """Draw points."""
        codes = np.tile(np.arange(self.attributes), count)
        sizes = np.full(count, self.attributes)
        return sparse_events(numbered(self.attributes), sizes, codes, self._points(rng, count).ravel())

    def _boxes(self, rng: np.random.Generator, count: int) -> tuple[Floats, Floats]:
        shape = (count, self.attributes)
        if self.distribution == "uniform":
            length = self.density ** (1 / self.attributes)
            low = rng.uniform(0, 1 - length, shape)
            return low, low + length
        least = _LENGTHS[self.distribution].get(self.density)
        if least is None or self.attributes != _ATTRIBUTES:
            raise ValueError(f"{self.distribution} is known for {_ATTRIBUTES} attributes and the densities {DENSITIES}")
        centres = truncated_normal(rng, _MEAN, _CENTRES[self.distribution], 0, 1, shape)
        lengths = least * (1 + rng.pareto(_PARETO, shape))
        return centres - lengths / 2, centres + lengths / 2

    def _points(self, rng: np.random.Generator, count: int) -> Floats:
        shape = (count, self.attributes)
        if self.distribution == "uniform":
            return rng.random(shape)
        return truncated_normal(rng, _MEAN, _DEVIATION, 0, 1, shape)


SHEN_UNIFORM: Final = Shen()
SHEN_NORM_1: Final = Shen(distribution="norm-1")
SHEN_NORM_2: Final = Shen(distribution="norm-2")
