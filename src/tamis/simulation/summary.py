"""The figures of a run."""

from collections import Counter
from typing import Any

import msgspec
import numpy as np
import numpy.typing as npt


class Spread(msgspec.Struct, frozen=True):
    """How small whole numbers are spread: how often each came."""

    mean: float
    max: int
    distribution: dict[int, int]

    @classmethod
    def of(cls, counts: "Counter[int]") -> "Spread":
        """Sum up numbers of which there is at least one."""
        mean = sum(number * count for number, count in counts.items()) / counts.total()
        return cls(mean, max(counts), dict(sorted(counts.items())))


class Latency(msgspec.Struct, frozen=True):
    """Seconds from publication to delivery."""

    mean: float
    p50: float
    p90: float
    p99: float
    max: float

    @classmethod
    def of(cls, seconds: npt.NDArray[np.float64]) -> "Latency":
        """Sum up times of which there is at least one."""
        found: Any = np.percentile(seconds, (50, 90, 99, 100))
        return cls(float(seconds.mean()), *map(float, found))


class Summary(msgspec.Struct, frozen=True, kw_only=True):
    """What was counted. What cannot be told, such as hops where nothing was delivered, is None."""

    published: int
    deliveries: int
    #: Deliveries that had to be made, those that were not (yet), those to clients who did not want them, and repeated
    #: ones.
    expected: int
    missed: int
    false_positives: int
    duplicates: int
    packets: int
    lost: int
    packets_by_kind: dict[str, int]
    #: How often brokers compared an event with conditions, for each event published.
    matches_per_event: float
    #: All that brokers counted.
    recorded: dict[str, float]
    #: Destinations of packets that name any.
    destinations: Spread | None
    #: Subscriptions kept by a broker.
    stored_mean: float
    stored_max: int
    #: Links between publisher and subscriber, on the way that was taken.
    hops: Spread | None
    latency: Latency | None
    #: Brokers that an event reached over a link, and the share of them that had a client for it (specs/002 §3.5).
    brokers_per_event: float
    accuracy: float | None
