from collections import Counter

import pytest

from tamis.lab.experiment import Context, Scale
from tamis.lab.listings import Setting, figure, listed, notes, spread, table


def test_a_setting_says_what_it_is() -> None:
    setting = Setting(700, 6, None)
    assert str(setting) == "700 brokers, degree 6, all destinations"
    assert (setting.wanted, setting.events) == (699, 200)
    assert setting.at(Scale.FULL) == setting
    assert setting.at(Scale.QUICK) == Setting(70, 6, None)
    assert Setting(70, 3, 35).at(Scale.QUICK) == Setting(70, 3, 35)
    assert Setting(70, 3, 35).events == 2_000


def test_lists_of_several_graphs() -> None:
    steps: list[tuple[int, int]] = []
    context = Context(Scale.QUICK, 7, lambda *step: steps.append(step))
    found = listed([Setting(8, 3, 3), Setting(8, 3, None)], context)
    assert steps == [(done, 4) for done in range(5)]
    some, everybody = found
    assert [len(each.by_graph) for each in found] == [2, 2]
    assert [each.differing for each in found] == [0, 0]
    assert some.all == Counter(some.by_graph[0]) + Counter(some.by_graph[1])
    assert some.mean < everybody.mean == pytest.approx(sum(everybody.distances) / 2, rel=0.03)
    assert figure(found).series[0].y[-1] == pytest.approx(100)
    assert [len(row) for row in table(found).rows] == [6] * 4
    assert "Lists that differ between the two: 0." in notes(found)[1]
    assert spread(some).startswith("8 brokers, degree 3, 3 destinations: means of ")
