"""The kernels of detectors and graphs run as plain Python too, with the same answers."""

from pathlib import Path

from support.twins import passes_as_plain_python

SUITES = Path(__file__).parents[1] / "conformance"


def test_histories_without_compilation() -> None:
    suites = (SUITES / "test_detectors.py", SUITES / "test_graphs.py")
    passes_as_plain_python(*suites, chosen="test_histories", examples=2)
