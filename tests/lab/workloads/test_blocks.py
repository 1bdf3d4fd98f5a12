from collections.abc import Iterator

import numpy as np
import pyarrow as pa
import pytest
from msgspec.structs import replace

from tamis.lab.workloads import BeGen, WorkloadSpec, Yardstick, blocks, workloads
from tamis.lab.workloads.blocks import EVENT_ID, MOST_COLUMNS, event_block, event_schema, subscription_block
from tamis.language import parse


@pytest.fixture
def _small(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(blocks, "BLOCK", 64)


def rows(batches: Iterator[pa.RecordBatch]) -> list[dict[str, object]]:
    return [row for batch in batches for row in batch.to_pylist()]


def tables(spec: WorkloadSpec, seed: int) -> tuple[list[dict[str, object]], list[dict[str, object]]]:
    asked = [
        row
        for number in range(blocks.blocks(spec.subscriptions))
        for row in rows(subscription_block(spec, seed, number))
    ]
    told = [row for number in range(blocks.blocks(spec.events)) for row in rows(event_block(spec, seed, number))]
    return asked, told


@pytest.mark.usefixtures("_small")
@pytest.mark.parametrize(
    "name", [name for name, spec in workloads().items() if getattr(spec, "dimensions", 0) < 20_000]
)
def test_every_workload_comes_in_blocks(name: str) -> None:
    spec = replace(workloads()[name], subscriptions=150, events=70)
    try:
        schema = event_schema(spec, 3)
    except ValueError as error:
        assert "attributes; a table has at most 5,000 columns" in str(error)
        return
    asked, told = tables(spec, 3)
    assert [row["id"] for row in asked] == list(range(150))
    assert [row[EVENT_ID] for row in told] == list(range(70))
    assert all(parse(str(row["condition"])).attributes for row in asked)
    assert schema == next(event_block(spec, 3, 0)).schema
    assert len(schema) <= MOST_COLUMNS + 1
    # Whoever draws a block alone gets the same, and no two blocks are the same.
    assert rows(subscription_block(spec, 3, 1)) == asked[64:128]
    assert [row["condition"] for row in asked[:64]] != [row["condition"] for row in asked[64:128]]
    assert rows(event_block(spec, 3, 1)) == told[64:]
    assert tables(spec, 4) != (asked, told)


@pytest.mark.usefixtures("_small")
@pytest.mark.parametrize(
    ("spec", "least", "most"),
    [
        (BeGen(subscriptions=640, events=128, matching_probability=0.1), 0.08, 0.12),
        (Yardstick(subscriptions=640, events=128, fewest_predicates=1, most_predicates=1, equality=1), 0.01, 0.1),
    ],
)
def test_conditions_of_a_block_meet_events_of_all(spec: WorkloadSpec, least: float, most: float) -> None:
    """They do because blocks share what a workload has in common: otherwise nearly nothing would match."""
    asked, told = tables(spec, 7)
    conditions = [parse(str(row["condition"])) for row in asked]
    events = [{name: value for name, value in row.items() if value is not None} for row in told]
    met = np.array([[condition.matches(event) for event in events] for condition in conditions])
    for block in range(10):
        for other in range(2):
            assert least / 2 < met[64 * block : 64 * (block + 1), 64 * other : 64 * (other + 1)].mean() < 2 * most
    assert least < met.mean() < most
