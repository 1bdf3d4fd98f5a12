"""Indexes on disk: a folder of parts and versions, which any number of processes map into memory."""

from collections.abc import Sequence
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np

from tamis.matching.errors import IndexFileError
from tamis.matching.ranks.lists import Longs
from tamis.matching.segments.arrays import read_arrays, write_arrays
from tamis.matching.segments.ids import Id, Ids
from tamis.matching.segments.part import Part
from tamis.matching.segments.texts import Texts
from tamis.matching.segments.versions import Folder, Version


class Opened(NamedTuple):
    """A version of an index: its engine with the parts of `auto`, or with ids and texts of any other.

    `number` is that of the newest version there was, whether it was whole or not: what is saved next comes after it.
    """

    number: int
    engine: str
    parts: list[Part]
    ids: list[Id]
    texts: list[str]


def save_parts(path: Path, parts: Sequence[Part], version: int, after: int | None = None) -> int:
    """Publish parts as they are in a version, and return the number it has on disk. Parts that are there stay."""
    folder = Folder(path)
    with folder.writing():
        names = []
        for part in parts:
            if part.file is None or part.file.parent != path or not part.file.is_file():
                part.write(path / folder.new_name("part"))
            assert part.file is not None
            names.append(part.file.name)
        removed = {str(number): np.flatnonzero(~part.living(version)) for number, part in enumerate(parts)}
        removed = {number: rows for number, rows in removed.items() if len(rows)}
        files = list(names)
        if removed:
            files.append(folder.new_name("removed"))
            write_arrays(path / files[-1], removed, {})
        published = folder.publish(files, {"engine": "auto", "parts": len(names)}, after)
        folder.collect()
        return published.number


def save_texts(path: Path, engine: str, ids: Sequence[Id], texts: Sequence[str]) -> None:
    """Publish subscriptions of an engine that is built anew when it is opened."""
    folder = Folder(path)
    with folder.writing():
        name = folder.new_name("texts")
        columns = {"ids": Ids.of(ids).arrays(), "texts": Texts.of(texts).arrays()}
        arrays = {f"{group}.{name}": array for group, held in columns.items() for name, array in held.items()}
        write_arrays(path / name, arrays, {})
        folder.publish([name], {"engine": engine})
        folder.collect()


def open_saved(path: Path, known: Sequence[Part] = ()) -> Opened:
    """Return the newest version that is whole. Parts that are known already are not opened again."""
    if not path.exists():
        raise FileNotFoundError(f"there is no index at {path}")
    if not path.is_dir():
        raise IndexFileError(f"{path} is no Tamis index: an index is a folder")
    by_file = {part.file: part for part in known if part.file is not None}
    folder = Folder(path)
    newest = max(folder.versions(), default=0)
    opened = folder.open_latest(lambda version: _open(path, version, by_file))
    return opened._replace(number=max(newest, opened.number))


def _open(path: Path, version: Version, known: dict[Path, Part]) -> Opened:
    engine = version.meta.get("engine")
    if not isinstance(engine, str):
        raise IndexFileError(f"{path} is no Tamis index: version {version.number} names no engine")
    if engine != "auto":
        return _open_texts(path, version, engine)
    count = version.meta.get("parts")
    if not isinstance(count, int):
        raise IndexFileError(f"{path} is no Tamis index: version {version.number} does not tell how many parts it has")
    # Those who read a known part must not see what is removed from it in this version.
    parts = [
        known[path / name].whole() if path / name in known else Part.read(path / name) for name in version.files[:count]
    ]
    for name in version.files[count:]:
        removed, _ = read_arrays(path / name)
        for number, rows in removed.items():
            _remove(path / name, parts, number, rows)
    return Opened(version.number, engine, parts, [], [])


def _remove(path: Path, parts: list[Part], number: str, rows: Longs) -> None:
    part = parts[int(number)] if number.isdigit() and int(number) < len(parts) else None
    if part is None or rows.dtype != np.int64 or (len(rows) and not 0 <= rows.min() <= rows.max() < len(part)):
        raise IndexFileError(f"{path} removes rows that are not there")
    there = part.living(0)
    part.remove(rows[there[rows]], 0)


def _open_texts(path: Path, version: Version, engine: str) -> Opened:
    if not version.files:
        raise IndexFileError(f"{path} is no Tamis index: version {version.number} names no file")
    arrays, _ = read_arrays(path / version.files[0])
    groups: dict[str, dict[str, Any]] = {"ids": {}, "texts": {}}
    for key, array in arrays.items():
        group, _, name = key.partition(".")
        groups.setdefault(group, {})[name] = array
    try:
        ids, texts = Ids.from_arrays(groups["ids"]), Texts.from_arrays(groups["texts"])
    except (ValueError, KeyError) as error:
        raise IndexFileError(f"{path / version.files[0]} holds no subscriptions: {error}") from None
    return Opened(version.number, engine, [], ids.arrow().to_pylist(), texts.arrow().to_pylist())
