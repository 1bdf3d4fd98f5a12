"""What is kept of subscriptions beside their conditions: `notify` clauses, owners and tags.

They lie beside the indexes of a version, in layers of Arrow files, oldest first; what a newer layer says of an id wins.
The first layer has only subscriptions that have any of it, which often are few; a newer one has all that an update
named, so that it hides what they had. Layers are merged as they grow, so that there are few.
"""

import secrets
from collections.abc import Callable, Sequence
from functools import lru_cache
from pathlib import Path
from typing import Any, Final

import numpy as np
import numpy.typing as npt
import pyarrow as pa
import pyarrow.compute as pc

from tamis.language import Notify
from tamis.matching.ranks.lists import Ints, Longs
from tamis.matching.segments.files import placed
from tamis.matching.segments.ids import Ids
from tamis.notification.law import ABSOLUTE, FACTOR, RELATIVE
from tamis.pipeline.asked import ANY, Asked, total
from tamis.pipeline.errors import StoreError
from tamis.pipeline.manifests import NAME, Manifest
from tamis.pipeline.store import Store

FOLDER: Final = "particulars"
#: The law of a subscription without a clause: it is told of everything.
NO_CLAUSE: Final = -1
#: The code of a clause without a key.
NO_KEY: Final = -1
#: Versions that a process keeps open.
_OPEN: Final = 4
#: A layer is merged with the one below it if that is not so many times as large.
_RATIO: Final = 2

Layers = list[list[str]]


def schema_of(ids: pa.DataType) -> pa.Schema:
    """Return the columns of a layer. `since` is a number of its own for each time that a clause was made or changed."""
    return pa.schema(
        {
            "id": pa.int64() if pa.types.is_integer(ids) else pa.large_string(),
            "law": pa.int8(),
            "radius": pa.float64(),
            "attribute": pa.dictionary(pa.int32(), pa.string()),
            "key": pa.dictionary(pa.int32(), pa.string()),
            "notify": pa.string(),
            "since": pa.int64(),
            "owner": pa.string(),
            "tags": pa.list_(pa.string()),
        }
    )


def table_of(
    ids: pa.Array, clauses: Sequence[Notify | None], owners: pa.Array, tags: pa.Array, before: "Particulars | None"
) -> pa.Table:
    """Return the rows of subscriptions. A clause that is as it was before goes on: it keeps its `since`."""
    schema = schema_of(ids.type)
    laws = [NO_CLAUSE if each is None else _law(each) for each in clauses]
    texts = pa.array([None if each is None else str(each) for each in clauses], pa.string())
    since = np.full(len(ids), secrets.randbits(62), np.int64)
    if before is not None and len(ids):
        rows = before.find(ids)
        same = pc.equal(before.texts.take(pa.array(rows, mask=rows < 0)), texts).fill_null(False)
        kept = same.to_numpy(zero_copy_only=False)
        since[kept] = before.since[rows[kept]]
    columns = [
        ids.cast(schema.field("id").type),
        pa.array(laws, pa.int8()),
        pa.array([None if each is None else each.must for each in clauses], pa.float64()),
        pa.array([None if each is None else each.attribute for each in clauses], pa.string()).dictionary_encode(),
        pa.array([None if each is None else each.key for each in clauses], pa.string()).dictionary_encode(),
        texts,
        pa.array(since),
        owners.cast(pa.string()),
        tags.cast(pa.list_(pa.string())),
    ]
    return pa.table(columns, schema=schema)


def noted(table: pa.Table) -> pa.Table:
    """Return the rows that say anything."""
    said = pc.or_(pc.or_(table["notify"].is_valid(), table["owner"].is_valid()), table["tags"].is_valid())
    return table.filter(said)


def write_layer(folder: Path, table: pa.Table) -> str | None:
    """Write rows into a file of its own below the folder of a version, if there are any; return its name."""
    if not table.num_rows:
        return None
    name = f"{FOLDER}/part-{secrets.token_hex(8)}.arrow"
    with placed(folder / name) as file, pa.ipc.new_file(file, table.schema) as writer:
        # In one batch: dictionaries of several would have to be replaced, which a file cannot.
        writer.write_table(table.unify_dictionaries().combine_chunks())
    return name


def add_layer(folder: Path, layers: Layers, changes: pa.Table) -> Layers:
    """Put changes on top of the layers that lie in a folder; return the layers then. Files that are done go away."""
    layers, newer = [list(layer) for layer in layers], changes
    while layers:
        below = [read_layer(folder / name) for name in layers[-1]]
        if newer.num_rows * _RATIO < sum(table.num_rows for table in below):
            break
        newer = _newest([newer, *below])
        for name in layers.pop():
            (folder / name).unlink()
    if not layers:
        # There is nothing left to hide.
        newer = noted(newer)
    written = write_layer(folder, newer)
    return [*layers, [written]] if written is not None else layers


def read_layer(path: Path) -> pa.Table:
    """Return the rows of a file, mapped into memory."""
    try:
        return pa.ipc.open_file(pa.memory_map(str(path))).read_all()
    except (OSError, pa.ArrowException) as error:
        raise StoreError(f"{path} cannot be used: {error}") from None


def _newest(tables: Sequence[pa.Table]) -> pa.Table:
    """Return for each id the first row that there is, newest table first."""
    table = pa.concat_tables(tables).unify_dictionaries()
    ids = Ids.of(table["id"])
    return table.filter(pa.array(ids.find_many(ids) == np.arange(len(ids))))


def asked_in(table: pa.Table) -> Asked:
    """Count what clauses ask of events, as `asked_by` does for conditions."""
    counted = [(table["attribute"], "number"), (table["key"], ANY)]
    found: list[Asked] = []
    for column, kind in counted:
        counts = column.combine_chunks().cast(pa.string()).drop_null().value_counts().to_pylist()
        found += [{each["values"]: {kind: each["counts"]}} for each in counts]
    return total(found)


class Particulars:
    """All layers of a version, for searching. Row numbers are good for one version only."""

    def __init__(self, folder: Path, layers: Layers, ids: str) -> None:
        files = [read_layer(folder / name) for layer in layers[:1] for name in layer]
        upper = [read_layer(folder / name) for layer in layers[1:][::-1] for name in layer]
        empty = schema_of(pa.int64() if ids == "long" else pa.string()).empty_table()
        self.table = pa.concat_tables([*upper, *files, empty]).unify_dictionaries().combine_chunks()
        #: An id that is there twice is found in its first row, which is that of the newest layer.
        self.ids = Ids.of(self.table["id"])
        self.texts = self._column("notify")
        self.laws = self._numbers("law").astype(np.int64)
        self.radii = self._column("radius").fill_null(0).to_numpy()
        self.since = self._numbers("since")
        self.attributes, self.attribute_codes = _coded(self._column("attribute"))
        self.keys, self.key_codes = _coded(self._column("key"))
        clauses = self.laws != NO_CLAUSE
        #: The code that all clauses have, if it is only one: then nobody need look at each.
        self.sole_attribute = _sole(self.attribute_codes[clauses])
        self.sole_key = _sole(self.key_codes[clauses])
        self._shards: dict[int, Ints] = {}

    def rows(self, ids: pa.Array) -> Longs:
        """Return the row of each id, or -1."""
        return self.ids.find_many(Ids.of(ids)) if len(self.ids) and len(ids) else np.full(len(ids), -1, np.int64)

    def find(self, ids: pa.Array) -> Longs:
        """Return the row of each id that has a clause, or -1."""
        rows = self.rows(ids)
        return np.where(self.laws[rows] == NO_CLAUSE, -1, rows) if len(self.ids) else rows

    def rows_of(self, ids: pa.Array) -> pa.Table:
        """Return what is said of ids, as far as anything is."""
        rows = self.rows(ids)
        return self.table.take(pa.array(rows[rows >= 0]))

    def shards(self, count: int, deal: Callable[[pa.Array, int], Ints]) -> Ints:
        """Return for each row the shard that remembers it, of so many: it is worked out once."""
        if count not in self._shards:
            self._shards[count] = deal(self.ids.arrow(), count)
        return self._shards[count]

    def _column(self, name: str) -> Any:
        column = self.table[name]
        return column.chunk(0) if column.num_chunks else pa.array([], column.type)

    def _numbers(self, name: str) -> npt.NDArray[Any]:
        numbers: npt.NDArray[Any] = self._column(name).to_numpy()
        return numbers


def particulars(path: str | Path, version: int) -> Particulars:
    """Return those of a version, which stay open in this process; an old version that has none is a `StoreError`."""
    # Whoever removes a whole store and makes another in its place gets the same numbers again.
    try:
        inode = (Store(path).folder(version) / NAME).stat().st_ino
    except FileNotFoundError:
        inode = 0
    return _opened(str(path), version, inode)


@lru_cache(maxsize=_OPEN)
def _opened(path: str, version: int, inode: int) -> Particulars:  # noqa: ARG001 - a key
    store = Store(path)
    manifest = store.manifest(version)
    return Particulars(store.folder(version), kept_layers(store, manifest), manifest.ids)


def kept_layers(store: Store, manifest: Manifest) -> Layers:
    """Return the layers of a version."""
    if manifest.particulars is None:
        raise StoreError(
            f"version {manifest.version} at {store.path} was made by an older Tamis, which did not keep notify "
            "clauses: compile the subscriptions again"
        )
    return manifest.particulars


def _coded(column: pa.Array) -> tuple[list[str], Longs]:
    """Return names, and for each row the number of its name, or -1."""
    names: list[str] = column.dictionary.to_pylist()
    codes: Longs = column.indices.fill_null(-1).to_numpy().astype(np.int64)
    return names, codes


def _sole(codes: Longs) -> int | None:
    return int(codes[0]) if len(codes) and (codes == codes[0]).all() else None


def _law(notify: Notify) -> int:
    return ABSOLUTE if notify.radius is not None else RELATIVE if notify.relative is not None else FACTOR
