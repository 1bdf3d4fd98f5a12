"""What a version of compiled subscriptions says of itself."""

from pathlib import Path
from typing import Final

import msgspec
from xxhash import xxh3_64_hexdigest

from tamis.matching.segments.files import placed
from tamis.pipeline.errors import StoreError

FORMAT: Final = 2
NAME: Final = "manifest.json"


class Counts(msgspec.Struct, frozen=True):
    """What became of the rows of a table: each is one of the four."""

    active: int = 0
    #: The condition or the id is wrong: see the rejects.
    rejected: int = 0
    #: Switched off by `active`.
    inactive: int = 0
    #: There is a row of the same id with a greater `version`.
    superseded: int = 0

    def __add__(self, other: "Counts") -> "Counts":
        pairs = zip(msgspec.structs.astuple(self), msgspec.structs.astuple(other), strict=True)
        return Counts(*(one + another for one, another in pairs))


class Shard(msgspec.Struct, frozen=True):
    """One saved `tamis.Index`."""

    folder: str
    subscriptions: int
    bytes: int


class Manifest(msgspec.Struct, frozen=True):
    """A version: its shards, which are matched together, and what was found while it was made."""

    version: int
    #: `string` or `long`.
    ids: str
    shards: list[Shard]
    #: Of the table that was compiled, or of the changes that an update brought.
    counts: Counts
    #: By attribute and by what it is compared with, in how many predicates.
    asked: dict[str, dict[str, int]]
    #: Files of refused rows.
    rejects: list[str]
    #: By attribute and by what `notify` clauses take it for, in how many clauses.
    notified: dict[str, dict[str, int]] = {}
    #: Files of what is kept beside conditions, in layers; versions of format 1 have none.
    particulars: list[list[str]] | None = None
    #: The version that an update went out from.
    base: int | None = None
    format: int = FORMAT

    @property
    def subscriptions(self) -> int:
        """How many there are."""
        return sum(shard.subscriptions for shard in self.shards)

    @property
    def bytes(self) -> int:
        """How much memory the index takes, once on each host."""
        return sum(shard.bytes for shard in self.shards)

    def write(self, folder: Path) -> None:
        """Write it as the last file of a version."""
        content = msgspec.json.encode(self)
        with placed(folder / NAME) as file:
            file.write(_sealed(content))

    @classmethod
    def read(cls, folder: Path) -> "Manifest":
        """Return the manifest of a version; one that is torn, or whose shards are not there, is a `StoreError`."""
        path = folder / NAME
        try:
            content = path.read_bytes()
        except FileNotFoundError:
            raise StoreError(f"{folder} is no whole version: it has no {NAME}") from None
        try:
            sealed = msgspec.json.decode(content, type=_Sealed)
            if _sealed(bytes(sealed.manifest)) != content:
                raise ValueError("its checksum does not fit")
            format_ = msgspec.json.decode(sealed.manifest, type=_Format).format
            if format_ > FORMAT:
                raise ValueError(f"a newer Tamis wrote it (format {format_}); upgrade Tamis to open it")
            manifest = msgspec.json.decode(sealed.manifest, type=cls)
        except ValueError as error:
            raise StoreError(f"{path} cannot be used: {error}") from None
        layers = [name for layer in manifest.particulars or () for name in layer]
        for name in [*(shard.folder for shard in manifest.shards), *manifest.rejects, *layers]:
            if not (folder / name).exists():
                raise StoreError(f"version {manifest.version} needs {folder / name}, which is not there")
        return manifest


class _Format(msgspec.Struct):
    format: int


class _Sealed(msgspec.Struct):
    sum: str
    manifest: msgspec.Raw


def _sealed(content: bytes) -> bytes:
    return msgspec.json.encode(_Sealed(xxh3_64_hexdigest(content), msgspec.Raw(content)))
