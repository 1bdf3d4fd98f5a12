"""A file that says that somebody uses the one beside it."""

import sys
from pathlib import Path

if sys.platform != "win32":
    import fcntl


class Locked:
    """Nobody else has the same lock until this one is released, or its process has ended in whatever way."""

    def __init__(self, path: Path) -> None:
        """Take the lock; an `OSError` if somebody has it."""
        self._file = path.open("a")
        if sys.platform != "win32":
            try:
                fcntl.flock(self._file, fcntl.LOCK_EX | fcntl.LOCK_NB)
            except OSError:
                self._file.close()
                raise OSError(f"it is in use by another broker ({path})") from None

    def release(self) -> None:
        """Let others have it."""
        self._file.close()
