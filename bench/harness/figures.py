"""Figures: what was measured, the bar it must reach, and tables of them."""

from collections.abc import Iterable, Sequence
from typing import Final

import msgspec
from rich.table import Table

#: From so many subjects on, a table has a line for each subject and a column for each measure.
_WIDE: Final = 3


class Bar(msgspec.Struct, frozen=True):
    """What a figure must reach: at least, or at most, the limit."""

    limit: float
    at_most: bool = False

    def met(self, value: float) -> bool:
        """Say whether a value reaches it."""
        return value <= self.limit if self.at_most else value >= self.limit

    def __str__(self) -> str:
        return f"{'≤' if self.at_most else '≥'} {_number(self.limit)}"


def at_least(limit: float) -> Bar:
    """Return the bar of a figure that must not be smaller."""
    return Bar(limit)


def at_most(limit: float) -> Bar:
    """Return the bar of a figure that must not be larger."""
    return Bar(limit, at_most=True)


class Figure(msgspec.Struct, frozen=True, omit_defaults=True):
    """One figure: of which subject (a workload, mostly) with how many subscriptions, what, how much."""

    section: str
    subject: str
    subscriptions: int
    measure: str
    value: float
    unit: str = ""
    bar: Bar | None = None

    @property
    def met(self) -> bool | None:
        """Whether the bar is reached; None where there is none."""
        return None if self.bar is None else self.bar.met(self.value)

    @property
    def written(self) -> str:
        """The value with its unit."""
        return f"{_number(self.value)} {self.unit}".strip()


class Shown(msgspec.Struct, frozen=True):
    """A figure as it stands in the JSON."""

    section: str
    subject: str
    subscriptions: int
    measure: str
    value: float
    unit: str
    bar: str | None
    met: bool | None


def shown(figure: Figure) -> Shown:
    """Return a figure as it stands in the JSON."""
    bar = None if figure.bar is None else str(figure.bar)
    named = figure.section, figure.subject, figure.subscriptions, figure.measure
    return Shown(*named, figure.value, figure.unit, bar, figure.met)


def table(title: str, figures: Sequence[Figure]) -> Table:
    """Return the table of a section."""
    subjects = list(dict.fromkeys((each.subject, each.subscriptions) for each in figures))
    if len(subjects) < _WIDE:
        return listing(title, figures)
    measures = list(dict.fromkeys((each.measure, each.unit) for each in figures))
    cells = {(each.subject, each.subscriptions, each.measure): each for each in figures}
    result = Table("workload", "subscriptions", title=title)
    result.columns[1].justify = "right"
    for measure, unit in measures:
        result.add_column(f"{measure}\n{unit}".strip(), justify="right")
    for subject, size in subjects:
        found = (cells.get((subject, size, measure)) for measure, _ in measures)
        result.add_row(subject, f"{size:,}", *("" if each is None else _cell(each) for each in found))
    return result


def listing(title: str, figures: Iterable[Figure]) -> Table:
    """Return a table with a line for each figure."""
    result = Table("workload", "subscriptions", "figure", "measured", "must be", "reached", title=title)
    for column in (1, 3, 4):
        result.columns[column].justify = "right"
    for each in figures:
        bar = "" if each.bar is None else str(each.bar)
        result.add_row(each.subject, f"{each.subscriptions:,}", each.measure, each.written, bar, _answer(each))
    return result


def _cell(figure: Figure) -> str:
    if figure.bar is None:
        return _number(figure.value)
    return f"{_number(figure.value)} ({figure.bar}: {_answer(figure)})"


def _answer(figure: Figure) -> str:
    return {None: "", True: "[green]yes[/]", False: "[red]no[/]"}[figure.met]


def _number(value: float) -> str:
    if value == int(value) or abs(value) >= 1_000:
        return f"{value:,.0f}"
    return f"{value:,.3g}" if abs(value) < 100 else f"{value:,.1f}"
