"""What the index adds for engines that can do less: rebuilding, checking, row by row, conjunctions only."""

from collections.abc import Iterator, Mapping
from typing import Any

import pyarrow as pa
import pytest

import tamis
from tamis.language import Expression
from tamis.matching import engine as engine_module
from tamis.matching.engine import Capabilities, Engine, register


@pytest.fixture
def everything() -> Iterator[None]:
    """A static, conjunctive superset engine: it answers with all that it has."""

    class Everything(Engine):
        def __init__(self) -> None:
            self.positions: list[int] = []

        def add(self, position: int, expression: Expression) -> None:  # noqa: ARG002
            self.positions.append(position)

        def match(self, event: Mapping[str, Any]) -> list[int]:  # noqa: ARG002
            return self.positions

        def stats(self) -> dict[str, Any]:
            return {"candidates": 0, "bytes": 0}

    capabilities = Capabilities(arbitrary=False, exact=False, dynamic=False, batch=False, summary="everything")
    register("everything", capabilities)(Everything)
    yield
    del engine_module._registry["everything"]


@pytest.mark.usefixtures("everything")
def test_a_static_superset_engine_is_rebuilt_and_checked() -> None:
    index = tamis.Index(engine="everything")
    index.add_many(["a", "b", "c"], ["x = 1", "x in (1, 2)", "x = 1 or x = 3"])
    assert sorted(index.match({"x": 1})) == ["a", "b", "c"]
    index.remove("a")
    index.replace("b", "x = 3")
    assert sorted(index.match({"x": 3})) == ["b", "c"]
    assert index.match_batch(pa.table({"x": [1, 3, None, 2]})).offsets.tolist() == [0, 1, 3, 3, 3]
    with pytest.raises(tamis.SubscriptionError, match="'everything' takes conjunctions only, not: x = 1 or y = 1"):
        index.add("d", "x = 1 or y = 1")
    assert len(index) == 2
    with pytest.raises(TypeError, match="not dynamic"):
        engine_module.make_engine("everything").remove(0)


@pytest.mark.usefixtures("everything")
def test_names_are_taken_once() -> None:
    with pytest.raises(ValueError, match="already"):
        register("everything", tamis.engines()["everything"])(Engine)
