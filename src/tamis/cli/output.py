"""Where things are printed: results on standard output, progress and remarks on standard error."""

import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from functools import partial
from typing import Any

import msgspec
import typer
from rich.console import Console
from rich.progress import (
    BarColumn,
    MofNCompleteColumn,
    Progress,
    SpinnerColumn,
    TextColumn,
    TimeElapsedColumn,
)

from tamis.cli.settings import ProgressMode


def stdout() -> Console:
    """Return a console for results; made when needed, because tests replace the stream."""
    return Console(file=sys.stdout, highlight=False)


def remark(text: str) -> None:
    """Print a remark on standard error."""
    typer.echo(text, err=True)


def print_json(value: Any) -> None:
    """Print a value as indented JSON on standard output."""
    typer.echo(msgspec.json.format(msgspec.json.encode(value), indent=2))


def progress_shown(mode: ProgressMode) -> bool:
    """Say whether progress is drawn: when forced, or when standard error is a terminal."""
    return mode == "always" or (mode == "auto" and sys.stderr.isatty())


class Bar:
    """One progress bar. Called with what is done and the total; None means that nobody knows the total."""

    def __init__(self, progress: Progress, description: str) -> None:
        self._progress = progress
        self._task = progress.add_task(description, total=None)

    def __call__(self, done: int, total: int | None) -> None:
        self._progress.update(self._task, completed=done, total=total)

    def describe(self, text: str) -> None:
        """Change what stands before the bar."""
        self._progress.update(self._task, description=text)


@contextmanager
def progress_bars(mode: ProgressMode) -> Iterator[Callable[[str], Bar]]:
    """Give a function that starts a bar on standard error."""
    shown = progress_shown(mode)
    progress = Progress(
        SpinnerColumn(),
        TextColumn("{task.description}"),
        BarColumn(),
        MofNCompleteColumn(),
        TimeElapsedColumn(),
        console=Console(file=sys.stderr, force_terminal=shown or None),
        transient=True,
        disable=not shown,
    )
    with progress:
        yield partial(Bar, progress)
