"""The same tests without compilation: every kernel is a plain Python function too."""

import os
import subprocess
import sys
from pathlib import Path


def passes_as_plain_python(*files: Path, chosen: str, examples: int) -> None:
    """Run the chosen tests of files with kernels that are not compiled; fail with what they printed."""
    command = [sys.executable, "-m", "pytest", "-q", "-p", "no:cacheprovider", "-p", "no:xdist", "-k", chosen]
    done = subprocess.run(
        [*command, *map(str, files)],
        env={**os.environ, "NUMBA_DISABLE_JIT": "1", "TAMIS_TEST_EXAMPLES": str(examples)},
        cwd=Path(__file__).parents[2],
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 0, done.stdout
