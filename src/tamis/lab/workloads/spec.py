"""What describes a workload: one frozen spec, every parameter named with its source's default."""

from collections.abc import Mapping
from typing import Any, ClassVar, Generic, TypeVar

import msgspec
import numpy as np

DEFAULT_SEED = 7

Result = TypeVar("Result", covariant=True)
SomeSpec = TypeVar("SomeSpec", bound="Spec[Any]")


class Spec(msgspec.Struct, Generic[Result], frozen=True, kw_only=True):
    """The parameters of one generator. The same spec and seed always give the same result."""

    #: The values at which the source measured each parameter it varied.
    GRID: ClassVar[Mapping[str, tuple[Any, ...]]] = {}

    def draw(self, rng: np.random.Generator) -> Result:  # noqa: ARG002 - every spec has its own
        """Return what the spec describes, all randomness taken from `rng`."""
        raise TypeError(f"{type(self).__name__} does not say what it generates")


def generate(spec: Spec[Result], seed: int = DEFAULT_SEED) -> Result:
    """Return what the spec describes: the same for equal seeds, different for different ones."""
    return spec.draw(np.random.default_rng(seed))


def sweep(spec: SomeSpec, parameter: str) -> list[SomeSpec]:
    """Return one spec for each value at which the source measured this parameter, the others as given."""
    try:
        values = spec.GRID[parameter]
    except KeyError:
        known = ", ".join(spec.GRID) or "none"
        raise ValueError(f"{type(spec).__name__} was not swept over {parameter!r}; known: {known}") from None
    return [msgspec.structs.replace(spec, **{parameter: value}) for value in values]
