"""Every test that docs/promises.md names is there."""

import ast
import re
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]
NAMED = sorted(set(re.findall(r"`(tests/[\w/]+\.py)(?:::(\w+))?`", (ROOT / "docs" / "promises.md").read_text())))


@pytest.mark.parametrize(("file", "test"), NAMED)
def test_the_test_is_there(file: str, test: str) -> None:
    tree = ast.parse((ROOT / file).read_text())
    assert not test or test in {node.name for node in ast.walk(tree) if isinstance(node, ast.FunctionDef)}


def test_promises_name_tests() -> None:
    assert len(NAMED) > 10
