"""What the tests of the command line share: a clean folder and environment, and a way to call the command."""

import asyncio
import os
import subprocess
import sys
import threading
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest
from typer.testing import CliRunner, Result

from support.brokers import PATIENCE
from tamis.cli.main import app
from tamis.server import Server, ServerSettings

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


@pytest.fixture
def broker_url() -> Iterator[str]:
    """The address of a broker in another thread of this process."""
    loop = asyncio.new_event_loop()
    thread = threading.Thread(target=loop.run_forever)
    thread.start()
    server = Server(ServerSettings(port=0, name="b0"))
    try:
        asyncio.run_coroutine_threadsafe(server.start(), loop).result(PATIENCE)
        yield server.url
        asyncio.run_coroutine_threadsafe(server.stop(), loop).result(PATIENCE)
    finally:
        loop.call_soon_threadsafe(loop.stop)
        thread.join()
        loop.close()
