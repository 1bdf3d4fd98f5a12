"""Rows that cannot be used: counted, kept aside with their reason, reported."""

from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any, BinaryIO, Final

import msgspec

from tamis.cli.tables.source import Source, create
from tamis.lab.files import replacing

#: How many rejects are shown on standard error; all of them go to the file.
SHOWN: Final = 5


class Reject(msgspec.Struct, frozen=True):
    """One refused row. `content` is the row as it was read: the text of a line, or its fields."""

    file: str
    row: int
    reason: str
    content: Any


class Rejects:
    """Takes refused rows. With `strict` the first one ends the command instead."""

    def __init__(self, *, strict: bool = False) -> None:
        self.count = 0
        self.first: list[Reject] = []
        self._strict = strict
        self._file: BinaryIO | None = None

    @contextmanager
    def kept_in(self, path: Path) -> Iterator[None]:
        """Write every reject to `path`, which appears when the block has ended well."""
        with replacing(path) as temporary, create(temporary, path) as self._file:
            yield

    @contextmanager
    def kept_beside(self, output: Path) -> Iterator[None]:
        """Write rejects to OUTPUT.rejects.jsonl; without any there is no such file afterwards."""
        path = output.with_name(f"{output.name}.rejects.jsonl")
        with self.kept_in(path):
            yield
        if not self.count:
            path.unlink()

    def add(self, source: Source, row: int, reason: str, content: Any) -> None:
        """Refuse a row of `source`, counted from 1."""
        if self._strict:
            raise source.bad(reason, row)
        self.count += 1
        reject = Reject(source.name, row, reason, content)
        if len(self.first) < SHOWN:
            self.first.append(reject)
        if self._file is not None:
            self._file.write(msgspec.json.encode(reject) + b"\n")

    def lines(self) -> list[str]:
        """Return what to show on standard error."""
        shown = [f"rejected: {reject.file}: row {reject.row}: {reject.reason}" for reject in self.first]
        rest = self.count - len(shown)
        return [*shown, f"rejected: {rest:,} more"] if rest else shown
