"""A small benchmark told: a table for each section as it comes, the machine, and all figures as JSON."""

import datetime as dt
import sys
from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import Final

import msgspec
from rich.console import Console

from harness.figures import Figure, Shown, shown, table
from tamis.lab.machine import Machine, this_machine

#: Tables are as wide as they need to be where they go to a file.
_FILE_WIDTH: Final = 160


class Run(msgspec.Struct, frozen=True):
    """A run as JSON."""

    command: list[str]
    date: str
    machine: Machine
    figures: list[Shown]


def tell(sections: Mapping[str, Iterable[Figure]], file: Path | None, remark: str = "") -> None:
    """Measure section after section, print each, and write everything to a file if there is one."""
    console = Console(highlight=False, width=None if sys.stdout.isatty() else _FILE_WIDTH)
    figures: list[Figure] = []
    for title, found in sections.items():
        listed = list(found)
        console.print(table(title, listed))
        figures += listed
    machine, date = this_machine(), dt.datetime.now(dt.UTC).date().isoformat()
    console.print(f"{machine}, {date}{remark}", markup=False)
    if file is not None:
        run = Run(sys.argv, date, machine, [shown(each) for each in figures])
        file.write_bytes(msgspec.json.format(msgspec.json.encode(run), indent=2) + b"\n")
