import os
from pathlib import Path

import pytest

from tamis.matching.segments.files import is_temporary, placed


def test_a_file_appears_when_it_is_whole(tmp_path: Path) -> None:
    path = tmp_path / "a"
    with placed(path) as file:
        file.write(b"first")
        assert not path.exists()
        assert all(is_temporary(each.name) for each in tmp_path.iterdir())
    with placed(path) as file:
        file.write(b"second")
        assert path.read_bytes() == b"first"
    assert path.read_bytes() == b"second"
    assert list(tmp_path.iterdir()) == [path]


def test_others_may_read_it_as_far_as_the_mask_allows(tmp_path: Path) -> None:
    with placed(tmp_path / "placed"):
        pass
    (tmp_path / "opened").touch()
    assert (tmp_path / "placed").stat().st_mode == (tmp_path / "opened").stat().st_mode


@pytest.mark.parametrize("failing", ["block", "fsync", "replace"])
def test_a_failure_leaves_what_was_there(tmp_path: Path, failing: str, monkeypatch: pytest.MonkeyPatch) -> None:
    def broken(*_: object) -> None:
        raise OSError("no space left")

    path = tmp_path / "a"
    path.write_bytes(b"old")
    if failing == "fsync":
        monkeypatch.setattr(os, "fsync", broken)
    elif failing == "replace":
        monkeypatch.setattr(Path, "replace", broken)

    def write() -> None:
        with placed(path) as file:
            file.write(b"new")
            if failing == "block":
                broken()

    with pytest.raises(OSError, match="no space"):
        write()
    assert path.read_bytes() == b"old"
    assert list(tmp_path.iterdir()) == [path]


def test_only_its_own_names_are_temporary() -> None:
    assert is_temporary(".segment-1.0123456789abcdef.tmp")
    assert not any(map(is_temporary, [".lock", "segment-1.tmp", "version-0000000001.json", ""]))
