import numpy as np
import pyarrow as pa
from msgspec.structs import replace

from tamis.lab.workloads import generate, workloads
from tamis.lab.workloads.events import TableEvents, sparse_events

NAMES = ("a", "b", "c")


def test_sparse_events_are_the_same_as_rows_batches_and_table() -> None:
    sizes = np.array([2, 0, 3, 1])
    codes = np.array([2, 0, 1, 0, 2, 1])
    events = sparse_events(NAMES, sizes, codes, np.array([30, 10, 11, 12, 13, 14]))
    rows = [{"a": 10, "c": 30}, {}, {"a": 12, "b": 11, "c": 13}, {"b": 14}]
    assert len(events) == 4
    assert list(events.rows()) == rows
    wide = [{name: row.get(name) for name in NAMES} for row in rows]
    assert events.table().to_pylist() == wide
    batches = list(events.batches(rows=3))
    assert [batch.num_rows for batch in batches] == [3, 1]
    assert [row for batch in batches for row in batch.to_pylist()] == wide
    assert batches[0].schema == batches[1].schema == events.schema


def test_sparse_events_of_words_tell_words() -> None:
    words = pa.array(["x", "y"])
    events = sparse_events(NAMES, np.array([1, 2]), np.array([1, 2, 0]), np.array([1, 0, 1]), words)
    assert list(events.rows()) == [{"b": "y"}, {"a": "y", "c": "x"}]
    assert events.table().schema.field("a").type == pa.string()
    assert events.table()["b"].to_pylist() == ["y", None]


def test_a_workload_may_have_no_events() -> None:
    workload = generate(replace(workloads()["w-a"], subscriptions=5, events=0))
    assert list(workload.events.rows()) == []
    assert workload.events.table().schema == workload.events.schema
    assert workload.events.table().num_rows == 0


def test_values_are_found_where_they_are() -> None:
    events = sparse_events(NAMES, np.array([1, 2]), np.array([1, 2, 0]), np.array([5.5, 6.5, 7.5]))
    there, values = events.find(np.array([0, 0, 1, 1, 1]), np.array([0, 1, 0, 1, 2]))
    assert there.tolist() == [False, True, True, False, True]
    assert values[there].tolist() == [5.5, 7.5, 6.5]


def test_a_batch_of_many_attributes_holds_no_column_twice() -> None:
    names = tuple(f"a{number}" for number in range(30_000))
    events = sparse_events(names, np.array([2, 1]), np.array([7, 29_999, 7]), np.array([1, 2, 3]))
    (batch,) = events.batches()
    assert batch.num_columns == 30_000
    assert sum(column.null_count < 2 for column in batch.columns) == 2
    assert batch["a7"].to_pylist() == [1, 3]


def test_table_events_leave_out_nulls_at_every_depth() -> None:
    table = pa.table(
        {
            "x": [1, None, 3],
            "outer": [{"p": 1, "q": None}, {"p": None, "q": None}, None],
            "tags": [["t"], [], None],
        }
    )
    events = TableEvents(table)
    assert len(events) == 3
    assert list(events.rows()) == [{"x": 1, "outer": {"p": 1}, "tags": ["t"]}, {"tags": []}, {"x": 3}]
    assert [batch.num_rows for batch in events.batches(rows=2)] == [2, 1]
    assert events.table() == table
