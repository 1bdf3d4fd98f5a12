"""How large a run is. Every figure names its size, so that runs of different scale are not mixed up."""

import enum
from typing import Final

import msgspec

from tamis.lab.workloads import workloads


class Scale(enum.StrEnum):
    """The choices: for a test, for a look, for a document."""

    TINY = "tiny"
    QUICK = "quick"
    FULL = "full"


class Sizes(msgspec.Struct, frozen=True, kw_only=True):
    """The sizes of a run."""

    #: Subscriptions where the bars are for 100,000, and where they are for 1,000,000.
    usual: int
    large: int
    #: Those of the yardstick that are measured at the large size as well: for some the C++ probe takes gigabytes.
    large_workloads: tuple[str, ...] = ("w-a",)
    #: The workloads of applications.
    applications: int
    events: int
    #: Events of the workloads of the yardstick, which have few attributes.
    yardstick_events: int
    #: Events compared with brute force.
    checked: int
    growth: tuple[int, ...]
    #: Each for one engine of many on one workload of many.
    engines: int
    engine_events: int
    engine_workloads: tuple[str, ...] = tuple(workloads())
    peers: int
    #: Processes that share an index.
    processes: int
    #: Subscriptions added and removed beside matching.
    updates: int
    #: Who is compared takes turns so often, three passes at a time: what else the machine does meets all alike.
    rounds: int


SIZES: Final = {
    Scale.TINY: Sizes(
        usual=400,
        large=600,
        applications=200,
        events=60,
        yardstick_events=60,
        checked=5,
        growth=(200, 400),
        engines=100,
        engine_events=20,
        engine_workloads=("w-a", "market"),
        peers=50,
        processes=2,
        updates=200,
        rounds=1,
    ),
    Scale.QUICK: Sizes(
        usual=100_000,
        large=1_000_000,
        applications=20_000,
        events=1_000,
        yardstick_events=8_192,
        checked=10,
        growth=(1_000, 10_000, 100_000, 1_000_000),
        engines=1_000,
        engine_events=100,
        peers=2_000,
        processes=10,
        updates=100_000,
        rounds=3,
    ),
    Scale.FULL: Sizes(
        usual=100_000,
        large=1_000_000,
        large_workloads=("w-a", "w-e", "w-b", "w-r"),
        applications=100_000,
        events=2_000,
        yardstick_events=8_192,
        checked=25,
        growth=(1_000, 10_000, 100_000, 1_000_000, 10_000_000),
        engines=20_000,
        engine_events=500,
        peers=2_000,
        processes=10,
        updates=1_000_000,
        rounds=5,
    ),
}
