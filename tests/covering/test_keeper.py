"""There is one place to add another way of keeping conditions."""

from collections.abc import Collection, Iterable
from typing import Any

import pytest

from tamis import Change, CoverTable
from tamis.covering import keeper
from tamis.covering.containment import Shape


class Everything(keeper.Keeper):
    """Forwards all."""

    def __init__(self) -> None:
        self.held: set[int] = set()

    def add(self, handle: int, shape: Shape) -> Change:  # noqa: ARG002 - it forwards all
        self.held.add(handle)
        return Change((handle,))

    def remove(self, handle: int) -> Change:
        self.held.remove(handle)
        return Change((), (handle,))

    def forwarded(self) -> Collection[int]:
        return self.held

    def above(self, handle: int) -> Iterable[int]:  # noqa: ARG002 - nobody covers anybody
        return ()

    def stats(self) -> dict[str, Any]:
        return {}

    def check_invariants(self) -> None:
        pass


def test_a_table_finds_what_is_registered(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(keeper, "_registry", {})
    keeper.register("everything")(lambda k, detector: Everything())  # noqa: ARG005 - it needs neither
    table = CoverTable(graph="everything")
    table.add("a", "x > 1")
    assert table.add("b", "x > 2") == (("b",), ())
    assert table.remove("a") == ((), ("a",))
    with pytest.raises(ValueError, match="named 'flat' already"):
        keeper.register("flat")(lambda k, detector: Everything())  # noqa: ARG005 - it is refused
