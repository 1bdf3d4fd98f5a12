"""The weaker ways keep within radii, but tell too much, or what never was (specs/003 F14)."""

import numpy as np
import pytest

from support.watching import Setting
from tamis.notification.weaker import Violations, Way, Weaker

RADII = np.arange(1, 200, dtype=np.float64)


def values() -> list[float]:
    return [float(each) for each in np.cumsum(np.random.default_rng(1).integers(-12, 14, 300))]


def counted(way: Way) -> Violations:
    weaker = Weaker(way, RADII, 0.0)
    for value in values():
        weaker.update(value)
    return weaker.violations()


def needed() -> int:
    structure = Setting("scan").make()
    structure.add_many(range(len(RADII)), RADII, RADII)
    structure.update(0.0)
    total = 0
    for value in values():
        structure.update(value)
        total += structure.affected_count
    return total


@pytest.mark.parametrize("way", ["largest", "parents", "pseudo"])
def test_nobody_is_left_behind_but_some_are_told_needlessly(way: Way) -> None:
    found = counted(way)
    assert found.missed == 0
    assert found.needless > 0
    assert found.told > found.needless
    assert (found.invented > 0) == (way == "pseudo")


def test_telling_all_up_to_the_largest_tells_most_needlessly() -> None:
    largest, parents = counted("largest"), counted("parents")
    assert largest.told - largest.needless < needed() < largest.told
    assert parents.told > 0


def test_one_event_by_hand() -> None:
    # Radii 2, 4, 6 with 100 → 102 for the second one alone: the first is told as well.
    weaker = Weaker("largest", np.array([2.0, 4.0, 6.0]), 0.0)
    weaker.centres[:] = 101, 98, 99
    weaker.update(102)
    assert weaker.violations() == Violations(told=2, needless=1, invented=0, missed=0)
    assert weaker.centres.tolist() == [102, 102, 99]
