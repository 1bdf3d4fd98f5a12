import os
import random
import signal
import subprocess
import sys
import tempfile
import threading
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from support import publishing
from tamis.matching.errors import IndexChangedError, IndexFileError, NewerFormatError
from tamis.matching.segments import versions as module
from tamis.matching.segments.arrays import read_arrays, write_arrays
from tamis.matching.segments.versions import Folder, Version

ROUNDS = 10


@pytest.fixture
def folder(tmp_path: Path) -> Folder:
    return Folder(tmp_path / "index")


def add_file(folder: Folder, stem: str = "segment") -> str:
    name = folder.new_name(stem)
    write_arrays(folder.path / name, {"x": np.arange(3)}, {})
    return name


def publish(folder: Folder, *more: str, **meta: Any) -> Version:
    with folder.writing():
        return folder.publish([*more, add_file(folder)], meta)


def version_file(folder: Folder, number: int) -> Path:
    return folder.path / f"version-{number:010}.json"


def opened(folder: Folder) -> Version:
    """Return the newest version whose files are whole to the last bit."""

    def opening(version: Version) -> Version:
        for name in version.files:
            read_arrays(folder.path / name)
        return version

    return folder.open_latest(opening)


def test_versions_are_numbered_and_come_back(folder: Folder) -> None:
    first = publish(folder, engine="auto", sizes=[1, 2])
    second = publish(folder, *first.files)
    assert (first.number, second.number) == (1, 2)
    assert folder.versions() == [2, 1]
    assert folder.read(1) == first
    assert folder.read(2) == folder.latest() == opened(folder) == second
    assert first.meta == {"engine": "auto", "sizes": [1, 2]}
    assert second.files[0] == first.files[0]


def test_there_may_be_nothing(folder: Folder) -> None:
    for ask in (folder.latest, folder.versions):
        with pytest.raises(FileNotFoundError):
            ask()
    with folder.writing():
        pass
    assert folder.versions() == []
    with pytest.raises(IndexFileError, match="there are no versions in it"):
        folder.latest()
    with pytest.raises(FileNotFoundError):
        folder.read(1)


@pytest.mark.parametrize("name", ["", ".", "..", "../a", "/a", "a/b", ".lock", ".a.tmp", "version-0000000001.json"])
def test_names_that_are_not_for_data_are_refused(folder: Folder, name: str) -> None:
    publish(folder)
    with pytest.raises(ValueError, match="no name for a file"):
        folder.publish([name], {})
    with pytest.raises(ValueError, match="no beginning"):
        folder.new_name("a/b")
    assert folder.versions() == [1]


def test_a_version_needs_its_files_and_a_meta_that_comes_back(folder: Folder) -> None:
    with pytest.raises(FileNotFoundError, match=r"would need .*nothing"):
        folder.publish(["nothing"], {})
    for meta in ({"x": float("nan")}, {"x": (1, 2)}, {"x": b"bytes"}):
        with pytest.raises(ValueError, match="what JSON can hold"):
            folder.publish([], meta)
    assert folder.versions() == []


def test_a_writer_who_is_late_is_refused(folder: Folder) -> None:
    assert folder.publish([], {}, after=0).number == 1
    assert folder.publish([], {}, after=1).number == 2
    with pytest.raises(IndexChangedError, match="at version 2, not 1"):
        folder.publish([], {}, after=1)
    assert folder.versions() == [2, 1]


def test_every_flipped_bit_and_truncation_of_a_version_is_found(folder: Folder) -> None:
    good = publish(folder)
    publish(folder, name="é")
    path = version_file(folder, 2)
    whole = path.read_bytes()
    damaged = [whole[:length] for length in range(len(whole))] + [whole + b" ", whole + whole, b"\xff" * 100]
    damaged += [
        whole[:place] + bytes([whole[place] ^ flip]) + whole[place + 1 :]
        for place in range(len(whole))
        for flip in (1, 2, 4, 8, 16, 32, 64, 128, 255)
    ]
    for content in damaged:
        path.write_bytes(content)
        with pytest.raises(IndexFileError, match=str(path)) as caught:
            folder.read(2)
        assert not isinstance(caught.value, NewerFormatError)
        assert folder.latest() == good


def test_a_version_under_a_wrong_name_is_refused(folder: Folder) -> None:
    publish(folder)
    version_file(folder, 1).rename(version_file(folder, 5))
    with pytest.raises(IndexFileError, match="version 1 under a wrong name"):
        folder.read(5)


def test_a_version_from_the_future_is_not_passed_over(folder: Folder, monkeypatch: pytest.MonkeyPatch) -> None:
    publish(folder)
    monkeypatch.setattr(module, "FORMAT", 7)
    publish(folder)
    monkeypatch.undo()
    before = sorted(folder.path.iterdir())
    for ask in (folder.latest, folder.collect):
        with pytest.raises(NewerFormatError, match=r"newer Tamis \(format 7\); upgrade Tamis"):
            ask()
    assert sorted(folder.path.iterdir()) == before


def test_opening_falls_back_when_a_file_is_torn_or_gone(folder: Folder) -> None:
    first, second, third = publish(folder), publish(folder), publish(folder)
    os.truncate(folder.path / third.files[0], 100)
    assert folder.latest() == third, "what is in the files is not looked at"
    assert opened(folder) == second
    (folder.path / second.files[0]).unlink()
    assert opened(folder) == first
    os.truncate(version_file(folder, 1), 10)
    with pytest.raises(IndexFileError, match=f"3 torn; the newest: .*{third.files[0]} is damaged"):
        opened(folder)
    assert publish(folder).number == 4, "the number of a torn version is not used again"


def test_a_reader_whom_a_collector_overtakes_finds_the_newer_version(folder: Folder) -> None:
    publish(folder)
    seen = []

    def opening(version: Version) -> Version:
        seen.append(version.number)
        if len(seen) == 1:
            publish(folder)
            folder.collect(keep=1)
        for name in version.files:
            read_arrays(folder.path / name)
        return version

    assert folder.open_latest(opening).number == 2
    assert seen == [1, 2]


def test_collecting_leaves_what_is_needed_and_what_is_not_ours(folder: Folder) -> None:
    first = publish(folder)
    (folder.path / "own-name").write_bytes(b"")
    second = publish(folder, "own-name")
    third = publish(folder, *second.files[1:])
    orphan, temporary = add_file(folder), ".segment.0123.tmp"
    for name in (temporary, "README", ".hidden", "notes.tmp"):
        (folder.path / name).write_bytes(b"")
    assert set(folder.collect(keep=2)) == {"version-0000000001.json", *first.files, orphan, temporary}
    assert folder.versions() == [3, 2]
    assert folder.collect(keep=2) == []
    assert set(folder.collect(keep=1)) == {"version-0000000002.json", "own-name"}
    assert {each.name for each in folder.path.iterdir()} == {
        ".lock",
        "README",
        ".hidden",
        "notes.tmp",
        "version-0000000003.json",
        *third.files,
    }
    with pytest.raises(ValueError, match="at least one"):
        folder.collect(keep=0)


def test_collecting_removes_no_data_while_no_version_is_whole(folder: Folder) -> None:
    version = publish(folder)
    os.truncate(version_file(folder, 1), 5)
    assert folder.collect(keep=1) == []
    assert (folder.path / version.files[0]).exists()
    version_file(folder, 1).unlink()
    assert folder.collect(keep=1) == [*version.files], "left behind by a writer that never published"


damage = st.sampled_from(["cut version", "flip version", "lose version", "cut file", "lose file"])
steps = st.lists(
    st.one_of(
        st.tuples(st.just("publish"), st.integers(0, 2)),
        st.tuples(st.just("collect"), st.integers(1, 3)),
        st.tuples(damage, st.just(0)),
    ),
    max_size=14,
)


@settings(max_examples=40)
@given(steps)
def test_histories(history: list[tuple[str, int]]) -> None:
    with tempfile.TemporaryDirectory() as path:
        folder = Folder(Path(path))
        published: dict[int, Version] = {}
        torn: set[int] = set()
        torn_files: set[str] = set()

        def whole() -> list[Version]:
            kept = [version for number, version in sorted(published.items(), reverse=True) if number not in torn]
            return [version for version in kept if not torn_files & set(version.files)]

        def opening(version: Version) -> None:
            for name in version.files:
                read_arrays(folder.path / name)

        for step, number in history:
            newest = max(published, default=0)
            file = folder.path / published[newest].files[0] if published else folder.path
            if step == "publish":
                version = publish(folder, *(whole()[0].files[:number] if whole() else ()), step=step)
                assert version.number == newest + 1
                published[version.number] = version
            elif step == "collect":
                expected = whole()[:number]
                folder.collect(number, opening)
                for version in expected:
                    opening(folder.read(version.number))
                if expected:
                    published = {each: published[each] for each in published if each >= expected[-1].number}
                    # Once all are gone, numbers begin anew.
                    torn &= published.keys()
                assert folder.versions() == sorted(published, reverse=True)
            elif step == "cut file" and file.is_file():
                os.truncate(file, 70)
                torn_files.add(file.name)
            elif step == "lose file" and file.is_file():
                file.unlink()
                torn_files.add(file.name)
            elif published and newest not in torn and step == "cut version":
                os.truncate(version_file(folder, newest), 20)
                torn.add(newest)
            elif published and newest not in torn and step == "flip version":
                content = bytearray(version_file(folder, newest).read_bytes())
                content[len(content) // 2] ^= 1
                version_file(folder, newest).write_bytes(content)
                torn.add(newest)
            elif published and step == "lose version":
                version_file(folder, newest).unlink()
                del published[newest]
                torn.discard(newest)
            if whole():
                assert opened(folder) == whole()[0]
            else:
                with pytest.raises((IndexFileError, FileNotFoundError)):
                    opened(folder)


def started(folder: Folder, mode: str) -> "subprocess.Popen[str]":
    command = [sys.executable, publishing.__file__, str(folder.path), mode]
    return subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True)


@pytest.fixture
def publisher(folder: Folder) -> Iterator["subprocess.Popen[str]"]:
    with started(folder, "crash") as process:
        yield process
        assert process.stdin is not None
        process.stdin.close()
        assert process.wait() == 0


def test_a_writer_that_is_killed_leaves_a_whole_version(folder: Folder, publisher: "subprocess.Popen[str]") -> None:
    source = random.Random()
    assert publisher.stdin is not None
    assert publisher.stdout is not None
    number = 0
    for _ in range(ROUNDS):
        publisher.stdin.write("go\n")
        publisher.stdin.flush()
        child = int(publisher.stdout.readline())
        for _ in range(source.randrange(1, 6)):
            number = int(publisher.stdout.readline())
        # The moment: somewhere in the next version, wherever that may be.
        threading.Event().wait(source.uniform(0, 0.02))
        os.kill(child, signal.SIGKILL)
        for line in publisher.stdout:
            if line == "dead\n":
                break
            number = int(line)
        latest = folder.open_latest(lambda version: publishing.check_whole(folder, version))
        assert latest.number >= number, "a version that was told is there"
        assert latest.number == folder.versions()[0], "none is torn"
        assert latest.meta["count"] == latest.number
    folder.collect(keep=1)
    assert {each.name for each in folder.path.iterdir()} == {
        ".lock",
        version_file(folder, latest.number).name,
        *latest.files,
    }


def test_two_processes_publish_one_after_the_other_while_another_reads(folder: Folder) -> None:
    publishing.publish_one(folder)
    numbers = [1]
    with started(folder, "25") as one, started(folder, "25") as other:
        while one.poll() is None or other.poll() is None:
            numbers.append(folder.open_latest(lambda version: publishing.check_whole(folder, version)).number)
    latest = folder.open_latest(lambda version: publishing.check_whole(folder, version))
    assert latest.number == latest.meta["count"] == 51
    assert numbers == sorted(numbers)


def test_two_threads_publish_one_after_the_other(folder: Folder) -> None:
    # One folder shared, and one of its own.
    folders = [folder, folder, Folder(folder.path)]
    threads = [
        threading.Thread(target=lambda each=each: [publishing.publish_one(each) for _ in range(5)]) for each in folders
    ]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    latest = folder.open_latest(lambda version: publishing.check_whole(folder, version))
    assert latest.number == latest.meta["count"] == 15
