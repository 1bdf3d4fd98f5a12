"""`tamis pipeline cover`: which subscriptions of a table are needless?"""

from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, Final

import typer
from rich.table import Table

from tamis.cli import options
from tamis.cli.errors import InputError, bad_input_reported
from tamis.cli.local_spark import MEMORY, Cores, Memory, local_spark, read_subscribed
from tamis.cli.output import print_json, remark, stdout
from tamis.cli.settings import load

if TYPE_CHECKING:
    from tamis.pipeline.covering import Cover, Report

#: Rows that are shown of each table.
SHOWN: Final = 5


def cover(
    subscriptions: Annotated[
        str, typer.Argument(metavar="SUBSCRIPTIONS", help="A .csv, .jsonl or .parquet table, or compiled ones.")
    ],
    out: Annotated[
        Path | None,
        typer.Option("--out", "-o", metavar="DIR", help="Write the tables verdicts and mergeable there, as Parquet."),
    ] = None,
    cores: Cores = None,
    memory: Memory = MEMORY,
    progress: options.Progress = None,
    as_json: options.Json = False,
) -> None:
    """Find needless conditions: covered by another, repeated, never met; and those that can be merged into one.

    Nothing is claimed that is not certain, and nothing is changed. Conditions about which not all could be decided are
    counted and kept.

    `$ tamis pipeline cover rules.csv --out needless`
    """
    with bad_input_reported():
        mode = load(progress=options.progress_mode(progress)).progress
        if out is not None and out.exists():
            raise InputError(f"{out}: is there already")
        folder = None if out is None else out.absolute()
        with local_spark("cover", cores, memory, mode) as watched:
            from tamis.pipeline.covering import cover as find

            with watched.shown("cover"):
                found = find(read_subscribed(watched.spark, subscriptions))
            if folder is not None:
                with watched.shown("write"):
                    found.verdicts.write.parquet(str(folder / "verdicts"))
                    found.mergeable.write.parquet(str(folder / "mergeable"))
                remark(f"wrote {folder / 'verdicts'} and {folder / 'mergeable'}")
            if as_json:
                print_json(_figures(found.report))
            else:
                _print(found)


def _figures(report: "Report") -> dict[str, int]:
    names = (*report.__struct_fields__, "subscriptions", "least")
    return {name: getattr(report, name) for name in names}


def _print(found: "Cover") -> None:
    report, console = found.report, stdout()
    table = Table("verdict", "subscriptions", "share")
    for name in ("kept", "covered", "duplicate", "unsatisfiable", "refused"):
        count = getattr(report, name)
        table.add_row(name, f"{count:,}", _share(count, report.subscriptions))
    console.print(table)
    for title, rows in (("covered", found.covered), ("mergeable", found.mergeable)):
        some = rows.limit(SHOWN).collect()
        if some:
            console.print(f"[bold]{title}[/], for example:")
            for row in some:
                console.print(f"  {_line(row)}", markup=False, soft_wrap=True)
    if report.undecided:
        console.print(f"Of {report.undecided:,} that are kept, not all could be decided.")
    console.print(
        f"[bold]{report.subscriptions:,}[/] subscriptions become [bold]{report.kept:,}[/] without the needless ones"
        + (f", and {report.least:,} with {report.mergeable:,} merged into {report.merged:,}." if report.merged else ".")
    )


def _line(row: Any) -> str:
    if "ids" in row:
        return f"{', '.join(map(str, row.ids[:SHOWN]))}{' …' if len(row.ids) > SHOWN else ''}: {row.condition}"
    return f"{row.id}: {row.condition} (by {row.by})"


def _share(count: int, total: int) -> str:
    return f"{100 * count / total:.1f} %" if total else ""
