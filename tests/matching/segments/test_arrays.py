import os
import tempfile
from pathlib import Path
from typing import Any

import msgspec
import numpy as np
import numpy.typing as npt
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from hypothesis.extra import numpy as nps

from tamis.matching.errors import IndexFileError, NewerFormatError
from tamis.matching.segments import arrays as module
from tamis.matching.segments.arrays import ALIGNMENT, read_arrays, write_arrays

dtypes = (
    nps.boolean_dtypes()
    | nps.integer_dtypes(endianness="?")
    | nps.floating_dtypes(endianness="?")
    | nps.complex_number_dtypes()
    | nps.datetime64_dtypes()
    | nps.byte_string_dtypes(max_len=5)
    | nps.unicode_string_dtypes(max_len=5)
)
columns = nps.arrays(dtypes, nps.array_shapes(min_dims=1, max_dims=2, min_side=0, max_side=5))
values = st.recursive(
    st.none() | st.booleans() | st.integers(-(2**63), 2**63 - 1) | st.floats(allow_nan=False) | st.text(max_size=5),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=3), inner, max_size=3),
    max_leaves=8,
)

SMALL: dict[str, npt.NDArray[Any]] = {
    "rows": np.arange(5),
    "empty": np.zeros(0, np.int32),
    "table": np.ones((2, 3), np.uint8),
}


@pytest.fixture
def small(tmp_path: Path) -> Path:
    write_arrays(tmp_path / "small", SMALL, {"name": "é", "number": 7})
    return tmp_path / "small"


def assert_same(found: dict[str, npt.NDArray[Any]], wanted: dict[str, npt.NDArray[Any]]) -> None:
    assert list(found) == list(wanted)
    for name, array in wanted.items():
        assert (found[name].dtype, found[name].shape) == (array.dtype, array.shape)
        assert found[name].tobytes() == array.tobytes()


@settings(max_examples=60)
@given(st.dictionaries(st.text(max_size=8), columns, max_size=5), st.dictionaries(st.text(max_size=5), values))
def test_what_was_written_is_read(arrays: dict[str, npt.NDArray[Any]], meta: dict[str, Any]) -> None:
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "arrays"
        write_arrays(path, arrays, meta)
        for check in (True, False):
            found, told = read_arrays(path, check)
            assert_same(found, arrays)
            assert told == meta
            assert not any(array.flags.writeable for array in found.values())
            assert all(array.ctypes.data % ALIGNMENT == 0 for array in found.values() if array.size)


def test_views_and_fortran_order_are_written_as_they_look(tmp_path: Path) -> None:
    arrays = {"strided": np.arange(20)[::-3], "columns": np.asfortranarray(np.arange(6).reshape(2, 3))}
    write_arrays(tmp_path / "a", arrays, {})
    assert_same(read_arrays(tmp_path / "a")[0], arrays)


def test_arrays_outlive_their_file(small: Path) -> None:
    found, _ = read_arrays(small)
    write_arrays(small, {"other": np.zeros(1000)}, {})
    small.unlink()
    assert_same(found, SMALL)


@pytest.mark.parametrize(
    "array",
    [
        np.array(1),
        np.zeros((1, 1, 1)),
        np.array(["a", None], object),
        np.zeros(2, [("x", "i4")]),
        np.array(["a"], np.dtypes.StringDType()),
    ],
    ids=["scalar", "cube", "objects", "fields", "strings"],
)
def test_what_has_no_fixed_width_is_refused(array: npt.NDArray[Any], tmp_path: Path) -> None:
    with pytest.raises(ValueError, match="array 'bad'"):
        write_arrays(tmp_path / "a", {"bad": array}, {})
    with pytest.raises(TypeError):
        write_arrays(tmp_path / "a", {}, {"meta": object()})
    assert not list(tmp_path.iterdir())


def test_every_flipped_bit_is_found(small: Path) -> None:
    whole = small.read_bytes()
    for place in range(len(whole)):
        for flip in (1, 2, 4, 8, 16, 32, 64, 128, 255):
            damaged = bytearray(whole)
            damaged[place] ^= flip
            small.write_bytes(damaged)
            with pytest.raises(IndexFileError, match=str(small)) as caught:
                read_arrays(small)
            assert not isinstance(caught.value, NewerFormatError)


def test_without_a_check_the_contents_are_still_right(small: Path) -> None:
    whole = small.read_bytes()
    refused = 0
    for place in range(len(whole)):
        damaged = bytearray(whole)
        damaged[place] ^= 255
        small.write_bytes(damaged)
        try:
            found, meta = read_arrays(small, check=False)
        except IndexFileError:
            refused += 1
        else:
            assert meta == {"name": "é", "number": 7}
            assert {name: (array.dtype, array.shape) for name, array in found.items()} == {
                name: (array.dtype, array.shape) for name, array in SMALL.items()
            }
    assert refused > 64


def test_every_truncation_and_any_tail_is_found(small: Path) -> None:
    whole = small.read_bytes()
    for length in range(len(whole)):
        small.write_bytes(whole[:length])
        for check in (True, False):
            with pytest.raises(IndexFileError, match=str(small)):
                read_arrays(small, check)
    for tail in (b"\0", whole):
        small.write_bytes(whole + tail)
        with pytest.raises(IndexFileError, match=f"has {len(whole + tail)} bytes and should have {len(whole)}"):
            read_arrays(small)


@settings(max_examples=60)
@given(st.binary(max_size=300), st.booleans())
def test_foreign_files_are_refused(content: bytes, ours: bool) -> None:
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "foreign"
        path.write_bytes((b"\x89TAMIS\r\n" if ours else b"") + content)
        with pytest.raises(IndexFileError, match="damaged" if ours else "damaged|no file of a Tamis index"):
            read_arrays(path)


def test_what_is_no_file_is_refused(tmp_path: Path) -> None:
    os.mkfifo(tmp_path / "pipe")
    for path in (tmp_path, tmp_path / "pipe"):
        with pytest.raises(IndexFileError, match="no regular file"):
            read_arrays(path)
    with pytest.raises(FileNotFoundError):
        read_arrays(tmp_path / "nothing")


@pytest.mark.parametrize(
    ("field", "value"),
    [
        ("dtype", "O"),
        ("dtype", "|S0"),
        ("dtype", "nonsense"),
        ("shape", (2**62,)),
        ("shape", (-1,)),
        ("shape", ()),
        ("shape", (0, 2**63)),
        ("offset", 2**40),
        ("offset", 8),
        ("offset", -64),
    ],
)
def test_nonsense_with_right_checksums_is_refused(
    field: str, value: object, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    contents = module._Contents

    def bad(places: list[Any], meta: dict[str, Any]) -> Any:
        return contents([msgspec.structs.replace(place, **{field: value}) for place in places], meta)

    monkeypatch.setattr(module, "_Contents", bad)
    write_arrays(tmp_path / "a", {"x": np.arange(3)}, {})
    monkeypatch.undo()
    with pytest.raises(IndexFileError, match="damaged"):
        read_arrays(tmp_path / "a")


def test_a_file_from_the_future_is_refused(small: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(module, "FORMAT", 99)
    write_arrays(small, SMALL, {})
    assert_same(read_arrays(small)[0], SMALL)
    monkeypatch.undo()
    for check in (True, False):
        with pytest.raises(NewerFormatError, match=r"newer Tamis \(format 99\); upgrade Tamis to open it"):
            read_arrays(small, check)


def test_a_failed_write_leaves_the_old_file(small: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def broken(_: int) -> None:
        raise OSError("no space left")

    monkeypatch.setattr("os.fsync", broken)
    with pytest.raises(OSError, match="no space"):
        write_arrays(small, {"x": np.zeros(1000)}, {})
    assert list(small.parent.iterdir()) == [small]
    assert_same(read_arrays(small)[0], SMALL)
