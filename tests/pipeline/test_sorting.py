"""Every row of a table counts, or it is told why not."""

from typing import Any

import pyarrow as pa
from hypothesis import given
from hypothesis import strategies as st

import tamis
from tamis.pipeline.manifests import Counts
from tamis.pipeline.sorting import REJECTS, sort_out

SCHEMA = pa.schema(
    {
        "id": pa.string(),
        "condition": pa.string(),
        "active": pa.bool_(),
        "version": pa.int64(),
        "notify": pa.string(),
        "owner": pa.string(),
        "tags": pa.list_(pa.string()),
    }
)


def sorted_out(*rows: tuple[Any, ...]) -> Any:
    """Sort rows, in which the last columns may be missing."""
    return sort_out(pa.Table.from_pylist([dict(zip(SCHEMA.names, row, strict=False)) for row in rows], SCHEMA))


def test_a_bad_condition_is_refused_with_its_position() -> None:
    found = sorted_out(
        ("a", "x >", None, 3), ("b", None, True, None), (None, "x > 1", None, None), ("c", "x > 1", True, 1)
    )
    assert found.ids.to_pylist() == ["c"]
    assert found.rejects.schema == REJECTS
    rows = [tuple(row.values()) for row in found.rejects.to_pylist()]
    assert rows[0][:3] == ("a", "x >", 4)
    assert "expected" in rows[0][3]
    assert rows[0][4] == 3
    assert rows[1] == ("b", None, None, "there is no condition", None, None)
    assert rows[2] == (None, "x > 1", None, "there is no id", None, None)


def test_a_clause_stands_in_the_condition_or_beside_it() -> None:
    found = sorted_out(
        ("a", "x  > 1 notify x moves 2", None, None, None, "ann", ["t"]),
        ("b", "x  > 1", None, None, "x moves 5% per k"),
        ("c", "x > 1", None, None, "Notify x moves 2"),
        ("d", "x > 1", None, None, None),
        ("e", "x > 1 notify x moves 2", None, None, "x moves 2"),
        ("f", "x > 1", None, None, "x moves -2"),
        ("g", "x > 1", None, None, "notify x moves"),
        ("h", "x > 1", None, None, ""),
    )
    assert found.ids.to_pylist() == ["a", "b", "c", "d"]
    assert list(map(str, found.clauses)) == [
        "notify x moves 2",
        "notify x moves 5% per k",
        "notify x moves 2",
        "None",
    ]
    # What an index is made of has no clause, and is as it was written otherwise.
    assert found.texts.to_pylist() == ["x > 1", "x  > 1", "x > 1", "x > 1"]
    assert (found.owners.to_pylist()[0], found.tags.to_pylist()[0]) == ("ann", ["t"])
    rejects = [(row["id"], row["notify"], row["position"], row["reason"]) for row in found.rejects.to_pylist()]
    assert rejects[0] == ("e", "x moves 2", None, "there is a notify clause in the condition and another one beside it")
    assert [row[:3] for row in rejects[1:]] == [("f", "x moves -2", 9), ("g", "notify x moves", 15), ("h", "", 1)]
    assert all(row[3].startswith("in the notify clause: expected") for row in rejects[1:])


def test_the_greatest_version_of_an_id_counts_and_ties_are_refused() -> None:
    found = sorted_out(
        ("a", "x > 1", None, 1),
        ("a", "x > 2", None, 2),
        ("b", "x > 1", None, None),
        ("b", "x > 2", None, -5),
        ("c", "x > 1", None, 7),
        ("c", "x > 1", None, 7),
        ("c", "x > 1", None, 6),
        ("d", "x > 1", True, 1),
        ("d", "x > 1", False, 2),
    )
    assert dict(zip(found.ids.to_pylist(), found.texts.to_pylist(), strict=True)) == {"a": "x > 2", "b": "x > 2"}
    assert found.rejects["reason"].to_pylist() == ["2 rows have this id and the same version"] * 2
    assert found.counts == Counts(active=2, rejected=2, inactive=1, superseded=4)
    assert sorted(found.named.to_pylist()) == ["a", "b", "c", "d"]


def test_an_empty_table_gives_nothing() -> None:
    found = sort_out(SCHEMA.empty_table())
    assert (len(found.ids), found.rejects.num_rows, found.counts) == (0, 0, Counts())


ROWS = st.lists(
    st.tuples(
        st.sampled_from([None, "a", "b", "c", "é"]),
        st.sampled_from([None, "x > 1", "y = 'q'", "x >", "and", "true"]),
        st.sampled_from([None, True, False]),
        st.sampled_from([None, 1, 2, 3]),
    ),
    max_size=12,
)


def is_condition(text: str | None) -> bool:
    try:
        tamis.parse(text or "")
    except tamis.ExpressionError:
        return False
    return True


@given(ROWS)
def test_agrees_with_the_rules_row_by_row(rows: list[tuple[Any, ...]]) -> None:
    found = sorted_out(*rows)
    kept, refused, off, old = {}, 0, 0, 0
    for id, text, active, version in rows:
        same = [each[3] if each[3] is not None else -1 for each in rows if each[0] == id]
        mine = version if version is not None else -1
        if id is None:
            refused += 1
        elif mine < max(same):
            old += 1
        elif same.count(mine) > 1:
            refused += 1
        elif active is False:
            off += 1
        elif is_condition(text):
            kept[id] = text
        else:
            refused += 1
    assert dict(zip(found.ids.to_pylist(), found.texts.to_pylist(), strict=True)) == kept
    assert found.counts == Counts(len(kept), refused, off, old)
    assert found.rejects.num_rows == refused
    assert [str(each) for each in found.expressions] == [str(tamis.parse(text)) for text in found.texts.to_pylist()]
