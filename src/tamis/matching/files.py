"""Subscriptions in a file: Arrow IPC with a version and a checksum."""

import hashlib
import os
import tempfile
from pathlib import Path
from typing import Final

import pyarrow as pa

VERSION: Final = 1
_KEYS: Final = {"version": b"tamis.index.version", "engine": b"tamis.index.engine", "sum": b"tamis.index.sum"}


def write(path: Path, engine: str, ids: pa.Array, conditions: list[str]) -> None:
    """Write a file beside the old one and put it in its place when it is on disk."""
    table = pa.table({"id": ids, "condition": pa.array(conditions, pa.large_string())})
    table = table.replace_schema_metadata(
        {_KEYS["version"]: str(VERSION), _KEYS["engine"]: engine, _KEYS["sum"]: _checksum(table)}
    )
    handle, temporary = tempfile.mkstemp(dir=path.parent, prefix=f".{path.name}.")
    try:
        with os.fdopen(handle, "wb") as file, pa.ipc.new_file(file, table.schema) as writer:
            writer.write_table(table)
            writer.close()
            file.flush()
            os.fsync(file.fileno())
        Path(temporary).replace(path)
    except BaseException:
        Path(temporary).unlink(missing_ok=True)
        raise


def read(path: Path) -> tuple[str, list[str | int], list[str]]:
    """Return the engine's name, the ids and the conditions."""
    try:
        with pa.memory_map(str(path)) as source:
            table = pa.ipc.open_file(source).read_all()
            table.validate(full=True)
            metadata = table.schema.metadata or {}
            checksum = _checksum(table) if _KEYS["version"] in metadata else ""
            ids, conditions = table.column(0).to_pylist(), table.column(1).to_pylist()
    except FileNotFoundError:
        raise
    except (pa.ArrowException, OSError, IndexError, UnicodeDecodeError) as error:
        raise ValueError(f"{path} is no Tamis index, or it is damaged: {error}") from None
    if _KEYS["version"] not in metadata:
        raise ValueError(f"{path} is an Arrow file but no Tamis index")
    version = int(metadata[_KEYS["version"]])
    if version > VERSION:
        raise ValueError(f"{path} was written by a newer Tamis (format {version}); upgrade Tamis to open it")
    if metadata.get(_KEYS["sum"], b"").decode() != checksum:
        raise ValueError(f"{path} is damaged: its checksum does not fit; restore it or save the index again")
    return metadata[_KEYS["engine"]].decode(), ids, conditions


def _checksum(table: pa.Table) -> str:
    """Return a digest of the values, which does not depend on how they are laid out."""
    digest = hashlib.blake2b(digest_size=16)
    for row in zip(table.column(0).to_pylist(), table.column(1).to_pylist(), strict=True):
        digest.update(repr(row).encode())
    return digest.hexdigest()
