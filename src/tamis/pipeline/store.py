"""A folder with versions of compiled subscriptions.

    CURRENT                     the number of the version in use; replaced as a whole
    version-0000000007/         never changes once it has this name
        manifest.json           written last
        shard-…/                saved indexes, mapped into memory by all workers of a host
        rejects/                Parquet
        particulars/            Arrow
    .building-…/                a version that is being written, or whose writer died

The folder is on a file system that the driver and all workers see under the same path.
"""

import fcntl
import os
import re
import secrets
import shutil
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import Any, Final

from tamis.matching.segments.files import placed, sync_folder
from tamis.pipeline.errors import StoreError
from tamis.pipeline.manifests import Manifest

_POINTER: Final = "CURRENT"
_LOCK: Final = ".lock"
_BUILDING: Final = ".building-"
_REMOVED: Final = ".removed-"
_VERSION: Final = re.compile(r"version-(\d{10})")


class Store:
    """The versions in a folder. Any number of processes may read and write at the same time."""

    def __init__(self, path: str | Path) -> None:
        self.path = Path(path).resolve()

    # --- reading ------------------------------------------------------------------------------------

    def current(self) -> int:
        """Return the number of the version in use; none is a `FileNotFoundError`."""
        path = self.path / _POINTER
        try:
            content = path.read_bytes()
        except FileNotFoundError:
            raise FileNotFoundError(f"there are no compiled subscriptions at {self.path}") from None
        try:
            return int(content)
        except ValueError:
            raise StoreError(f"{path} is damaged: it names no version") from None

    def manifest(self, version: int | None = None) -> Manifest:
        """Return the manifest of a version, by default the one in use; what is not whole is a `StoreError`."""
        number = self.current() if version is None else version
        folder = self.folder(number)
        if not folder.is_dir():
            there = ", ".join(map(str, self.versions())) or "none"
            raise StoreError(f"{self.path} has no version {number}; there are: {there}")
        manifest = Manifest.read(folder)
        if manifest.version != number:
            raise StoreError(f"{folder} holds version {manifest.version}, which is not its name")
        return manifest

    def versions(self) -> list[int]:
        """Return the numbers of all versions, oldest first."""
        found = (_VERSION.fullmatch(each.name) for each in self.path.iterdir()) if self.path.is_dir() else ()
        return sorted(int(each[1]) for each in found if each)

    def folder(self, version: int) -> Path:
        """Return where a version lies."""
        return self.path / f"version-{version:010}"

    # --- writing ------------------------------------------------------------------------------------

    @contextmanager
    def building(self) -> Iterator[Path]:
        """Give a folder in which a version may be written; what is not published at the end is removed.

        Its lock tells a writer at work from one that died.
        """
        self.path.mkdir(parents=True, exist_ok=True)
        folder = self.path / f"{_BUILDING}{secrets.token_hex(8)}"
        folder.mkdir()
        try:
            with _locked(folder / _LOCK):
                yield folder
        finally:
            shutil.rmtree(folder, ignore_errors=True)

    @contextmanager
    def writing(self) -> Iterator[None]:
        """Be the only one to publish; wait for another to end."""
        self.path.mkdir(parents=True, exist_ok=True)
        with _locked(self.path / _LOCK):
            yield

    def publish(self, folder: Path, **manifest: Any) -> Manifest:
        """Make what lies in a folder of `building` the version in use, and return its manifest. Needs `writing`."""
        number = max([*self.versions(), self._pointed()]) + 1
        made = Manifest(number, **manifest)
        made.write(folder)
        folder.rename(self.folder(number))
        sync_folder(self.path)
        self.use(number)
        return made

    def use(self, version: int) -> None:
        """Let a version be the one in use: also an older one, to go back to it."""
        self.manifest(version)
        with placed(self.path / _POINTER) as file:
            file.write(str(version).encode())

    def prune(self, keep: int) -> list[str]:
        """Remove all but the newest `keep` versions and the one in use, and what dead writers left; return the names.

        A stream that must repeat a batch needs the version of that batch: keep those that may still be asked for.
        """
        if keep < 1:
            raise ValueError(f"at least one version is kept, not {keep}")
        with self.writing():
            numbers = self.versions()
            kept = {*numbers[-keep:], self._pointed()}
            removed = [self.folder(number) for number in numbers if number not in kept]
            removed += [each for each in self.path.iterdir() if _is_left_behind(each)]
            for each in removed:
                # It is gone at once for those who look for it, however long it takes to remove its files.
                moved = self.path / f"{_REMOVED}{secrets.token_hex(8)}"
                each.rename(moved)
                shutil.rmtree(moved)
            return [each.name for each in removed]

    def _pointed(self) -> int:
        try:
            return self.current()
        except FileNotFoundError:
            return 0


def linked(source: Path, target: Path) -> None:
    """Let a folder of files that never change appear a second time, without copying where the file system can."""
    try:
        shutil.copytree(source, target, copy_function=os.link)
    except (OSError, shutil.Error):
        shutil.rmtree(target, ignore_errors=True)
        shutil.copytree(source, target)


@contextmanager
def _locked(path: Path, wait: bool = True) -> Iterator[None]:
    with path.open("ab") as file:
        fcntl.flock(file, fcntl.LOCK_EX | (0 if wait else fcntl.LOCK_NB))
        try:
            yield
        finally:
            # Closing alone would not free it if a process was forked meanwhile, which has the handle too.
            fcntl.flock(file, fcntl.LOCK_UN)


def _is_left_behind(folder: Path) -> bool:
    if folder.name.startswith(_REMOVED):
        return True
    if not folder.name.startswith(_BUILDING) or not (folder / _LOCK).exists():
        # Its writer is just beginning, or its remains are being removed.
        return False
    with suppress(BlockingIOError, FileNotFoundError), _locked(folder / _LOCK, wait=False):
        return True
    return False
