import numpy as np

import tamis
from tamis.matching.algorithms.curvegroups import KEY_BITS, LEAST_MEMBERS, MAX_RUNS, Grouping, overlaps, sides_of
from tamis.matching.algorithms.mics import Mics


def grouping(texts: list[str]) -> tuple[Mics, Grouping]:
    engine = Mics()
    engine.add_many(range(len(texts)), [tamis.parse(text) for text in texts])
    engine.match({})
    return engine, engine._grouping


def test_how_likely_subscriptions_overlap() -> None:
    texts = [f"narrow = {number} and wide between {number} and {number + 400} and open > 0" for number in range(500)]
    engine, _ = grouping(texts)
    sides = sides_of(engine.space, engine.held.view(), np.arange(500, dtype=np.int32))
    found = dict(zip(engine.space._names, overlaps(sides, engine.space.dimensions).tolist(), strict=True))
    assert found["open"] == 1
    assert found["narrow"] < 0.1
    assert 0.8 < found["wide"] < 1


def test_runs_hold_the_boxes_and_no_group_reaches_into_another() -> None:
    texts = [f"a between {n} and {n + n % 9} and b between {n % 13} and {n % 13 + 3}" for n in range(100)]
    texts += [f"a between {n} and {n + 3} and c in (1, {n + 5})" for n in range(LEAST_MEMBERS)]
    _, found = grouping(texts)
    owners, starts, ends = found.runs()
    assert (starts >> KEY_BITS == found.group[owners]).all()
    assert (ends >> KEY_BITS == found.group[owners]).all()
    assert np.bincount(owners).max() <= MAX_RUNS
    assert set(owners.tolist()) == set(range(len(texts)))
    # A list of values is more than its hull, so it is not all that a box says.
    assert found.whole.tolist() == [1] * 100 + [0] * LEAST_MEMBERS
    for owner, first, last in zip(owners.tolist(), starts.tolist(), ends.tolist(), strict=True):
        placed, again, _ = found.place(owner, int(found.group[owner]), *found.boxes[owner, :2].T.tolist())
        assert first <= last
        assert placed.tolist() == [owner] * len(again)
        assert first in again
