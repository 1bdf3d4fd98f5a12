"""A folder of versions: each names the files that make up one consistent state of an index.

A version is a small JSON file, `version-0000000012.json`: `{"sum": …, "version": {…}}`, where the sum is over the
text of `version`. Readers take no lock. A writer holds one from before its first data file until it has published:

    with folder.writing():
        name = folder.new_name("segment")
        write_arrays(folder.path / name, arrays, meta)
        folder.publish([name], {})
        folder.collect()
"""

import fcntl
import os
import re
import secrets
import threading
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Any, Final, TypeVar

import msgspec
from xxhash import xxh3_64_hexdigest

from tamis.matching.errors import IndexChangedError, IndexFileError, NewerFormatError
from tamis.matching.segments.files import is_temporary, placed, sync_folder

FORMAT: Final = 1
#: A version names files; it holds no data. A larger file is not ours, and is not read into memory.
MAX_VERSION_BYTES: Final = 16 * 1024 * 1024

_LOCK: Final = ".lock"
#: As `open` would have it: the user's mask takes away from this.
_MODE: Final = 0o666
_VERSION_NAME: Final = re.compile(r"version-([0-9]{10,18})\.json")
#: What `new_name` makes.
_NEW_NAME: Final = re.compile(r".+-[0-9a-f]{16}\.tamis")
_PLAIN_NAME: Final = re.compile(r"[^./\x00][^/\x00]*")

T = TypeVar("T")


class Version(msgspec.Struct, frozen=True):
    """One consistent state: the names in the folder that it needs, and what the writer wants to know again."""

    number: int
    files: tuple[str, ...]
    meta: dict[str, Any]


class _Numbered(Version, frozen=True):
    format: int


class _Format(msgspec.Struct):
    """What a version file tells in every format to come."""

    format: int


class _Sealed(msgspec.Struct, forbid_unknown_fields=True):
    sum: str
    version: msgspec.Raw


class Folder:
    """The versions of an index in a folder, for any number of readers and one writer at a time.

    It may be shared between threads, but not with a forked process: make another there.
    """

    def __init__(self, path: Path) -> None:
        self.path = path
        self._lock = threading.RLock()
        self._held = False

    @contextmanager
    def writing(self) -> Iterator[None]:
        """Be the only writer, of all threads and processes; wait for another to end. Makes the folder if need be.

        The lock is freed when the process dies. Hold it from before the first data file of a version is written until
        the version is published: `collect` in another process takes files that no version names for left behind.
        """
        with self._lock:
            if self._held:
                yield
                return
            self._make()
            handle = os.open(self.path / _LOCK, os.O_RDWR | os.O_CREAT | os.O_CLOEXEC, _MODE)
            try:
                fcntl.flock(handle, fcntl.LOCK_EX)
                self._held = True
                yield
            finally:
                self._held = False
                # Closing alone would not free it if a process was forked meanwhile, which has the handle too.
                fcntl.flock(handle, fcntl.LOCK_UN)
                os.close(handle)

    def publish(self, files: Sequence[str], meta: Mapping[str, Any], after: int | None = None) -> Version:
        """Make these files the newest version, under the next number, and return it when it is on disk.

        The files are in the folder, as `write_arrays` leaves them; `meta` is what JSON can hold. Readers see the old
        version or the new one, nothing between. With `after`, which was `versions()[0]` before the old version was
        opened (0: there was none), that must still be the newest number, otherwise `IndexChangedError`: so no writer
        undoes another's work unseen.
        """
        with self.writing():
            newest = max(self.versions(), default=0)
            if after is not None and newest != after:
                raise IndexChangedError(f"{self.path} is at version {newest}, not {after}: open it again")
            for name in files:
                if not _is_data_name(name):
                    raise ValueError(f"{name!r} is no name for a file of an index")
                if not (self.path / name).is_file():
                    raise FileNotFoundError(f"version {newest + 1} would need {self.path / name}, which is not there")
            number = newest + 1
            content = msgspec.json.encode(_Numbered(number, tuple(files), dict(meta), FORMAT))
            version = _decoded(content)
            if version.meta != meta:
                raise ValueError(f"meta is not what JSON can hold: {meta!r} would come back as {version.meta!r}")
            sealed = _sealed(content)
            if len(sealed) > MAX_VERSION_BYTES:
                raise ValueError(f"version {number} would take {len(sealed)} bytes, more than {MAX_VERSION_BYTES}")
            with placed(self._file(number)) as file:
                file.write(sealed)
            return version

    def versions(self) -> list[int]:
        """Return the numbers of the version files, newest first, whether they are whole or not."""
        found = (_VERSION_NAME.fullmatch(name) for name in os.listdir(self.path))  # noqa: PTH208  names, not paths
        return sorted((int(each[1]) for each in found if each), reverse=True)

    def read(self, number: int) -> Version:
        """Return a version. One that is torn or damaged is refused with `IndexFileError`."""
        path = self._file(number)
        with path.open("rb") as file:
            content = file.read(MAX_VERSION_BYTES + 1)
        try:
            sealed = msgspec.json.decode(content, type=_Sealed)
            # Equality to the letter: no byte of the file may differ from what was written.
            if _sealed(bytes(sealed.version)) != content:
                raise ValueError("its checksum does not fit")
            format_ = msgspec.json.decode(sealed.version, type=_Format).format
            if format_ > FORMAT:
                raise NewerFormatError(
                    f"{path} was written by a newer Tamis (format {format_}); upgrade Tamis to open it"
                )
            version = _decoded(sealed.version)
            if version.number != number:
                raise ValueError(f"it is version {version.number} under a wrong name")
            if not all(map(_is_data_name, version.files)):
                raise ValueError("it names files outside its folder")
        except NewerFormatError:
            raise
        except ValueError as error:
            raise IndexFileError(f"{path} is damaged: {error}") from None
        return version

    def latest(self) -> Version:
        """Return the newest version that is whole and whose files are there. What is in these is not looked at."""
        return self.open_latest(self._check_files)

    def open_latest(self, opening: Callable[[Version], T]) -> T:
        """Return what `opening` makes of the newest version that is whole.

        It refuses a version by raising `IndexFileError` or `FileNotFoundError`, as `read_arrays` does of itself; then
        the one before is tried. It learns from the version's number which one it is: `versions()[0]` unless that was
        torn. When none is left: `IndexFileError` with the newest one's reason. A version from a newer Tamis is not
        skipped: `NewerFormatError`.
        """
        numbers = self.versions()
        while True:
            reasons: list[str] = []
            for number in numbers:
                try:
                    return opening(self.read(number))
                except NewerFormatError:
                    raise
                except (IndexFileError, FileNotFoundError) as error:
                    reasons.append(str(error))
            # A writer may have replaced and collected all of them while we looked.
            seen, numbers = numbers, self.versions()
            if numbers == seen:
                reason = f"{len(reasons)} torn; the newest: {reasons[0]}" if reasons else "there are no versions in it"
                raise IndexFileError(f"{self.path} has no version that can be opened: {reason}")

    def collect(self, keep: int = 2, opening: Callable[[Version], object] | None = None) -> list[str]:
        """Remove what only versions before the newest `keep` whole ones need, and return the names of it.

        That is: older version files, the data files which they named, files under a name of `new_name` which no
        version names, and temporary files of writers that were killed. Other files are not touched. Whole is what
        `opening` does not refuse (see `open_latest`), otherwise what `latest` would take. As long as no version is
        whole, only temporary files are removed. A reader who is just opening a removed version finds a newer one.
        """
        if keep < 1:
            raise ValueError(f"at least one version is kept, not {keep}")
        with self.writing():
            names = set(os.listdir(self.path))  # noqa: PTH208  names, not paths
            readable, whole = self._known(keep, opening or self._check_files)
            removed = sorted(filter(is_temporary, names))
            if whole or not self.versions():
                oldest = whole[-1] if whole else 0
                old = [number for number in reversed(self.versions()) if number < oldest]
                needed = {name for version in readable if version.number >= oldest for name in version.files}
                named = {name for version in readable for name in version.files}
                # Versions go first, the oldest before the others: none is ever seen without its files, except by a
                # reader who already holds it, and for him no older one is left to fall back to.
                removed += [self._file(number).name for number in old]
                removed += sorted(name for name in names - needed if name in named or _NEW_NAME.fullmatch(name))
            for name in removed:
                (self.path / name).unlink(missing_ok=True)
            sync_folder(self.path)
            return removed

    def new_name(self, stem: str) -> str:
        """Return a file name that was never used: a reader with an old version never finds another's file under it."""
        while True:
            name = f"{stem}-{secrets.token_hex(8)}.tamis"
            if not _is_data_name(name):
                raise ValueError(f"{stem!r} is no beginning for the name of a file")
            if not (self.path / name).exists():
                return name

    # --- inside -------------------------------------------------------------------------------------

    def _file(self, number: int) -> Path:
        return self.path / f"version-{number:010}.json"

    def _make(self) -> None:
        if not self.path.is_dir():
            self.path.mkdir(parents=True, exist_ok=True)
            sync_folder(self.path.parent)

    def _check_files(self, version: Version) -> Version:
        for name in version.files:
            if not (self.path / name).is_file():
                raise FileNotFoundError(f"version {version.number} needs {self.path / name}, which is not there")
        return version

    def _known(self, keep: int, opening: Callable[[Version], object]) -> tuple[list[Version], list[int]]:
        """Return the versions that can be read, and the numbers of the newest whole ones among them."""
        readable: list[Version] = []
        whole: list[int] = []
        for number in self.versions():
            try:
                readable.append(self.read(number))
                if len(whole) < keep:
                    opening(readable[-1])
                    whole.append(number)
            except NewerFormatError:
                raise
            except (IndexFileError, FileNotFoundError):
                continue
        return readable, whole


def _decoded(content: bytes | msgspec.Raw) -> Version:
    found = msgspec.json.decode(content, type=_Numbered)
    return Version(found.number, found.files, found.meta)


def _sealed(content: bytes) -> bytes:
    return msgspec.json.encode(_Sealed(xxh3_64_hexdigest(content), msgspec.Raw(content)))


def _is_data_name(name: str) -> bool:
    return _PLAIN_NAME.fullmatch(name) is not None and _VERSION_NAME.fullmatch(name) is None
