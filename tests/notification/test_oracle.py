"""What is meant, and what does not change it (specs/003 §5, 9 and 12)."""

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from support.watching import EXAMPLES, SETTINGS, Setting, Step, histories, play
from tamis.notification.law import high, low
from tamis.notification.oracle import Oracle

LOOSE = pytest.mark.parametrize("setting", [each for each in SETTINGS if each.loose], ids=str)


def reaches(law: int, centre: float, radius: float, value: float) -> bool:
    return value >= high(law, centre, radius) or value <= low(law, centre, radius)


@LOOSE
@settings(max_examples=EXAMPLES)
@given(steps=histories())
def test_whoever_must_be_told_is_and_whoever_may_not_be_is_not(setting: Setting, steps: list[Step]) -> None:
    before: dict[int, tuple[float, float, float]] = {}
    value: float | None = None
    for structure, _, moved, _ in play(setting, steps):
        if moved and value is not None and structure.value != value:
            assert structure.value is not None
            told = set(structure.affected().tolist())
            must = {h for h, (_, high_, c) in before.items() if reaches(structure.code, c, high_, structure.value)}
            may = {h for h, (low_, _, c) in before.items() if reaches(structure.code, c, low_, structure.value)}
            assert must <= told <= may
            # Every range holds somebody who must be told.
            places = {handle: structure.place(handle) for handle in must}
            assert all(any(each.meets(place) for place in places.values()) for each in structure.ranges())
        before = {row.handle: (row.may, row.must, row.centre) for row in structure.rows()}
        value = structure.value


@LOOSE
@settings(max_examples=EXAMPLES)
@given(steps=histories())
def test_two_equal_radii_are_one(setting: Setting, steps: list[Step]) -> None:
    equal = [(what, [(size, 0) for size, _ in detail] if what == "come" else detail) for what, detail in steps]
    if setting.same:
        return
    strict = play(setting._replace(loose=False, trim=False), equal)
    for loose, plain in zip(play(setting, equal), strict, strict=True):
        if loose.moved:
            assert sorted(loose.structure.affected().tolist()) == sorted(plain.structure.affected().tolist())


@settings(max_examples=EXAMPLES)
@given(
    radii=st.lists(st.integers(1, 20), min_size=1, max_size=12),
    values=st.lists(st.integers(-60, 60), min_size=1, max_size=25),
    by=st.integers(-1000, 1000),
    times=st.sampled_from([0.25, 2.0, 64.0]),
)
@pytest.mark.parametrize("name", ["oracle", "two-level", "radius-runs"])
def test_moving_turning_and_stretching_the_scale_changes_nothing(
    name: str, radii: list[int], values: list[int], by: int, times: float
) -> None:
    def told(scale: float, shift: float) -> list[list[int]]:
        structure = Setting(name).make()
        answers = []
        for number, value in enumerate(values):
            structure.update(value * scale + shift)
            answers.append(sorted(structure.affected().tolist()))
            if number < len(radii):
                structure.add(number, radii[number] * abs(scale), radii[number] * abs(scale))
        return answers

    expected = told(1.0, 0.0)
    assert told(1.0, float(by)) == expected
    assert told(-1.0, 0.0) == expected
    assert told(times, 0.0) == expected


def test_runs_of_the_oracle() -> None:
    oracle = Oracle(loose=True)
    for handle, (may, must) in enumerate([(1, 9), (2, 3), (4, 9), (6, 7), (8, 9)]):
        oracle.add(handle, float(may), float(must))
    oracle.update(0.0)
    assert oracle.runs(5.0) == [[0, 1, 2]]
    oracle.trim = True
    assert oracle.runs(5.0) == [[1]]
    assert oracle.runs(2.5) == []
