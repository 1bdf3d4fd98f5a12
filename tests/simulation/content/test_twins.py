"""The networks without compilation: every kernel is a plain Python function too."""

from pathlib import Path

from support.twins import passes_as_plain_python

HERE = Path(__file__).parent


def test_kernels_are_the_same_as_plain_python() -> None:
    files = [HERE / f"test_{name}.py" for name in ("forest", "network", "underlay")]
    passes_as_plain_python(*files, chosen="exactly or keeps or shifted or shortest", examples=3)
