"""What a detector is, and the registry of detectors.

A detector holds boxes and answers one question (`cov_l` of specs/000 §4): which of them cover this box? It knows boxes
by *handle*, an integer that its user gives out. A new algorithm is one file with a class decorated with
`@register(name)`; importing that file in `tamis.covering.detectors` puts it under the conformance suite.
"""

from abc import ABC, abstractmethod
from collections.abc import Callable
from typing import Final, TypeAlias, TypeVar

import numpy as np
import numpy.typing as npt

Longs: TypeAlias = npt.NDArray[np.int64]

#: As a limit: all of them.
NO_LIMIT: Final = 2**62
#: As a handle: none.
NOBODY: Final = -1


class Detector(ABC):
    """Boxes of one number of dimensions, which may be none. A box is its lowest and its highest corner, both inside.

    No handle is added twice or removed without having been added. Handles are not negative, and small: a detector may
    keep an entry for each up to the greatest.
    """

    def __init__(self, dimensions: int) -> None:
        self.dimensions = dimensions
        #: How often it was asked.
        self.calls = 0
        #: How many boxes, or nodes that stand for several, were looked at in all.
        self.touched = 0

    @abstractmethod
    def add(self, handle: int, low: Longs, high: Longs) -> None:
        """Hold a box."""

    @abstractmethod
    def remove(self, handle: int) -> None:
        """Forget a box."""

    @abstractmethod
    def coverers(self, low: Longs, high: Longs, limit: int, besides: int = NOBODY) -> list[int]:
        """Return the handles of boxes that contain a box, in any order, never that of `besides`.

        These are all if they are fewer than the limit, otherwise as many as the limit.
        """

    @abstractmethod
    def __len__(self) -> int:
        """Return how many boxes there are."""

    @abstractmethod
    def check_invariants(self) -> None:
        """Raise `AssertionError` if the structure is not what it should be."""


D = TypeVar("D", bound=type[Detector])

_registry: dict[str, type[Detector]] = {}


def register(name: str) -> Callable[[D], D]:
    """Register a detector class, which takes the number of dimensions, under a name."""

    def decorate(detector: D) -> D:
        if name in _registry:
            raise ValueError(f"there is a detector named {name!r} already")
        _registry[name] = detector
        return detector

    return decorate


def detectors() -> dict[str, type[Detector]]:
    """Return all detectors by name."""
    return dict(_registry)


def detector_class(name: str) -> type[Detector]:
    """Return the detector of a name."""
    if name not in _registry:
        raise ValueError(f"there is no detector {name!r}; there are: {', '.join(sorted(_registry))}")
    return _registry[name]
