import random
from pathlib import Path

import pyarrow as pa
import pytest

import tamis
from tamis.matching import files


@pytest.fixture
def saved(tmp_path: Path) -> Path:
    index = tamis.Index()
    index.add_many(range(50), [f"price > {number} and s like 'é{number}%'" for number in range(50)])
    index.save(tmp_path / "alerts.tamis")
    return tmp_path / "alerts.tamis"


def test_a_saved_index_comes_back(saved: Path, tmp_path: Path) -> None:
    opened = tamis.Index.open(str(saved))
    assert len(opened) == 50
    assert sorted(opened.match({"price": 3, "s": "é2x"})) == [2]
    tamis.Index().save(tmp_path / "empty.tamis")
    assert len(tamis.Index.open(tmp_path / "empty.tamis")) == 0
    assert sorted(each.name for each in tmp_path.iterdir()) == ["alerts.tamis", "empty.tamis"]


def test_damaged_and_foreign_files_are_refused(saved: Path, tmp_path: Path) -> None:
    whole = saved.read_bytes()
    source = random.Random(5)
    for _ in range(200):
        damaged = bytearray(whole)
        if source.random() < 0.3:
            del damaged[source.randrange(len(damaged)) :]
        else:
            damaged[source.randrange(len(damaged))] ^= 1 << source.randrange(8)
        saved.write_bytes(damaged)
        try:
            opened = tamis.Index.open(saved)
        except ValueError as error:
            assert str(saved) in str(error)
        else:
            # The damage hit padding: nothing of the content may have changed.
            assert {each: str(opened.condition(each)) for each in opened} == {
                number: f"price > {number} and s like 'é{number}%'" for number in range(50)
            }
    saved.write_bytes(b"")
    with pytest.raises(ValueError, match="no Tamis index"):
        tamis.Index.open(saved)
    with pa.ipc.new_file(str(saved), pa.schema({"x": pa.int64()})):
        pass
    with pytest.raises(ValueError, match="no Tamis index"):
        tamis.Index.open(saved)
    with pytest.raises(FileNotFoundError):
        tamis.Index.open(tmp_path / "nothing")


def test_a_file_from_the_future_is_refused(saved: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(files, "VERSION", 99)
    tamis.Index.open(saved).save(saved)
    monkeypatch.undo()
    with pytest.raises(ValueError, match=r"newer Tamis \(format 99\); upgrade"):
        tamis.Index.open(saved)


def test_a_failed_save_leaves_the_old_file(saved: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def broken(_: int) -> None:
        raise OSError("no space left")

    index = tamis.Index.open(saved)
    index.remove(0)
    monkeypatch.setattr("os.fsync", broken)
    with pytest.raises(OSError, match="no space"):
        index.save(saved)
    assert len(tamis.Index.open(saved)) == 50
    assert [each.name for each in saved.parent.iterdir()] == [saved.name]
