"""What a running job notes on disk: which batch is being done, what became of those that are, and whether to stop.

Files, because the function that does a batch may run in another process than the one that watches over the job: with
Spark Connect it does.
"""

from pathlib import Path
from typing import Final

import msgspec

from tamis.matching.segments.files import placed

_BEGUN: Final = "begun"
_STOP: Final = "stop"
#: So many notes are kept: the watcher has seen all that are older.
_KEPT: Final = 1_000


class Note(msgspec.Struct, frozen=True):
    """A micro-batch that is done."""

    batch: int
    #: The greatest version of the subscriptions that was used; none if nothing came out.
    version: int | None
    answers: int
    rejected: int


class Notes:
    """The notes of a job, in a folder of their own."""

    def __init__(self, folder: Path) -> None:
        self._folder = folder

    def open(self) -> None:
        """Begin a run: what an earlier one left undone is forgotten."""
        self._folder.mkdir(parents=True, exist_ok=True)
        for name in (_BEGUN, _STOP):
            (self._folder / name).unlink(missing_ok=True)

    def begin(self, batch: int) -> None:
        """Note that a batch is being done."""
        with placed(self._folder / _BEGUN) as file:
            file.write(str(batch).encode())

    def begun(self) -> int | None:
        """Return the batch that was begun last in this run."""
        try:
            return int((self._folder / _BEGUN).read_bytes())
        except FileNotFoundError:
            return None

    def end(self, note: Note) -> None:
        """Note what became of a batch."""
        with placed(self._file(note.batch)) as file:
            file.write(msgspec.json.encode(note))
        self._file(note.batch - _KEPT).unlink(missing_ok=True)

    def of(self, batch: int) -> Note | None:
        """Return what became of a batch."""
        try:
            return msgspec.json.decode(self._file(batch).read_bytes(), type=Note)
        except FileNotFoundError:
            return None

    def ask_to_stop(self) -> None:
        """Let the job stop after the batch that is being done."""
        (self._folder / _STOP).touch()

    def stops(self) -> bool:
        """Say whether the job was asked to stop."""
        return (self._folder / _STOP).exists()

    def _file(self, batch: int) -> Path:
        return self._folder / f"{batch:012}.json"
