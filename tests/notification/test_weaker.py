"""The weaker ways keep within radii, but tell too much, or what never was (specs/003 F14)."""

import numpy as np
import pytest

from support.watching import Setting
from tamis.notification import weaker
from tamis.notification.weaker import Violations, Way, Weaker

RADII = np.arange(1, 200, dtype=np.float64)


def values() -> list[float]:
    return [float(each) for each in np.cumsum(np.random.default_rng(1).integers(-12, 14, 300))]


def counted(way: Way, fanout: int = 1) -> Violations:
    told = Weaker(way, RADII, 0.0, fanout)
    for value in values():
        told.update(value)
    return told.violations()


def needed() -> int:
    structure = Setting("scan").make()
    structure.add_many(range(len(RADII)), RADII, RADII)
    structure.update(0.0)
    total = 0
    for value in values():
        structure.update(value)
        total += structure.affected_count
    return total


@pytest.mark.parametrize("fanout", [1, 3])
@pytest.mark.parametrize("way", ["largest", "parents", "pseudo"])
def test_nobody_is_left_behind_but_some_are_told_needlessly(way: Way, fanout: int) -> None:
    found = counted(way, fanout)
    assert found.missed == 0
    assert found.needless > 0
    assert found.told > found.needless
    assert (found.invented > 0) == (way == "pseudo")


def test_a_source_that_serves_everybody_tells_nobody_before_time() -> None:
    assert counted("parents", len(RADII)) == Violations(told=needed(), needless=0, invented=0, missed=0)


def test_telling_all_up_to_the_largest_tells_most_needlessly() -> None:
    largest, parents = counted("largest"), counted("parents")
    assert largest.told - largest.needless < needed() < largest.told
    assert parents.told > 0


def test_one_event_by_hand() -> None:
    # Radii 2, 4, 6 with 100 → 102 for the second one alone: the first is told as well.
    told = Weaker("largest", np.array([2.0, 4.0, 6.0]), 0.0)
    told.centres[:] = 101, 98, 99
    told.update(102)
    assert told.violations() == Violations(told=2, needless=1, invented=0, missed=0)
    assert told.centres.tolist() == [102, 102, 99]


def test_a_tree_by_hand() -> None:
    # The first two are served by the source, the third and fourth by the first one, the fifth by the second one.
    told = Weaker("parents", np.array([2.0, 4.0, 6.0, 8.0, 9.0]), 0.0, 2)
    told.update(3)
    assert told.centres.tolist() == [3, 0, 0, 0, 0]
    told.update(6)
    # The third one is 6 away from the first one, more than their radii differ; so is not the fourth one.
    assert told.centres.tolist() == [6, 6, 6, 0, 6]
    assert told.violations() == Violations(told=5, needless=1, invented=0, missed=0)


@pytest.mark.parametrize("way", ["parents", "pseudo"])
def test_the_plain_twin_tells_the_same(way: Way, monkeypatch: pytest.MonkeyPatch) -> None:
    compiled = counted(way, 3)
    monkeypatch.setattr(weaker, "spread", getattr(weaker.spread, "py_func", weaker.spread))
    assert counted(way, 3) == compiled
