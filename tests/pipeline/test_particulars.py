"""What is kept beside conditions: the newest layer wins, and a clause that did not change goes on."""

from pathlib import Path

import pyarrow as pa
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from tamis import parse_subscription
from tamis.pipeline.errors import StoreError
from tamis.pipeline.particulars import FOLDER, Layers, Particulars, add_layer, asked_in, read_layer, table_of

CLAUSES = [None, "p moves 2", "p moves 5% per k", "q moves by factor 2 per k"]

#: By id the number of a clause and an owner, or nothing if it is gone.
Rows = dict[int, tuple[int, str | None] | None]

changes = st.lists(
    st.dictionaries(
        st.integers(0, 9), st.tuples(st.integers(0, 3), st.sampled_from([None, "ann"])) | st.none(), max_size=6
    ),
    max_size=8,
)


def layer(rows: Rows, before: Particulars | None) -> pa.Table:
    said = [(0, None) if row is None else row for row in rows.values()]
    texts = [CLAUSES[clause] for clause, _ in said]
    clauses = [None if text is None else parse_subscription(f"true notify {text}").notify for text in texts]
    owners = pa.array([owner for _, owner in said], pa.string())
    tags = pa.nulls(len(said), pa.list_(pa.string()))
    return table_of(pa.array(rows, pa.int64()), clauses, owners, tags, before)


@settings(max_examples=50)
@given(changes)
def test_layers_say_what_a_table_says(
    tmp_path_factory: pytest.TempPathFactory, history: list[dict[int, tuple[int, str | None] | None]]
) -> None:
    folder = tmp_path_factory.mktemp("layers")
    (folder / FOLDER).mkdir()
    table: dict[int, tuple[int, str | None]] = {}
    since: dict[int, int] = {}
    layers: Layers = []
    found = Particulars(folder, layers, "long")
    for rows in history:
        layers = add_layer(folder, layers, layer(rows, found))
        found = Particulars(folder, layers, "long")
        everybody = pa.array(range(10), pa.int64())
        places = found.find(everybody).tolist()
        for id, row in rows.items():
            kept = row is not None and table.get(id, (0, None))[0] == row[0]
            table.pop(id, None)
            if row is not None:
                table[id] = row
            if not kept:
                since.pop(id, None)
        for id, place in enumerate(places):
            clause = table.get(id, (0, None))[0]
            assert (place >= 0) == (clause > 0)
            if place >= 0:
                assert found.texts[place].as_py() == f"notify {CLAUSES[clause]}"
                # As long as it is the same clause, and no longer.
                assert since.setdefault(id, int(found.since[place])) == found.since[place]
        rows_of = found.rows_of(everybody)
        owners = dict(zip(rows_of["id"].to_pylist(), rows_of["owner"].to_pylist(), strict=True))
        assert {id: owner for id, owner in owners.items() if owner} == {
            id: row[1] for id, row in table.items() if row[1]
        }
        clauses = [clause for clause, _ in table.values()]
        keyed = sum(clause > 1 for clause in clauses)
        assert asked_in(rows_of).get("k", {}).get("any", 0) == keyed
        # What all clauses name is known without looking at each; those that are hidden by newer ones count too.
        for sole, names, column in (
            (found.sole_attribute, found.attributes, "attribute"),
            (found.sole_key, found.keys, "key"),
        ):
            named = {name for name, text in zip(*_columns(rows_of, column, "notify"), strict=True) if text is not None}
            assert sole is None or named <= {names[sole] if sole >= 0 else None}
        # Files of layers that were merged are gone.
        assert len(list((folder / FOLDER).iterdir())) == len(layers) <= 4


def _columns(table: pa.Table, *names: str) -> list[list[str | None]]:
    return [table[name].to_pylist() for name in names]


def test_a_damaged_file_is_told(tmp_path: Path) -> None:
    (tmp_path / "part.arrow").write_bytes(b"nonsense")
    with pytest.raises(StoreError, match=r"part\.arrow cannot be used"):
        read_layer(tmp_path / "part.arrow")
