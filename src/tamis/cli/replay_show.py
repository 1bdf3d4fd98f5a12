"""What a replay gave, to be printed, drawn or written as JSON."""

import datetime as dt
from collections import defaultdict
from typing import TYPE_CHECKING, Any, Final

import msgspec
from rich.table import Table

from tamis.cli.output import stdout

if TYPE_CHECKING:
    from tamis.pipeline.differing import Difference
    from tamis.pipeline.replaying import Replay

#: Conditions, or subscriptions, that are shown on the screen, and days.
SHOWN: Final = 20
SHOWN_DAYS: Final = 31
#: Of how many conditions examples are shown.
DETAILED: Final = 3

Id = str | int


class Shared(msgspec.Struct, frozen=True):
    """How many events an existing subscription gets as well."""

    subscription_id: Id
    matches: int


class Given(msgspec.Struct, frozen=True):
    """What one condition would have given."""

    id: Id
    condition: str
    matches: int
    #: How many of them go to existing subscriptions as well.
    elsewhere: int
    days: dict[str, int]
    examples: list[msgspec.Raw]
    overlap: list[Shared]


class Replayed(msgspec.Struct, frozen=True):
    """What conditions would have given, most matches first."""

    events: int
    rejected: int
    compared: bool
    days: dict[str, int]
    conditions: list[Given]

    @classmethod
    def of(cls, found: "Replay") -> "Replayed":
        """Collect what Spark has found, and let it forget."""
        days: dict[Any, dict[str, int]] = defaultdict(dict)
        for row in found.volume.orderBy("day").collect():
            days[row.id][_day(row.day)] = row.matches
        examples: dict[Any, list[msgspec.Raw]] = defaultdict(list)
        for row in found.examples.collect():
            examples[row.id].append(msgspec.Raw(row.event.encode()))
        overlap: dict[Any, list[Shared]] = defaultdict(list)
        for row in found.overlap.orderBy("id", "matches", ascending=[True, False]).collect():
            overlap[row.id].append(Shared(row.subscription_id, row.matches))
        conditions = [
            Given(row.id, row.condition, row.matches, row.elsewhere, days[row.id], examples[row.id], overlap[row.id])
            for row in found.totals.collect()
        ]
        conditions.sort(key=lambda each: (-each.matches, each.id))
        everything = {_day(row.day): row.events for row in found.days.orderBy("day").collect()}
        told = cls(found.events, found.rejected, found.is_compared, everything, conditions)
        found.release()
        return told


class Changed(msgspec.Struct, frozen=True):
    """What one subscription gains and loses."""

    id: Id
    gained: int
    lost: int
    both: int
    gained_examples: list[msgspec.Raw]
    lost_examples: list[msgspec.Raw]


class Differences(msgspec.Struct, frozen=True):
    """Who gains and who loses what, most changes first."""

    events: int
    gained: int
    lost: int
    both: int
    #: By day: gained and lost.
    days: dict[str, tuple[int, int]]
    subscriptions: list[Changed]

    @classmethod
    def of(cls, found: "Difference") -> "Differences":
        """Collect what Spark has found, and let it forget."""
        examples: dict[tuple[Any, str], list[msgspec.Raw]] = defaultdict(list)
        for row in found.examples.collect():
            examples[row.id, row.change].append(msgspec.Raw(row.event.encode()))
        changes = [
            Changed(row.id, row.gained, row.lost, row.both, examples[row.id, "gained"], examples[row.id, "lost"])
            for row in found.changes.collect()
        ]
        changes.sort(key=lambda each: (-each.gained - each.lost, each.id))
        days = {_day(row.day): (row.gained, row.lost) for row in found.volume.orderBy("day").collect()}
        told = cls(found.events, found.gained, found.lost, found.both, days, changes)
        found.release()
        return told


def print_replayed(told: Replayed) -> None:
    """Print what conditions would have given."""
    console = stdout()
    matches = sum(each.matches for each in told.conditions)
    console.print(
        f"[bold]{len(told.conditions):,}[/] conditions over [bold]{told.events:,}[/] events: "
        f"[bold]{matches:,}[/] matches."
    )
    alone = len(told.conditions) == 1
    if not alone:
        table = Table("id", "condition", "matches", "share", *(["elsewhere"] if told.compared else []))
        for each in told.conditions[:SHOWN]:
            cells = [str(each.id), each.condition, f"{each.matches:,}", _share(each.matches, told.events)]
            table.add_row(*cells, *([_share(each.elsewhere, each.matches)] if told.compared else []))
        console.print(table)
        if len(told.conditions) > SHOWN:
            console.print(f"… and {len(told.conditions) - SHOWN:,} more: --json has them all")
    for each in told.conditions[: 1 if alone else DETAILED]:
        _print_given(each, told, alone)


def _print_given(each: Given, told: Replayed, alone: bool) -> None:
    console = stdout()
    if not alone:
        console.print(f"\n{each.id}: {each.condition}", style="bold", markup=False)
    if alone and list(told.days) != [_day(None)]:
        table = Table("day", "matches", "of events")
        for day, events in list(told.days.items())[-SHOWN_DAYS:]:
            count = each.days.get(day, 0)
            table.add_row(day, f"{count:,}", _share(count, events))
        console.print(table)
    for event in each.examples:
        console.print(f"  {bytes(event).decode()}", markup=False, soft_wrap=True)
    if told.compared:
        console.print(
            f"{_share(each.elsewhere, each.matches) or 'none'} of the matches go to existing subscriptions too"
        )
        for shared in each.overlap:
            console.print(
                f"  {shared.subscription_id}: {shared.matches:,} ({_share(shared.matches, each.matches)})", markup=False
            )


def print_differences(told: Differences) -> None:
    """Print who gains and who loses what."""
    console = stdout()
    console.print(
        f"[bold]{len(told.subscriptions):,}[/] subscriptions change over [bold]{told.events:,}[/] events: "
        f"[bold]{told.gained:,}[/] matches are gained, [bold]{told.lost:,}[/] lost, {told.both:,} as before."
    )
    if not told.subscriptions:
        return
    table = Table("id", "gained", "lost", "as before")
    for each in told.subscriptions[:SHOWN]:
        table.add_row(str(each.id), f"{each.gained:,}", f"{each.lost:,}", f"{each.both:,}")
    console.print(table)
    if len(told.subscriptions) > SHOWN:
        console.print(f"… and {len(told.subscriptions) - SHOWN:,} more: --json has them all")
    for each in told.subscriptions[:DETAILED]:
        for sign, events in (("+", each.gained_examples), ("-", each.lost_examples)):
            for event in events:
                console.print(f"  {each.id} {sign} {bytes(event).decode()}", markup=False, soft_wrap=True)


def _day(day: dt.date | None) -> str:
    return "unknown" if day is None else day.isoformat()


def _share(count: int, total: int) -> str:
    return f"{100 * count / total:.3g} %" if total else ""
