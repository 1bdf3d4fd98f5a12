import numpy as np
import pytest

from tamis.lab import watching
from tamis.lab.watching import (
    Entrant,
    Heat,
    Plain,
    arriving,
    figure,
    flat_row,
    loaded,
    quotient_row,
    race,
    slower_row,
    subscribed,
    table,
    time_row,
    wrong_row,
)
from tamis.notification.scan import Scan

RADII = np.array([1.0, 2.0, 2.0, 3.0, 7.0])
ENTRANTS = {
    "scan": Entrant("scan", "radius_ranges"),
    "tree": Entrant("radius-tree", "affected"),
    "ends": Entrant("endpoints", "affected"),
}


def test_brute_force_tells_at_the_radius_and_not_before() -> None:
    plain = Plain(RADII, np.zeros(5))
    assert plain.update(2.0).tolist() == [0, 1, 2]
    assert plain.update(0.25).tolist() == [0]
    assert plain.update(-3.0).tolist() == [0, 1, 2, 3]
    assert plain.centres.tolist() == [-3, -3, -3, -3, 0]


def test_ranges_have_no_other_radius_between() -> None:
    plain = Plain(RADII, np.zeros(5))
    assert plain.ranges(np.array([], np.int64)) == 0
    assert plain.ranges(np.array([0, 1, 3])) == 1
    assert plain.ranges(np.array([0, 3, 4])) == 2


@pytest.mark.parametrize(
    ("count", "told"),
    [(2, [1.5, 3.5]), (4, [0.5, 1.5, 2.5, 3.5]), (8, [0.5, 0.5, 1.5, 1.5, 2.5, 2.5, 3.5, 3.5]), (0, [])],
)
def test_subscriptions_come_evenly_between_values(count: int, told: list[float]) -> None:
    structure = loaded("two-level", subscribed(RADII, np.zeros(5)), 0.0)
    arriving(structure, np.full(count, 50.0), np.array([0.5, 1.5, 2.5, 3.5]))
    assert len(structure) == 5 + count
    late = sorted(row for row in structure.rows() if row.must == 50)
    assert [row.handle for row in late] == list(range(5, 5 + count))
    assert [row.centre for row in late] == told


def heat_of(**entrants: Entrant) -> Heat:
    source = np.random.default_rng(1)
    radii = np.arange(1.0, 200.0)
    values = np.rint(np.cumsum(source.normal(1, 8, 200)))
    return race(entrants or ENTRANTS, subscribed(radii, np.zeros(len(radii))), 0.0, values, 40)


def test_a_race_times_and_judges() -> None:
    heat = heat_of()
    assert list(heat.microseconds) == list(ENTRANTS)
    assert all(time > 0 for time in heat.microseconds.values())
    assert heat.wrong == 0
    # It looks at nobody when the value stays.
    assert 150 < heat.visits["scan"] <= 199
    assert 1 < heat.ranges < heat.affected < 199


def test_a_structure_that_is_wrong_is_found_out(monkeypatch: pytest.MonkeyPatch) -> None:
    real = Scan._move

    def forgetful(self: Scan, value: float | None) -> None:
        real(self, value)
        self._hit = self._hit[1:]

    monkeypatch.setattr(Scan, "_move", forgetful)
    assert heat_of(scan=Entrant("scan", "affected")).wrong > 0


def test_what_is_said_follows_from_the_times() -> None:
    def heat(slow: float, fast: float, wrong: int) -> Heat:
        return Heat({"slow": slow, "fast": fast}, {}, 20.0, 3.0, wrong)

    heats = {10: heat(1.0, 2.0, 0), 100: heat(9.0, 3.0, 2)}
    row = slower_row(heats, "slow", "fast")
    assert (row.ours, row.paper) == (1, 2)
    assert quotient_row(heats, "slow", "fast").ours == 3
    assert flat_row(heats, "fast").ours == 1.5
    assert time_row(heats, "slow").ours == 9
    judged = wrong_row([heats, heats], 50)
    assert judged.label.startswith("answers, of 400 judged")
    assert (judged.ours, judged.paper) == (4, 0)
    assert table("", heats).rows == [["10", 20.0, 3.0, 1.0, 2.0], ["100", 20.0, 3.0, 9.0, 3.0]]
    assert [(each.name, each.panel, each.y) for each in figure({"a": heats}).series] == [
        ("slow", "a", [1.0, 9.0]),
        ("fast", "a", [2.0, 3.0]),
    ]


def test_turns_do_not_change_what_is_found(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(watching, "CHUNK", 10)
    heat = heat_of()
    assert heat.wrong == 0
