import pyarrow as pa
import pytest

from tamis.lab.workloads import ArbitraryConditions


def test_arbitrary_conditions_have_text_but_no_columns() -> None:
    conditions = ArbitraryConditions(pa.array(["a or b"]))
    assert len(conditions) == 1
    assert conditions.texts().to_pylist() == ["a or b"]
    with pytest.raises(ValueError, match=r"not conjunctions.*use texts\(\)"):
        conditions.columns()
