"""What one sees while `tamis demo` runs: a display that moves on a terminal, plain lines elsewhere, or nothing."""

from collections import Counter, deque
from collections.abc import Sequence
from time import monotonic
from types import TracebackType
from typing import Any, Final

from rich.console import Console, Group
from rich.live import Live
from rich.table import Table
from rich.text import Text

from tamis.client import Event

#: So many of the last notifications and matches are seen on a terminal.
SEEN: Final = 6
#: Seconds between plain lines.
PLAIN_EVERY: Final = 2.0


class Show:
    """Nothing is shown, for programs that read the result."""

    def say(self, line: str) -> None:
        """Tell what happens."""

    def brokers(self, named: Sequence[tuple[str, str]]) -> None:
        """Tell which brokers run, and where."""

    def match(self, place: int, alert: int, event: Event) -> None:
        """An alert at a broker was met."""

    def notification(self, place: int, event: Event) -> None:
        """Somebody at a broker was told that a value has moved."""

    def update(self, published: int, total: int, matches: int, notifications: int) -> None:
        """Tell how far the stream is."""

    def __enter__(self) -> "Show":
        """Begin to show the stream."""
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        """The stream is over."""


class PlainShow(Show):
    """Lines, one every two seconds."""

    def __init__(self, console: Console) -> None:
        self._console = console
        self._last = 0.0
        self._told = ""

    def say(self, line: str) -> None:
        self._console.print(line, markup=False, soft_wrap=True)

    def brokers(self, named: Sequence[tuple[str, str]]) -> None:
        self.say("  ".join(f"{name} {url}" for name, url in named))

    def notification(self, place: int, event: Event) -> None:
        self._told = f"; b{place} is told that {_moved(event)}"

    def update(self, published: int, total: int, matches: int, notifications: int) -> None:
        if published == total or monotonic() - self._last >= PLAIN_EVERY:
            self._last = monotonic()
            self.say(
                f"{published:,} of {total:,} events published, {matches:,} alerts delivered, "
                f"{notifications:,} notifications{self._told}"
            )
            self._told = ""


class LiveShow(Show):
    """A table of brokers and the last notifications and matches, drawn anew several times a second."""

    def __init__(self, console: Console) -> None:
        self._console = console
        self._live = Live(console=console, transient=True, auto_refresh=False)
        self._named: Sequence[tuple[str, str]] = ()
        self._matches: Counter[int] = Counter()
        self._notifications: Counter[int] = Counter()
        self._last: dict[str, deque[str]] = {"told": deque(maxlen=SEEN), "met": deque(maxlen=SEEN)}
        self._since = 0.0

    def say(self, line: str) -> None:
        self._console.print(line, markup=False)

    def brokers(self, named: Sequence[tuple[str, str]]) -> None:
        self._named = named

    def match(self, place: int, alert: int, event: Event) -> None:
        self._matches[place] += 1
        self._last["met"].append(f"b{place} alert {alert}: {_short(event)}")

    def notification(self, place: int, event: Event) -> None:
        self._notifications[place] += 1
        self._last["told"].append(f"b{place} is told that {_moved(event)}")

    def update(self, published: int, total: int, matches: int, notifications: int) -> None:
        seconds = max(monotonic() - self._since, 1e-3)
        head = Text(
            f"{published:,} of {total:,} events, {published / seconds:,.0f}/s; {matches:,} alerts delivered, "
            f"{matches / seconds:,.0f}/s; {notifications:,} notifications"
        )
        table = Table("broker", "address", title="Five brokers, five processes", title_justify="left")
        table.add_column("alerts delivered", justify="right")
        table.add_column("notifications", justify="right")
        for place, (name, url) in enumerate(self._named):
            table.add_row(name, url, f"{self._matches[place]:,}", f"{self._notifications[place]:,}")
        lines = [Text(line, overflow="ellipsis", no_wrap=True) for line in self._lines()]
        self._live.update(Group(head, table, *lines), refresh=True)

    def _lines(self) -> list[str]:
        return [
            "Prices that have moved by half since somebody was told last",
            *(f"  {line}" for line in self._last["told"]),
            "Alerts that were met",
            *(f"  {line}" for line in self._last["met"]),
        ]

    def __enter__(self) -> "LiveShow":
        self._since = monotonic()
        self._live.start()
        return self

    def __exit__(self, *_: Any) -> None:
        self._live.stop()


def _moved(event: Event) -> str:
    return f"{event.get('symbol')} costs {event.get('price')} ({event.get('sector')})"


def _short(event: Event) -> str:
    return "  ".join(f"{name}={value}" for name, value in event.items() if name != "traded_at")
