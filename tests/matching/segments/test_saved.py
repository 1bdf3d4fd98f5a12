"""Indexes on disk: rounds through a folder, damage, versions and processes."""

import random
import subprocess
import sys
from pathlib import Path
from typing import Any

import pyarrow as pa
import pytest

import tamis
from tamis.matching.errors import IndexChangedError, IndexFileError
from tamis.matching.segments import arrays, versions
from tamis.matching.segments.versions import Folder

CONDITIONS = {
    1: "price > 1 and s like 'é%'",
    2: "price between 2 and 9 or not s like '%x%'",
    3: "tags is null and array_contains(codes, 3)",
    4: "day = date '2026-01-31' and t < timestamp '2026-01-01 12:00:00'",
    5: "a.b = true and `odd name` in ('x', 'y''z')",
    6: "price = 9007199254740993",
    7: "true",
    8: "price > 5 and price < 3",
}
EVENTS: tuple[dict[str, Any], ...] = (
    {"price": 2, "s": "éx"},
    {"price": 9007199254740993, "s": "x", "codes": [3]},
    {"a": {"b": True}, "odd name": "y'z", "codes": [1, 3]},
    {},
)
NAMED = [name for name, each in tamis.engines().items() if each.arbitrary]


def index_of(engine: str = "auto") -> tamis.Index:
    index = tamis.Index(engine)
    index.add_many(list(CONDITIONS), list(CONDITIONS.values()))
    return index


def same(index: tamis.Index, conditions: dict[int, str]) -> bool:
    """Tell whether an index holds these conditions and answers so."""
    parsed = {id: tamis.parse(text) for id, text in conditions.items()}
    return {id: index.condition(id) for id in index} == parsed and all(
        sorted(index.match(event)) == sorted(id for id, each in parsed.items() if each.matches(event))
        for event in EVENTS
    )


def data_files(path: Path) -> dict[str, int]:
    """The files of an index, and when each was written."""
    return {each.name: each.stat().st_mtime_ns for each in path.glob("*.tamis")}


@pytest.mark.parametrize("engine", ["auto", *NAMED])
def test_a_saved_index_comes_back(engine: str, tmp_path: Path) -> None:
    index = index_of(engine)
    index.save(tmp_path / "index")
    opened = tamis.Index.open(str(tmp_path / "index"))
    assert opened.stats()["engine"] == engine
    assert same(opened, CONDITIONS)
    opened.remove(1)
    opened.replace(2, "price = 7")
    opened.add(9, "s = 'x'")
    opened.save(tmp_path / "index")
    rest = {id: text for id, text in {**CONDITIONS, 2: "price = 7", 9: "s = 'x'"}.items() if id != 1}
    assert same(tamis.Index.open(tmp_path / "index"), rest)
    tamis.Index(engine).save(tmp_path / "empty")
    empty = tamis.Index.open(tmp_path / "empty")
    assert len(empty) == 0
    empty.add("now with strings", "a = 1")
    assert empty.match({"a": 1}) == ["now with strings"]


def test_columns_come_back(tmp_path: Path) -> None:
    index = tamis.Index()
    columns = {
        "row": [0, 1, 1],
        "attribute": ["a", "a", "b"],
        "operator": ["<>", ">", "="],
        "number": [1.5, 2**53, 0.1],
    }
    index.add_columns(["x", "y"], pa.table(columns))
    index.save(tmp_path / "index")
    opened = tamis.Index.open(tmp_path / "index")
    assert opened.condition("x") == tamis.parse("a <> 1.5")
    assert sorted(opened.match({"a": 2**53 + 1, "b": 0.1})) == ["x", "y"]


def test_a_second_save_writes_only_what_is_new(tmp_path: Path) -> None:
    index = index_of()
    index.save(tmp_path / "index")
    before = data_files(tmp_path / "index")
    index.remove_many([1, 2])
    index.save(tmp_path / "index")
    after = data_files(tmp_path / "index")
    assert before.items() <= after.items()
    assert [name.split("-")[0] for name in after.keys() - before.keys()] == ["removed"]
    opened = tamis.Index.open(tmp_path / "index")
    rest = {id: text for id, text in CONDITIONS.items() if id > 2}
    assert same(opened, rest)
    # Also when it is the opened one that is changed and saved.
    opened.remove(3)
    opened.save(tmp_path / "index")
    assert before.items() <= data_files(tmp_path / "index").items()
    assert same(tamis.Index.open(tmp_path / "index"), {id: text for id, text in rest.items() if id != 3})
    # Elsewhere everything is written.
    opened.save(tmp_path / "copy")
    assert same(tamis.Index.open(tmp_path / "copy"), {id: text for id, text in rest.items() if id != 3})


def test_no_damage_is_ever_believed(tmp_path: Path) -> None:
    """Any byte may be another, any file may be cut: there is an error or the version before, or nothing has changed."""
    path = tmp_path / "index"
    index = index_of()
    index.save(path)
    first = dict(CONDITIONS)
    index.remove(1)
    index.add(9, "s = 'x'")
    index.save(path)
    second = {id: text for id, text in {**CONDITIONS, 9: "s = 'x'"}.items() if id != 1}
    source = random.Random(5)
    for file in sorted(path.iterdir()):
        whole = file.read_bytes()
        damages = [bytes(whole[:size]) for size in {0, 1, len(whole) // 2, max(0, len(whole) - 1)} if size < len(whole)]
        damages += [whole + b"\0"]
        for place in source.sample(range(len(whole)), min(len(whole), 60)):
            damages.append(whole[:place] + bytes([whole[place] ^ 1 << source.randrange(8)]) + whole[place + 1 :])
        for damaged in damages:
            file.write_bytes(damaged)
            try:
                opened = tamis.Index.open(path)
            except IndexFileError as error:
                assert str(path) in str(error)
            else:
                assert same(opened, second) or same(opened, first), file.name
        file.unlink()
        try:
            opened = tamis.Index.open(path)
        except IndexFileError as error:
            assert str(path) in str(error)
        else:
            assert same(opened, second) or same(opened, first), file.name
        file.write_bytes(whole)
    assert same(tamis.Index.open(path), second)


def test_after_damage_it_goes_on_from_the_last_good_version(tmp_path: Path) -> None:
    path = tmp_path / "index"
    index = index_of()
    index.save(path)
    reader = tamis.Index.open(path)
    index.add(9, "s = 'x'")
    index.save(path)
    newest = max(path.glob("version-*"))
    newest.write_bytes(newest.read_bytes()[:-1])
    reader.refresh()
    assert same(reader, CONDITIONS)
    opened = tamis.Index.open(path)
    assert same(opened, CONDITIONS)
    opened.add(10, "s = 'y'")
    opened.save(path)
    assert same(tamis.Index.open(path), {**CONDITIONS, 10: "s = 'y'"})


@pytest.mark.parametrize("module", [arrays, versions])
def test_an_index_from_the_future_is_refused(module: object, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(module, "FORMAT", 99)
    index_of().save(tmp_path / "index")
    monkeypatch.undo()
    with pytest.raises(IndexFileError, match=r"newer Tamis \(format 99\); upgrade Tamis to open it"):
        tamis.Index.open(tmp_path / "index")


def test_foreign_files_and_folders_are_refused(tmp_path: Path) -> None:
    with pytest.raises(FileNotFoundError, match=r"there is no index at .*nothing"):
        tamis.Index.open(tmp_path / "nothing")
    file = tmp_path / "file"
    file.write_bytes(b"hello")
    with pytest.raises(IndexFileError, match="file is no Tamis index: an index is a folder"):
        tamis.Index.open(file)
    with pytest.raises(IndexFileError, match="there are no versions in it"):
        tamis.Index.open(tmp_path)
    # A version of something else that was kept in the same way.
    folder = Folder(tmp_path / "other")
    with folder.writing():
        name = folder.new_name("rows")
        arrays.write_arrays(folder.path / name, {}, {})
        for meta in ({}, {"engine": "auto"}, {"engine": "auto", "parts": 1}, {"engine": "scan"}):
            folder.publish([name], meta)
            with pytest.raises(
                IndexFileError, match=r"no version that can be opened.*(no Tamis index|no part|no subscr)"
            ):
                tamis.Index.open(folder.path)
        folder.publish([], {"engine": "scan"})
    with pytest.raises(IndexFileError, match="names no file"):
        tamis.Index.open(folder.path)


def test_a_failed_save_leaves_the_old_version(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    index_of().save(tmp_path / "index")
    index = tamis.Index.open(tmp_path / "index")
    index.remove(1)
    index.add(9, "s = 'x'")

    def broken(_: int) -> None:
        raise OSError("no space left")

    with monkeypatch.context() as patch:
        patch.setattr("os.fsync", broken)
        with pytest.raises(OSError, match="no space"):
            index.save(tmp_path / "index")
    assert same(tamis.Index.open(tmp_path / "index"), CONDITIONS)
    assert not list((tmp_path / "index").glob(".*.tmp"))
    index.save(tmp_path / "index")
    assert sorted(tamis.Index.open(tmp_path / "index")) == [2, 3, 4, 5, 6, 7, 8, 9]


def test_readers_take_over_newer_versions(tmp_path: Path) -> None:
    path = tmp_path / "index"
    writer = index_of()
    writer.save(path)
    reader = tamis.Index.open(path)
    assert not reader.refresh()
    writer.remove(7)
    writer.add(9, "s = 'x'")
    assert same(reader, CONDITIONS)
    writer.save(path)
    assert reader.refresh()
    rest = {id: text for id, text in {**CONDITIONS, 9: "s = 'x'"}.items() if id != 7}
    assert same(reader, rest)
    reader.check_invariants()
    assert not reader.refresh()
    assert not writer.refresh()
    # Nobody undoes the work of another unseen.
    writer.remove(1)
    writer.save(path)
    reader.remove(2)
    with pytest.raises(IndexChangedError, match=r"both this index and .* were changed"):
        reader.refresh()
    with pytest.raises(IndexChangedError, match="open it again"):
        reader.save(path)
    reader.save(tmp_path / "elsewhere")
    assert sorted(tamis.Index.open(path)) == [2, 3, 4, 5, 6, 8, 9]
    with pytest.raises(ValueError, match="neither opened nor saved"):
        tamis.Index().refresh()
    with pytest.raises(ValueError, match="engine 'scan' is opened anew"):
        tamis.Index("scan").refresh()
    index_of("scan").save(path)
    with pytest.raises(IndexChangedError, match="now an index with engine 'scan'"):
        writer.refresh()


def test_what_one_process_saves_another_opens_and_changes(tmp_path: Path) -> None:
    index = index_of()
    index.save(tmp_path / "index")
    program = (
        "import sys, tamis\n"
        "index = tamis.Index.open(sys.argv[1])\n"
        "assert sorted(index.match({'price': 2, 's': 'éx'})) == [1, 2, 7], index.match({'price': 2, 's': 'éx'})\n"
        "index.remove(7)\n"
        "index.add(10, 'price = 2')\n"
        "index.save(sys.argv[1])\n"
    )
    subprocess.run([sys.executable, "-c", program, str(tmp_path / "index")], check=True)
    assert index.refresh()
    assert sorted(index.match({"price": 2, "s": "éx"})) == [1, 2, 10]
    assert sorted(index) == [1, 2, 3, 4, 5, 6, 8, 10]
