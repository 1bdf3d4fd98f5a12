"""Saved indexes that are made on the executors: built of tables, and merged."""

import secrets
from collections.abc import Sequence
from pathlib import Path

import numpy as np
import pyarrow as pa

from tamis.matching.segments.draft import draft_of
from tamis.matching.segments.ids import Ids
from tamis.matching.segments.part import Part, merged
from tamis.matching.segments.saved import open_saved, save_parts
from tamis.matching.segments.texts import Texts
from tamis.pipeline.manifests import Shard
from tamis.pipeline.sorting import Sorted


def new_shard() -> str:
    """Return a name that nobody had: a task that is run twice must not meet what it left the first time."""
    return f"shard-{secrets.token_hex(8)}"


def build_shard(folder: Path, found: Sorted) -> Shard:
    """Write an index of some subscriptions into a new folder below this one, which must be there."""
    texts = Texts.of(found.texts.cast(pa.large_string()))
    return _saved(folder, Part.of(Ids.of(found.ids), draft_of(found.expressions), texts))


def merge_shards(folder: Path, names: Sequence[str]) -> Shard:
    """Write an index of all subscriptions of several, which have no id in common, and are left as they are."""
    parts = [part for name in names for part in open_saved(folder / name).parts]
    alive = [part.living(0) for part in parts]
    return _saved(folder, merged(parts, alive, None)[0])


def _saved(folder: Path, part: Part) -> Shard:
    name = new_shard()
    # Not with its parents: where the folder is gone, nobody waits for this any more.
    (folder / name).mkdir()
    save_parts(folder / name, [part], 0)
    return described(folder, name)


def described(folder: Path, name: str) -> Shard:
    """Say how large a saved index is."""
    parts = open_saved(folder / name).parts
    size = sum(part.bytes + part.ids.bytes for part in parts)
    return Shard(name, int(np.sum([part.alive for part in parts], dtype=np.int64)), size)
