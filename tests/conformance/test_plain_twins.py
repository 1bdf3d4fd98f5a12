"""Every kernel runs as plain Python too, with the same answers: the conformance suite without compilation."""

import os
import subprocess
import sys
from pathlib import Path

import pytest


@pytest.mark.slow
def test_histories_without_compilation() -> None:
    suite = Path(__file__).with_name("test_engines.py")
    done = subprocess.run(
        [
            sys.executable,
            "-m",
            "pytest",
            "-q",
            "-p",
            "no:cacheprovider",
            "-p",
            "no:xdist",
            str(suite),
            "-k",
            "histories",
        ],
        env={**os.environ, "NUMBA_DISABLE_JIT": "1", "TAMIS_TEST_EXAMPLES": "8"},
        cwd=suite.parents[2],
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 0, done.stdout
