"""Labels keep the order, and few of them change (specs/003 §5, 6)."""

import math
import random

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from support.watching import EXAMPLES
from tamis.notification.labels import STEP, TOP, insert_label
from tamis.notification.twolevel import LabelTree


@settings(max_examples=EXAMPLES)
@given(places=st.lists(st.floats(0, 1), max_size=60))
def test_labels_are_in_order_wherever_members_are_inserted(places: list[float]) -> None:
    labels = np.zeros(len(places) + 4, np.int64)
    for members, place in enumerate(places):
        before = labels[2 : 2 + members].tolist()
        position = round(place * members)
        first, last = insert_label(labels, 2, members, position)
        now = labels[2 : 3 + members].tolist()
        assert now == sorted(set(now))
        assert now[0] >= 0
        assert now[-1] < TOP
        # Only those that it says have other labels, and the new one.
        kept = [label for at, label in enumerate(now) if at != position]
        assert all(
            old == new
            for at, (old, new) in enumerate(zip(before, kept, strict=True))
            if not first <= at < max(first, last)
        )


@pytest.mark.parametrize("where", ["front", "behind the first", "middle", "behind"])
def test_an_adversary_in_one_gap_moves_a_logarithmic_number_of_labels(where: str) -> None:
    count, moved = 3_000, 0
    labels = np.zeros(count + 1, np.int64)
    for members in range(count):
        position = {"front": 0, "behind the first": min(1, members), "middle": members // 2, "behind": members}[where]
        first, last = insert_label(labels, 0, members, position)
        assert first >= 0
        moved += last - first
    assert (np.diff(labels[:count]) > 0).all()
    assert moved <= 4 * count * math.log2(count)
    if where == "behind":
        assert moved == 0
        assert labels[1] - labels[0] == STEP


def test_shifts_tell_every_new_label() -> None:
    source = random.Random(3)
    tree = LabelTree()
    tree.update(0.0)
    known: dict[int, int] = {}
    epoch = told = 0
    for handle in range(400):
        # The value creeps up between two old centres, so that newcomers fall into one gap.
        tree.update(handle / 1_000 if handle % 2 else 0.5)
        tree.add(handle, 1_000.0, 1_000.0)
        for relabelling in tree.relabellings():
            epoch += 1
            told += len(relabelling.shifts)
            assert (relabelling.may, relabelling.epoch) == (1_000.0, epoch)
            for each, label in known.items():
                (by,) = [shift.by for shift in relabelling.shifts if shift.low <= label <= shift.high] or [0]
                known[each] = label + by
        known[handle] = tree.place(handle).label
        if handle % 50 == 0:
            assert {each: tree.place(each).label for each in known} == known
            assert len(set(known.values())) == len(known)
        if source.random() < 0.1:
            gone = source.choice(list(known))
            tree.remove(gone)
            del known[gone]
    assert {each: tree.place(each).label for each in known} == known
    assert {tree.place(each).epoch for each in known} == {epoch}
    assert epoch > 0
    assert told > 0


def test_an_arc_of_another_epoch_is_refused() -> None:
    tree = LabelTree()
    for handle, value in enumerate((0.0, 5.0, 8.0)):
        tree.update(value)
        tree.add(handle, 10.0, 10.0)
    tree.update(10.0)
    ((arc,),) = [each.arcs for each in tree.ranges()]
    assert arc.meets(tree.place(0))
    assert not arc.meets(tree.place(1))
    # All newcomers fall between two labels, until there is no more room.
    tree.update(6.0)
    for handle in range(3, 100):
        tree.add(handle, 10.0, 10.0)
    assert tree.place(1).epoch > 0
    with pytest.raises(ValueError, match=r"the arc is of epoch 0, but the label of [1-9]: it was relabelled"):
        arc.meets(tree.place(1))
