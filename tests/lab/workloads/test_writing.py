from pathlib import Path

import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from tamis.lab.workloads import Iot, XSiena, blocks
from tamis.lab.workloads.blocks import event_block, subscription_block
from tamis.lab.workloads.writing import write_workload


def test_files_hold_all_blocks(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(blocks, "BLOCK", 50)
    spec, steps = Iot(subscriptions=120, events=70), list[tuple[int, int]]()
    subscriptions, events = write_workload(spec, 5, tmp_path / "new", lambda *step: steps.append(step))
    assert steps == [(done, 5) for done in range(6)]
    asked = [batch for number in range(3) for batch in subscription_block(spec, 5, number)]
    told = [batch for number in range(2) for batch in event_block(spec, 5, number)]
    assert pq.read_table(subscriptions) == pa.Table.from_batches(asked)
    assert pq.read_table(events) == pa.Table.from_batches(told)
    assert sorted(path.name for path in (tmp_path / "new").iterdir()) == ["events.parquet", "subscriptions.parquet"]


def test_too_many_attributes_are_refused_before_anything_is_written(tmp_path: Path) -> None:
    with pytest.raises(ValueError, match=r"112,505 attributes; a table has at most 5,000 columns"):
        write_workload(XSiena(subscriptions=5, events=5), 5, tmp_path / "new", lambda *_: None)
    assert list(tmp_path.iterdir()) == []
