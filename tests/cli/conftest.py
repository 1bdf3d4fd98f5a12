"""What the tests of the command line share: a clean folder and environment, and a way to call the command."""

import os
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

import pytest
from typer.testing import CliRunner, Result

from tamis.cli.main import app

Invoke = Callable[..., Result]
Program = Callable[..., "subprocess.CompletedProcess[str]"]


@pytest.fixture(autouse=True)
def _clean_place(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Work in an empty folder, without settings from outside, on a screen of a known width."""
    monkeypatch.chdir(tmp_path)
    for name in [name for name in os.environ if name.startswith("TAMIS_")]:
        monkeypatch.delenv(name)
    monkeypatch.setenv("COLUMNS", "120")
    monkeypatch.setenv("NO_COLOR", "1")


@pytest.fixture
def invoke() -> Invoke:
    """Call the command in this process."""

    def call(*arguments: str | Path, stdin: str | bytes | None = None) -> Result:
        return CliRunner().invoke(app, [str(each) for each in arguments], input=stdin, catch_exceptions=False)

    return call


@pytest.fixture
def program() -> Program:
    """Call the installed command as a process of its own."""

    def call(*arguments: str | Path, stdin: str = "") -> "subprocess.CompletedProcess[str]":
        command = Path(sys.executable).with_name("tamis")
        return subprocess.run(
            [command, *arguments], input=stdin, capture_output=True, text=True, check=False, timeout=120
        )

    return call
