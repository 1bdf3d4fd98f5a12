"""Files of tokens for tests."""

import datetime as dt
from pathlib import Path
from typing import Any

from tamis.server.tokens import Entry, hash_of, new_token


class TokenFile:
    """A file of tokens that a test writes to."""

    def __init__(self, folder: Path) -> None:
        self.path = folder / "tokens.toml"
        self._entries: dict[str, Entry] = {}
        self._write()

    def add(self, subject: str, **fields: Any) -> str:
        """Write an entry; return its token."""
        token = new_token()
        return self.change(token, subject, **fields)

    def change(self, token: str, subject: str, **fields: Any) -> str:
        """Write another entry for a token."""
        self._entries[token] = Entry(subject=subject, hash=hash_of(token), **fields)
        self._write()
        return token

    def remove(self, token: str) -> None:
        """Let there be no such token."""
        del self._entries[token]
        self._write()

    def _write(self) -> None:
        self.path.write_text("\n".join(entry.toml() for entry in self._entries.values()), encoding="utf-8")


def soon(seconds: float) -> dt.datetime:
    """Return a time that comes, or was."""
    return dt.datetime.now(dt.UTC) + dt.timedelta(seconds=seconds)
