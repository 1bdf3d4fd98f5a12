"""Who covers whom in a task, against `tamis.covers` on every pair."""

import random

import pyarrow as pa
import pyarrow.compute as pc
from hypothesis import given, settings
from hypothesis import strategies as st

import tamis
from support.judges import Source
from support.stores import table_of
from tamis.covering.containment import Shape, covering, shape
from tamis.pipeline.coverers import CANDIDATES, coverers_in, groups_in, together_in
from tamis.pipeline.outlines import NEVER, OPEN, outlined

CONDITIONS = 70


def conjunctions(seed: int) -> dict[int, str]:
    """Return conjunctions of ranges, equalities, lists and prefixes, crowded together, so that many cover others."""
    chance = random.Random(seed)

    def predicate(name: str) -> str:
        low, width = chance.randrange(8), chance.choice([0, 1, 2, 4])
        if name == "s":
            text = chance.choice(["a", "ab", "abc", "b", "it''s", "a\u00e9"])
            return chance.choice([f"s = '{text}'", f"s like '{text}%'", f"s in ('{text}', 'b')", f"s > '{text}'"])
        if name == "d":
            return f"d between date '2026-01-0{1 + low}' and date '2026-01-{10 + low + width}'"
        return chance.choice(
            [
                f"{name} between {low} and {low + width}",
                f"{name} >= {low} and {name} < {low + width + 1}",
                f"{name} > {low}.5",
                f"{name} = {low}.0",
                f"{name} in ({low}, {low + 1})",
                f"{name} <= {low}",
                f"{name} is not null",
            ]
        )

    def condition() -> str:
        names = sorted(chance.sample(["x", "y", "s", "d"], chance.choice([0, 1, 1, 2, 2, 3])))
        return " and ".join(map(predicate, names)) or chance.choice(["x > 3 and x < 3", "x < 1 and x > 7"])

    return {number: condition() for number in range(CONDITIONS)}


def anything(seed: int) -> dict[int, str]:
    source = Source(seed, null_elements=True)
    return {number: str(source.condition()) for number in range(CONDITIONS)}


class Found:
    """What the tasks say of all conditions, each normal form once."""

    def __init__(self, conditions: dict[int, str]) -> None:
        rows = pa.Table.from_batches(list(outlined(iter(table_of(conditions).to_batches()))))
        self.never = set(rows.filter(pc.equal(rows["state"], NEVER))["id"].to_pylist())
        rows = rows.filter(pc.equal(rows["state"], OPEN))
        forms: dict[bytes, int] = {}
        self.same_as = {
            id: forms.setdefault(digest, id)
            for id, digest in zip(rows["id"].to_pylist(), rows["form"].to_pylist(), strict=True)
        }
        first = rows.filter(pc.is_in(rows["id"], value_set=pa.array(list(forms.values()), pa.int64())))
        answer = coverers_in(first.append_column("home", pa.array([True] * len(first))))
        assert answer["form"].to_pylist() == first["form"].to_pylist()
        self.by = dict(zip(first["id"].to_pylist(), answer["by"].to_pylist(), strict=True))
        self.undecided = {id for id, is_open in zip(self.by, answer["undecided"].to_pylist(), strict=True) if is_open}
        boxes = first.filter(pc.and_(pc.is_null(answer["by"]), first["is_box"]))
        groups = groups_in(boxes).to_pylist()
        self.groups: dict[int, list[int]] = {}
        for row in groups:
            assert conditions[row["id"]] == row["condition"]
            self.groups.setdefault(row["first"], []).append(row["id"])


def check(conditions: dict[int, str]) -> tuple[Found, dict[int, Shape]]:
    """See that all that is claimed is so."""
    found, shapes = Found(conditions), {id: shape(text) for id, text in conditions.items()}
    assert found.never == {id for id, each in shapes.items() if each.form is False}
    for id, first in found.same_as.items():
        assert covering(shapes[id], shapes[first])
        assert covering(shapes[first], shapes[id])
    for id, by in found.by.items():
        if by is not None:
            assert found.by[by] is None
            assert covering(shapes[by], shapes[id])
    for members in found.groups.values():
        assert len(members) > 1
        texts = [conditions[id] for id in members]
        batch = pa.record_batch([pa.array([members]), pa.array([texts])], names=["id", "condition"])
        together = next(together_in(iter([batch])))["condition"][0].as_py()
        assert all(tamis.covers(together, text) for text in texts)
        assert tamis.covers(" or ".join(f"({text})" for text in texts), together)
    return found, shapes


@settings(max_examples=30, deadline=None)
@given(seed=st.integers(0, 2**32))
def test_all_coverings_of_conjunctions_are_found(seed: int) -> None:
    found, shapes = check(conjunctions(seed))
    assert not found.undecided
    for id, by in found.by.items():
        coverers = [other for other in found.by if other != id and covering(shapes[other], shapes[id])]
        assert (by is not None) is bool(coverers)
        # No two that are left say the same.
        assert not any(covering(shapes[id], shapes[other]) for other in coverers)


@settings(max_examples=20, deadline=None)
@given(seed=st.integers(0, 2**32))
def test_conditions_of_any_shape(seed: int) -> None:
    found, shapes = check(anything(seed))
    for id, by in found.by.items():
        if by is None and id not in found.undecided:
            for other in found.by:
                assert not (covering(shapes[other], shapes[id]) and covering(shapes[id], shapes[other]) is False)


def test_equal_conditions_of_different_form_do_not_cover_each_other() -> None:
    found, _ = check({1: "x > 5 or (x > 7 and y > 1)", 2: "x > 5 or (x > 8 and y > 2)", 3: "x > 5", 4: "x > 6"})
    assert found.by == {1: 3, 2: 3, 3: None, 4: 3}
    found, _ = check({1: "x > 5 or (x > 7 and y > 1) or z = 1", 2: "z = 1 or x > 5 or (x > 8 and y > 2)"})
    assert found.by == {1: None, 2: 1}


def test_too_many_candidates_leave_a_condition_undecided() -> None:
    """Lists from the least to the greatest value may all cover what lies between."""
    lists = {number: f"x in (0, {number}, 1000)" for number in range(1, CANDIDATES + 2)}
    found, _ = check(lists | {2000: "x = 5"})
    assert 2000 in found.undecided
    assert found.by[2000] is None
    del lists[1], lists[2]
    found, _ = check(lists | {2000: "x = 5"})
    assert found.by[2000] == 5
