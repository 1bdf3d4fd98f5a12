"""Versions appear whole or not at all, stay until they are pruned, and damage is told."""

import os
import signal
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

import pytest

from support.stores import stored
from tamis.pipeline import StoreError
from tamis.pipeline.manifests import NAME
from tamis.pipeline.store import Store, linked


def test_a_version_is_in_use_once_it_is_published_and_others_stay(tmp_path: Path) -> None:
    store = Store(tmp_path / "s")
    with pytest.raises(FileNotFoundError, match="no compiled subscriptions at"):
        store.current()
    assert store.versions() == []
    assert [stored(store.path, [{"a": f"x > {number}"}]).version for number in range(3)] == [1, 2, 3]
    assert (store.current(), store.versions()) == (3, [1, 2, 3])
    store.use(2)
    assert store.current() == 2
    # Numbers are never used again, also after a step back.
    assert stored(store.path, [{"a": "x > 3"}]).version == 4


def test_what_is_not_published_is_never_seen(tmp_path: Path) -> None:
    stored(tmp_path, [{"a": "x > 1"}])
    store = Store(tmp_path)
    with store.building() as folder:
        (folder / "shard-half").mkdir()
        assert store.versions() == [1]
    assert not list(tmp_path.glob(".building-*"))
    with pytest.raises(StoreError, match="no version 2; there are: 1"):
        store.manifest(2)
    with pytest.raises(StoreError, match="no version 9"):
        store.use(9)
    assert store.current() == 1


def torn(folder: Path) -> None:
    (folder / NAME).write_bytes((folder / NAME).read_bytes()[:-20])


def altered(folder: Path) -> None:
    (folder / NAME).write_bytes((folder / NAME).read_bytes().replace(b'"version":1', b'"version":7'))


def without_manifest(folder: Path) -> None:
    (folder / NAME).unlink()


def without_shard(folder: Path) -> None:
    next(folder.glob("shard-*")).rename(folder / "elsewhere")


@pytest.mark.parametrize(
    ("damage", "message"),
    [
        (torn, "cannot be used"),
        (altered, "its checksum does not fit"),
        (without_manifest, "no whole version"),
        (without_shard, "which is not there"),
    ],
)
def test_damage_is_told(tmp_path: Path, damage: Callable[[Path], None], message: str) -> None:
    stored(tmp_path, [{"a": "x > 1"}])
    damage(Store(tmp_path).folder(1))
    with pytest.raises(StoreError, match=message):
        Store(tmp_path).manifest()


def test_a_damaged_pointer_is_told(tmp_path: Path) -> None:
    stored(tmp_path, [{"a": "x > 1"}])
    (tmp_path / "CURRENT").write_bytes(b"one")
    with pytest.raises(StoreError, match="CURRENT is damaged"):
        Store(tmp_path).current()


def test_prune_keeps_the_newest_and_the_one_in_use(tmp_path: Path) -> None:
    for number in range(5):
        stored(tmp_path, [{"a": f"x > {number}"}])
    store = Store(tmp_path)
    store.use(2)
    assert store.prune(2) == ["version-0000000001", "version-0000000003"]
    assert store.versions() == [2, 4, 5]
    assert not list(tmp_path.glob(".removed-*"))
    with pytest.raises(ValueError, match="at least one"):
        store.prune(0)


WRITER = """
import sys
from tamis.pipeline.store import Store
with Store(sys.argv[1]).building() as folder:
    (folder / "shard-half").mkdir()
    print(folder.name, flush=True)
    sys.stdin.read()
"""


def test_prune_removes_what_a_killed_writer_left_and_nothing_of_a_living_one(tmp_path: Path) -> None:
    stored(tmp_path, [{"a": "x > 1"}])
    store = Store(tmp_path)
    with subprocess.Popen(
        [sys.executable, "-c", WRITER, str(tmp_path)], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True
    ) as writer:
        assert writer.stdout is not None
        name = writer.stdout.readline().strip()
        assert store.prune(1) == []
        os.kill(writer.pid, signal.SIGKILL)
        writer.wait()
    assert store.versions() == [1]
    assert store.prune(1) == [name]
    assert not list(tmp_path.glob(".building-*"))


def test_links_share_their_bytes(tmp_path: Path) -> None:
    (tmp_path / "a" / "b").mkdir(parents=True)
    (tmp_path / "a" / "b" / "file").write_bytes(b"x")
    linked(tmp_path / "a", tmp_path / "c")
    assert (tmp_path / "c" / "b" / "file").samefile(tmp_path / "a" / "b" / "file")
