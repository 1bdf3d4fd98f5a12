"""Every kernel runs as plain Python too, with the same answers: the conformance suite without compilation."""

from pathlib import Path

import pytest

from support.twins import passes_as_plain_python


@pytest.mark.slow
def test_histories_without_compilation() -> None:
    passes_as_plain_python(Path(__file__).with_name("test_engines.py"), chosen="histories", examples=4)
