"""How a running pipeline is shown: one line that changes on a terminal, a line now and then elsewhere."""

import sys
import time
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Final

from rich.console import Console
from rich.status import Status

from tamis.cli.output import progress_shown, remark
from tamis.cli.settings import ProgressMode
from tamis.pipeline.job.moment import Moment
from tamis.pipeline.job.running import Watcher

#: Seconds between two lines where no terminal is: logs should stay short.
INTERVAL: Final = 10.0


class Lines(Watcher):
    """Remarks, and the state of the stream after the first batch and then now and then."""

    def __init__(self) -> None:
        self._next = 0.0

    def say(self, text: str) -> None:
        remark(text)

    def show(self, moment: Moment) -> None:
        now = time.monotonic()
        if now >= self._next:
            self._next = now + INTERVAL
            remark(str(moment))


class Live(Watcher):
    """Remarks, and below them the state of the stream."""

    def __init__(self, status: Status) -> None:
        self._status = status

    def say(self, text: str) -> None:
        self._status.console.print(text, markup=False, highlight=False)

    def show(self, moment: Moment) -> None:
        self._status.update(str(moment))


@contextmanager
def watching(mode: ProgressMode) -> Iterator[Watcher]:
    """Give who is told how a job is doing."""
    if not progress_shown(mode):
        yield Lines()
        return
    with Status("starting", console=Console(file=sys.stderr, force_terminal=True)) as status:
        yield Live(status)
