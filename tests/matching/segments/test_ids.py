import os
import subprocess
import sys
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from tamis.matching.errors import SubscriptionError
from tamis.matching.segments.arrays import read_arrays, write_arrays
from tamis.matching.segments.ids import Ids

texts = st.text(st.characters(codec="utf-8"), max_size=12) | st.sampled_from(["", "a", "aa", "é", "a\0", "\0", "𝄞"])
numbers = st.integers(-(2**63), 2**63 - 1) | st.integers(-3, 3)
columns: st.SearchStrategy[Any] = st.lists(texts, max_size=40) | st.lists(numbers, max_size=40)
pairs: st.SearchStrategy[Any] = st.tuples(st.lists(texts, max_size=30), st.lists(texts, max_size=30)) | st.tuples(
    st.lists(numbers, max_size=30), st.lists(numbers, max_size=30)
)


def first_rows(ids: list[Any]) -> dict[Any, int]:
    rows: dict[Any, int] = {}
    for row, id in enumerate(ids):
        rows.setdefault(id, row)
    return rows


def content(ids: Ids) -> list[Any]:
    found: list[Any] = ids.arrow().to_pylist()
    return found


@given(columns)
def test_it_is_a_list_and_a_dictionary(ids: list[Any]) -> None:
    column, oracle = Ids.of(ids), first_rows(ids)
    assert len(column) == len(ids)
    assert column.kind is (int if ids and isinstance(ids[0], int) else str)
    assert content(column) == ids
    assert column.take(np.arange(len(ids))) == ids
    assert column.take(np.arange(len(ids))[::-1]) == ids[::-1]
    column.check_invariants()
    repeated = [id for row, id in enumerate(ids) if oracle[id] < row]
    assert column.first_repeated() == (repeated[0] if repeated else None)


@given(pairs)
def test_ids_are_found_or_not(lists: tuple[list[Any], list[Any]]) -> None:
    ids, others = lists
    column, oracle = Ids.of(ids), first_rows(ids)
    assert [column.find(other) for other in others] == [oracle.get(other, -1) for other in others]
    assert column.find_many(Ids.of(others)).tolist() == [oracle.get(other, -1) for other in others]


@given(st.lists(columns, max_size=4), st.data())
def test_merges(lists: list[list[Any]], data: st.DataObject) -> None:
    kinds = {type(ids[0]) for ids in lists if ids}
    parts = [Ids.of(ids) for ids in lists]
    if len(kinds) == 2:
        with pytest.raises(SubscriptionError, match="of one kind"):
            Ids.concatenated(parts)
        return
    merged = Ids.concatenated(parts)
    whole = [id for ids in lists for id in ids]
    assert content(merged) == whole
    rows = data.draw(st.lists(st.integers(0, len(whole) - 1), max_size=20)) if whole else []
    selected = merged.select(np.array(rows, np.int64))
    assert content(selected) == [whole[row] for row in rows]
    assert selected.kind is merged.kind
    selected.check_invariants()


@settings(max_examples=30)
@given(columns)
def test_arrays_come_back(ids: list[Any]) -> None:
    column = Ids.of(ids)
    again = Ids.from_arrays(column.arrays())
    assert (content(again), again.kind, again.bytes) == (ids, column.kind, column.bytes)
    again.check_invariants()


@pytest.mark.parametrize("ids", [["a", "é", ""], [3, -1, 2**63 - 1], []])
def test_a_file_of_ids_is_used_without_copying(ids: list[Any], tmp_path: Path) -> None:
    write_arrays(tmp_path / "ids", Ids.of(ids).arrays(), {})
    arrays, _ = read_arrays(tmp_path / "ids")
    opened = Ids.from_arrays(arrays)
    assert content(opened) == ids
    opened.check_invariants()
    assert all(np.shares_memory(array, arrays[name]) for name, array in opened.arrays().items() if array.size)
    # Arrow sees the same memory.
    for buffer in opened.arrow().buffers()[1:]:
        addresses = [array.ctypes.data for array in arrays.values()]
        assert buffer.address in addresses


@pytest.mark.parametrize("kind", [str, int])
def test_a_hundred_thousand(kind: type) -> None:
    ids = [kind(number * 64) for number in range(100_000)]
    column, order = Ids.of(ids), np.random.default_rng(5).permutation(len(ids))
    assert column.find_many(column.select(order)).tolist() == order.tolist()
    absent = Ids.of([kind(number * 64 + 1) for number in range(100_000)])
    assert (column.find_many(absent) == -1).all()
    assert column.first_repeated() is None
    assert column.take(order[:1000]) == [ids[row] for row in order[:1000].tolist()]
    assert column.table.nbytes <= 12 * len(ids)
    assert Ids.concatenated([column, absent, column.select(order[:1])]).first_repeated() == ids[order[0]]
    # Many of one id cost no more than many of many.
    assert Ids.of([ids[7]] * 100_000).first_repeated() == ids[7]


@pytest.mark.parametrize(
    ("ids", "expected"),
    [
        (np.array([3, -1]), [3, -1]),
        (np.array([3, 1], np.uint8), [3, 1]),
        (np.arange(6)[::2], [0, 2, 4]),
        (np.array(["b", "a"]), ["b", "a"]),
        (np.array(["b", "a"], object), ["b", "a"]),
        (("b", "a"), ["b", "a"]),
        (range(3), [0, 1, 2]),
        (pa.array(["x", "é", "a", ""])[1:], ["é", "a", ""]),
        (pa.array(["x", "é", "a"], pa.large_string())[1:2], ["é"]),
        (pa.array(["x", "é"], pa.string_view()), ["x", "é"]),
        (pa.array(["x", "é", "x"]).dictionary_encode(), ["x", "é", "x"]),
        (pa.array([1, 2, 3], pa.int64())[1:], [2, 3]),
        (pa.array([1, 2], pa.uint16()), [1, 2]),
        (pa.chunked_array([["a"], ["b", "c"]]), ["a", "b", "c"]),
        (pa.chunked_array([], pa.int32()), []),
        (pa.array([], pa.string()), []),
    ],
)
def test_columns_of_many_kinds_are_taken(ids: Any, expected: list[Any]) -> None:
    column = Ids.of(ids)
    assert content(column) == expected
    assert column.take(np.arange(len(expected), dtype=np.int32)) == expected
    column.check_invariants()


@pytest.mark.parametrize(
    ("ids", "reason"),
    [
        (["a", 1], "of one kind"),
        (["a", None], "not NoneType"),
        ([True], "not bool"),
        ([1.5], "not float"),
        ([b"a"], "not bytes"),
        ([1, 2**63], f"id {2**63} does not fit"),
        (["a", "\ud800"], "is no text"),
        (np.array([2**63], np.uint64), "refused"),
        (np.array([1.5]), "not float"),
        (np.zeros((2, 2), np.int64), "not list"),
        (pa.array(["a", None]), "1 of 2 ids are null"),
        (pa.array([1.5]), "not double"),
        (pa.array([b"\xff"]).view(pa.string()), "refused"),
    ],
)
def test_what_is_no_id_is_refused(ids: Any, reason: str) -> None:
    with pytest.raises(SubscriptionError, match=reason):
        Ids.of(ids)


def test_ids_of_another_kind_are_not_there() -> None:
    strings, integers = Ids.of(["1", "2"]), Ids.of([1, 2])
    strange: list[Any] = [1, True, None, b"1", "\ud800", 2**70]
    assert [strings.find(each) for each in strange] == [-1] * 6
    strange = ["1", True, 1.0, 2**63, -(2**63) - 1]
    assert [integers.find(each) for each in strange] == [-1] * 5
    assert strings.find_many(integers).tolist() == integers.find_many(strings).tolist() == [-1, -1]


def test_a_column_does_not_change_with_the_array_it_was_made_of() -> None:
    array = np.arange(3)
    column = Ids.of(array)
    array[:] = 7
    assert content(column) == [0, 1, 2]
    with pytest.raises(ValueError, match="read-only"):
        column.arrays()["values"][0] = 7


@pytest.mark.parametrize("ids", [["a", "b"], [1, 2]])
@pytest.mark.parametrize("row", [-1, 2, 2**62])
def test_rows_that_are_none_are_refused(ids: list[Any], row: int) -> None:
    for rows in (np.array([0, row]), np.array([0] * 200 + [row])):
        with pytest.raises(IndexError):
            Ids.of(ids).take(rows)
        with pytest.raises(IndexError):
            Ids.of(ids).select(rows)


@pytest.mark.parametrize(
    ("name", "bad"),
    [
        ("offsets", np.array([0, 2, 1, 4])),
        ("offsets", np.array([0, 1, 2, 5])),
        ("offsets", np.array([1, 1, 2, 4])),
        ("offsets", np.array([0, 1, 3, 4])),
        ("offsets", np.array([0, -5, 2, 4])),
        ("offsets", np.zeros(0, np.int64)),
        ("offsets", np.zeros(4, np.int32)),
        ("data", np.full(4, 255, np.uint8)),
        ("data", np.zeros((2, 2), np.uint8)),
        ("table", np.zeros(5, np.int64)),
        ("table", np.array([1, 1, 2, 3, 0])),
        ("table", np.array([1, 2, 4, 0, 0])),
        ("table", np.array([1, 2, -1, 0, 0])),
        ("table", np.array([1 << 32, 2, 3, 0, 0])),
        ("table", np.array([1, 2, 3, 0])),
    ],
)
def test_nonsense_is_refused(name: str, bad: Any) -> None:
    arrays = Ids.of(["a", "b", "é"]).arrays()
    with pytest.raises(ValueError, match=r"ids|offsets"):
        Ids.from_arrays({**arrays, name: bad})
    with pytest.raises(ValueError, match=f"{name}.* missing"):
        Ids.from_arrays({other: array for other, array in arrays.items() if other != name})
    if name == "table":
        with pytest.raises(ValueError, match="ids"):
            Ids.from_arrays({**Ids.of([1, 2, 3]).arrays(), name: bad})


PLAIN = """
import sys
import numpy as np
from tamis.matching.segments import idtable
from tamis.matching.segments.arrays import read_arrays
from tamis.matching.segments.ids import Ids
assert not hasattr(idtable.find_text, "py_func")
for path in sys.argv[1:]:
    arrays, _ = read_arrays(__import__("pathlib").Path(path))
    compiled = Ids.from_arrays(arrays)
    ids = compiled.arrow().to_pylist()
    plain = Ids.of(ids)
    assert (plain.table == compiled.table).all()
    assert plain.find_many(compiled.select(np.arange(len(ids))[::-1])).tolist() == list(range(len(ids)))[::-1]
    assert plain.take(np.array([3, 0])) == [ids[3], ids[0]]
idtable.hash_text = idtable.hash_number = lambda *_: 2**63 - 1  # all in one slot, the last
for ids, absent in ((["", "a", "b", "aa", "é"], "bb"), ([0, -1, 5, 2**63 - 1, 7], 6)):
    column = Ids.of(ids)
    assert [column.find(each) for each in ids] == [0, 1, 2, 3, 4]
    assert column.find(absent) == -1
    assert column.first_repeated() is None
    assert Ids.of(ids + ids[2:3]).first_repeated() == ids[2]
"""


def test_plain_twins_agree_and_equal_hashes_are_told_apart(tmp_path: Path) -> None:
    samples: dict[str, list[Any]] = {
        "texts": [f"{'é' * (number % 7)}{number * 7919}" for number in range(500)],
        "numbers": [(number * 2**55 + number) % 2**64 - 2**63 for number in range(500)],
    }
    for name, ids in samples.items():
        write_arrays(tmp_path / name, Ids.of(ids).arrays(), {})
    command = [sys.executable, "-W", "error::RuntimeWarning", "-c", PLAIN, *(str(tmp_path / name) for name in samples)]
    done = subprocess.run(
        command, env={**os.environ, "NUMBA_DISABLE_JIT": "1"}, capture_output=True, text=True, check=False
    )
    assert done.returncode == 0, done.stderr
