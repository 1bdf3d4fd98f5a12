"""Parts in files: what kernels read without looking is looked at when a part is opened."""

import random
import sys
import threading
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt
import pyarrow as pa
import pytest

import tamis
from tamis.matching.errors import IndexFileError
from tamis.matching.segments import segment as segments
from tamis.matching.segments.arrays import read_arrays, write_arrays
from tamis.matching.segments.draft import draft_of
from tamis.matching.segments.ids import Ids
from tamis.matching.segments.part import Part
from tamis.matching.segments.texts import Texts
from tamis.matching.segments.values import Values

Arrays = dict[str, npt.NDArray[Any]]
TEXTS = [
    text.format(number)
    for number in range(9)
    for text in (
        "a = {0}",
        "a > {0} and b < {0}",
        "a in (1, 2, {0}) or c = 'x{0}'",
        "s like '%q{0}%' and a <> {0}",
        "c is null or (b > {0} and (a < 3 or c = 'y'))",
        "c >= 'm{0}'",
        "array_contains(t, {0})",
        "b is not null and (a < {0} or c > 'x')",
    )
]
BATCH = pa.RecordBatch.from_pylist(
    [{"a": n % 10, "b": n % 4, "c": f"x{n % 9}", "s": f"q{n % 5}", "t": [n % 9]} for n in range(600)]
)


@pytest.fixture
def file(tmp_path: Path) -> Path:
    part = Part.of(Ids.of(list(range(len(TEXTS)))), draft_of([tamis.parse(text) for text in TEXTS]), Texts.of(TEXTS))
    part.write(tmp_path / "part")
    return tmp_path / "part"


def changed(file: Path, change: Callable[[Arrays], object]) -> None:
    """Write a part again with other arrays, and the right checksum of these."""
    found, meta = read_arrays(file)
    arrays = {name: np.array(array) for name, array in found.items()}
    change(arrays)
    write_arrays(file, arrays, meta)


def test_a_part_comes_back(file: Path) -> None:
    part = Part.read(file)
    assert len(part) == part.alive == len(TEXTS)
    for event in BATCH.to_pylist()[:30]:
        found = sorted(part.ids.take(part.segment.match(Values(event))))
        assert found == [id for id, text in enumerate(TEXTS) if tamis.parse(text).matches(event)]
    row = part.find(5, 0)
    assert part.condition(row) == tamis.parse(TEXTS[5])
    part.remove(np.array([row]), 3)
    assert part.find(5, 2) == row
    assert part.find(5, 3) == -1
    assert part.find_many(Ids.of([5, 6, 999]), 3).tolist() == [-1, part.find(6, 3), -1]
    assert (part.alive, part.whole().alive) == (len(TEXTS) - 1, len(TEXTS))


@pytest.mark.parametrize("many", [True, False])
def test_only_events_with_many_rows_let_other_threads_run(
    file: Path, many: bool, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Who gives back the lock of Python for some microseconds lets nobody in, and keeps a writer waiting."""
    part = Part.read(file)
    part.remove(np.array([part.find(5, 0)]), 1)
    some = [Values(event) for event in BATCH.to_pylist()[:50]]
    for each in some:
        part.match(each, 1, 100)
    monkeypatch.setattr(segments, "_MANY_ROWS", -1 if many else 1_000_000)
    ran: list[bool] = []
    turn, begun = sys.getswitchinterval(), threading.Lock()
    begun.acquire()
    other = threading.Thread(target=lambda: ran.append(begun.acquire()))
    other.start()
    try:
        # From here on nobody has to give way to a thread that waits.
        sys.setswitchinterval(1_000)
        begun.release()
        for _ in range(100_000 if many else 20):
            for each in some:
                part.match(each, 1, 100)
            if ran:
                break
        assert bool(ran) is many
    finally:
        sys.setswitchinterval(turn)
        other.join()


def put(name: str, place: int, value: int) -> Callable[[Arrays], None]:
    def change(arrays: Arrays) -> None:
        arrays[name][place] = value

    return change


@pytest.mark.parametrize(
    "change",
    [
        put("rows.ranged", -1, -(2**31)),
        put("rows.point", 3, 2**31 - 1),
        put("rows.spread", 0, 0),
        put("rows.spread", 0, 10**6),
        put("rows.terms", 0, 77),
        put("rows.terms", 1, -1),
        put("rows.terms", 2, 10**6),
        put("rows.term_start", 1, 10**6),
        put("rows.code_start", -1, 10**6),
        put("rows.code", 0, -3),
        put("rows.code", 1, 10**6),
        put("rows.ends", 4, 10**6),
        put("rows.base", 1, 0),
        put("rows.dimension", 0, 3),
        put("cuts.kind", 0, 1),
        put("cuts.kind", 1, -1),
        put("cuts.flag", 0, 1),
        put("cuts.dimension", 0, -1),
        put("cuts.whole", 5, -(2**63)),
        put("cuts.offset", -1, 1),
        put("texts.offsets", 1, 2**62),
        put("ids.table", 0, 10**6),
        lambda arrays: arrays.pop("rows.terms"),
        lambda arrays: arrays.update({"rows.other": np.zeros(1)}),
        lambda arrays: arrays.update({"rows.terms": arrays["rows.terms"][:-1]}),
        lambda arrays: arrays.update({"rows.terms": arrays["rows.terms"].astype(np.int64)}),
        lambda arrays: arrays.update({"texts.offsets": arrays["texts.offsets"][:-1]}),
    ],
)
def test_nonsense_is_refused_by_name(file: Path, change: Callable[[Arrays], object]) -> None:
    changed(file, change)
    with pytest.raises(IndexFileError, match=str(file)):
        Part.read(file)


def test_what_is_not_refused_does_no_harm(file: Path) -> None:
    """Whatever is in the arrays, a part is refused or answers something."""
    source = random.Random(1)
    whole = file.read_bytes()
    taken = 0

    def change(arrays: Arrays) -> None:
        array = arrays[source.choice([name for name in arrays if len(arrays[name])])]
        place = source.randrange(len(array))
        value = source.choice([0, 1, -1, -2, 127, int(array[place]) + 1, int(array[source.randrange(len(array))])])
        if array.dtype.kind == "f" or np.iinfo(array.dtype).min <= value <= np.iinfo(array.dtype).max:
            array[place] = value

    for _ in range(300):
        file.write_bytes(whole)
        changed(file, change)
        try:
            part = Part.read(file)
        except IndexFileError:
            continue
        taken += 1
        offsets, rows = part.segment.match_batch(BATCH)
        assert offsets[-1] == len(rows)
        assert ((rows >= 0) & (rows < len(part))).all()
        for event in BATCH.to_pylist()[:5]:
            assert len(part.segment.match(Values(event))) <= len(part)
    assert 0 < taken < 300
