"""Every kernel of the interval structures runs as plain Python too, with the same answers."""

from pathlib import Path

import pytest

from support.twins import passes_as_plain_python

HERE = Path(__file__).parent
RANGES = HERE.parent / "covering" / "ranges"


@pytest.mark.slow
def test_without_compilation() -> None:
    files = [HERE / f"test_{name}.py" for name in ("leaves", "runset", "countmap", "stabbing")]
    files += [RANGES / f"test_{name}.py" for name in ("table", "active")]
    passes_as_plain_python(*files, chosen="not many_ and not split_and_join", examples=8)
