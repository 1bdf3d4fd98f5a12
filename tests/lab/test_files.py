from pathlib import Path

import pytest

from tamis.lab.files import replacing


def test_the_file_appears_when_the_block_ends(tmp_path: Path) -> None:
    target = tmp_path / "a.txt"
    with replacing(target) as temporary:
        temporary.write_text("new")
        assert not target.exists()
    assert target.read_text() == "new"
    assert list(tmp_path.iterdir()) == [target]


def test_a_failure_leaves_the_old_file_and_nothing_else(tmp_path: Path) -> None:
    target = tmp_path / "a.txt"
    target.write_text("old")
    with pytest.raises(UnicodeEncodeError), replacing(target) as temporary:
        temporary.write_text("half\ud800", encoding="utf-8")
    assert target.read_text() == "old"
    assert list(tmp_path.iterdir()) == [target]
