"""Which file, and in which format."""

import sys
from enum import StrEnum
from pathlib import Path
from typing import BinaryIO, Final

import msgspec

from tamis.cli.errors import InputError, one_line

STANDARD_STREAM: Final = "-"


class Format(StrEnum):
    """How a table is written down."""

    CSV = "csv"
    JSONL = "jsonl"
    PARQUET = "parquet"


_SUFFIXES: Final = {
    ".csv": Format.CSV,
    ".jsonl": Format.JSONL,
    ".ndjson": Format.JSONL,
    ".parquet": Format.PARQUET,
}


def format_by_suffix(path: str) -> Format:
    """Return the format that a file's suffix names."""
    suffix = Path(path).suffix.lower()
    if suffix not in _SUFFIXES:
        raise InputError(f"{path}: the suffix is none of {', '.join(_SUFFIXES)}; give the format as an option")
    return _SUFFIXES[suffix]


class Source(msgspec.Struct, frozen=True):
    """A table to read; the path `-` is standard input."""

    path: str
    format: Format

    @classmethod
    def of(cls, path: str, given: Format | None) -> "Source":
        """Choose the format: as given, by suffix, and JSON lines for standard input."""
        source_format = given or (Format.JSONL if path == STANDARD_STREAM else format_by_suffix(path))
        return cls(path, source_format)

    @property
    def is_stdin(self) -> bool:
        """Whether the table comes from standard input."""
        return self.path == STANDARD_STREAM

    @property
    def name(self) -> str:
        """The name used in messages."""
        return "standard input" if self.is_stdin else self.path

    def open(self) -> BinaryIO:
        """Open the file for reading bytes; the caller closes it."""
        if self.is_stdin:
            return sys.stdin.buffer
        try:
            return Path(self.path).open("rb")
        except OSError as error:
            raise self.bad(one_line(error)) from None

    def bad(self, reason: str, row: int | None = None) -> InputError:
        """Return the error for this file; rows count from 1."""
        return InputError(f"{self.name}: {reason}" if row is None else f"{self.name}: row {row}: {reason}")


def create(temporary: Path, path: Path) -> BinaryIO:
    """Open `temporary`, which will become `path`, for writing bytes."""
    try:
        return temporary.open("wb")
    except OSError as error:
        raise InputError(f"{path}: cannot be written: {one_line(error)}") from None
