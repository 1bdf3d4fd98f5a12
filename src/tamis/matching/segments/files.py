"""Files that appear whole or not at all."""

import os
import secrets
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import BinaryIO, Final

_SUFFIX: Final = ".tmp"
#: As `open` would have it: the user's mask takes away from this.
_MODE: Final = 0o666


@contextmanager
def placed(path: Path) -> Iterator[BinaryIO]:
    """Give a file to write, which takes its place under the path when the block ends, safe from a loss of power.

    When the block or the placing fails, nothing is left behind, and what was there before stays. A process that is
    killed leaves a temporary file at most: see `is_temporary`.
    """
    temporary = path.with_name(f".{path.name}.{secrets.token_hex(8)}{_SUFFIX}")
    try:
        handle = os.open(temporary, os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_CLOEXEC, _MODE)
        with os.fdopen(handle, "wb") as file:
            yield file
            file.flush()
            os.fsync(handle)
        temporary.replace(path)
    except BaseException:
        temporary.unlink(missing_ok=True)
        raise
    sync_folder(path.parent)


def sync_folder(path: Path) -> None:
    """Return when the names in a folder are on disk."""
    handle = os.open(path, os.O_RDONLY | os.O_DIRECTORY | os.O_CLOEXEC)
    try:
        os.fsync(handle)
    finally:
        os.close(handle)


def is_temporary(name: str) -> bool:
    """Tell whether `placed` makes such names: a file of this name is being written, or its writer was killed."""
    return name.startswith(".") and name.endswith(_SUFFIX)
