"""Named arrays in one file, opened by memory map without parsing.

The file, all numbers little-endian:

    magic (8 bytes), format (4), sum of these 12 (4)                          the same in every format to come
    length of the contents (8), length of the file (8), sum of all before and of the contents (8), zeros up to 64
    contents: msgpack, the arrays' names, types, shapes and places, and the caller's `meta`
    the arrays in C order, each at a multiple of 64 bytes, zeros between
    sum of everything before (8)

The sums are XXH3 (XXH32 for the first): they find damage, not malice.
"""

import math
import mmap
import os
import stat
import struct
from collections.abc import Mapping
from pathlib import Path
from typing import Any, Final, NoReturn

import msgspec
import numpy as np
import numpy.typing as npt
from xxhash import xxh3_64, xxh3_64_intdigest, xxh32_intdigest

from tamis.matching.errors import IndexFileError, NewerFormatError
from tamis.matching.segments.files import placed

FORMAT: Final = 1
ALIGNMENT: Final = 64

_MAGIC: Final = b"\x89TAMIS\r\n"
_START: Final = struct.Struct("<8sI")
_START_SUM: Final = struct.Struct("<I")
_LENGTHS: Final = struct.Struct("<QQ")
_SUM: Final = struct.Struct("<Q")
_LENGTHS_AT: Final = _START.size + _START_SUM.size
_CONTENTS_SUM_AT: Final = _LENGTHS_AT + _LENGTHS.size
_CONTENTS_AT: Final = 64
_SMALLEST: Final = _CONTENTS_AT + _SUM.size
#: Kinds of numpy types whose values are nothing but their bytes.
_PLAIN_KINDS: Final = "biufcmMSUV"


class _Place(msgspec.Struct, frozen=True, array_like=True):
    """Where an array lies and what it is."""

    name: str
    dtype: str
    shape: tuple[int, ...]
    #: From the first multiple of `ALIGNMENT` after the contents.
    offset: int


class _Contents(msgspec.Struct, frozen=True):
    arrays: list[_Place]
    meta: dict[str, Any]


def write_arrays(path: Path, arrays: Mapping[str, npt.NDArray[Any]], meta: Mapping[str, Any]) -> None:
    """Write arrays of one or two dimensions, of any fixed-width type, and what msgpack can hold besides.

    The file appears under its name when it is whole and on disk; on an error nothing is left behind.
    """
    flat = {name: np.ascontiguousarray(array) for name, array in arrays.items() if _check_plain(name, array)}
    places, end = [], 0
    for name, array in flat.items():
        start = _aligned(end)
        places.append(_Place(name, array.dtype.str, array.shape, start))
        end = start + array.nbytes
    contents = msgspec.msgpack.encode(_Contents(places, dict(meta)))
    base = _aligned(_CONTENTS_AT + len(contents))
    header = _START.pack(_MAGIC, FORMAT)
    header += _START_SUM.pack(xxh32_intdigest(header))
    header += _LENGTHS.pack(len(contents), base + end + _SUM.size)
    header += _SUM.pack(xxh3_64_intdigest(header + contents))

    parts: list[tuple[int, Any]] = [(0, header), (_CONTENTS_AT, contents)]
    parts += [(base + place.offset, flat[place.name].reshape(-1).view(np.uint8).data) for place in places]
    parts += [(base + end, b"")]
    total, written = xxh3_64(), 0
    with placed(path) as file:
        for at, part in parts:
            for piece in (bytes(at - written), part):
                total.update(piece)
                file.write(piece)
            written = at + len(part)
        file.write(_SUM.pack(total.intdigest()))


def read_arrays(path: Path, check: bool = True) -> tuple[dict[str, npt.NDArray[Any]], dict[str, Any]]:
    """Return the arrays and the `meta` of a file. The arrays are read-only views of one map of it.

    A file that is foreign, cut, damaged or from a newer Tamis is refused with `IndexFileError`. Without `check` the
    arrays themselves are not read, so damage in them is not found; damage of the contents still is. Processes that
    open one file share its memory, and the arrays stay good when it is removed or replaced.
    """
    if not stat.S_ISREG(path.stat().st_mode):
        raise IndexFileError(f"{path} is no file of a Tamis index: it is no regular file")
    with path.open("rb") as file:
        # The size is asked of the open file: another file may take the path's place at any moment.
        size = os.fstat(file.fileno()).st_size
        _check_start(path, file.read(_LENGTHS_AT), size)
        memory = mmap.mmap(file.fileno(), size, access=mmap.ACCESS_READ)
    contents_length, file_length = _LENGTHS.unpack_from(memory, _LENGTHS_AT)
    contents_end = _CONTENTS_AT + contents_length
    # A wrong length is as likely a damaged number, but what it says is what a person can check.
    if file_length != size:
        _refuse(path, f"it has {size} bytes and should have {file_length}")
    if contents_end + _SUM.size > size:
        _refuse(path, "its contents do not fit into it")
    contents = memory[_CONTENTS_AT:contents_end]
    if _SUM.unpack_from(memory, _CONTENTS_SUM_AT)[0] != xxh3_64_intdigest(memory[:_CONTENTS_SUM_AT] + contents):
        _refuse(path, "the checksum of its contents does not fit")
    if check:
        with memoryview(memory) as whole, whole[: -_SUM.size] as summed:
            if _SUM.unpack_from(memory, size - _SUM.size)[0] != xxh3_64_intdigest(summed):
                _refuse(path, "its checksum does not fit")
    try:
        decoded = msgspec.msgpack.decode(contents, type=_Contents)
        base, end = _aligned(contents_end), size - _SUM.size
        return {place.name: _view(memory, place, base, end) for place in decoded.arrays}, decoded.meta
    except (msgspec.DecodeError, TypeError, ValueError, OverflowError) as error:
        _refuse(path, str(error))


def _check_plain(name: str, array: npt.NDArray[Any]) -> bool:
    if array.ndim not in (1, 2):
        raise ValueError(f"array {name!r} has {array.ndim} dimensions, not 1 or 2")
    if not _is_plain(array.dtype) or np.dtype(array.dtype.str) != array.dtype:
        raise ValueError(f"array {name!r} is of type {array.dtype}, which has no fixed width or has fields")
    return True


def _is_plain(dtype: np.dtype[Any]) -> bool:
    return dtype.kind in _PLAIN_KINDS and dtype.itemsize > 0


def _aligned(place: int) -> int:
    return -(-place // ALIGNMENT) * ALIGNMENT


def _check_start(path: Path, start: bytes, size: int) -> None:
    """Refuse what is not of this format, before anything else of the file is believed."""
    if not start.startswith(_MAGIC):
        if start and _MAGIC.startswith(start):
            _refuse(path, f"it ends after {size} bytes")
        raise IndexFileError(f"{path} is no file of a Tamis index" + ("" if start else ": it is empty"))
    if len(start) < _LENGTHS_AT:
        _refuse(path, f"it ends after {size} bytes")
    _, format_ = _START.unpack_from(start)
    if _START_SUM.unpack_from(start, _START.size)[0] != xxh32_intdigest(start[: _START.size]) or format_ < 1:
        _refuse(path, "its first bytes are wrong")
    if format_ > FORMAT:
        raise NewerFormatError(f"{path} was written by a newer Tamis (format {format_}); upgrade Tamis to open it")
    if size < _SMALLEST:
        _refuse(path, f"it ends after {size} bytes")


def _view(memory: mmap.mmap, place: _Place, base: int, end: int) -> npt.NDArray[Any]:
    dtype = np.dtype(place.dtype)
    if not _is_plain(dtype) or len(place.shape) not in (1, 2) or min(place.shape) < 0 or place.offset < 0:
        raise ValueError(f"array {place.name!r} is nonsense")
    start = base + place.offset
    if start % ALIGNMENT or start + math.prod(place.shape) * dtype.itemsize > end:
        raise ValueError(f"array {place.name!r} lies outside the file")
    return np.ndarray(place.shape, dtype, memory, start)


def _refuse(path: Path, reason: str) -> NoReturn:
    raise IndexFileError(f"{path} is damaged: {reason}; restore it or save the index again")
