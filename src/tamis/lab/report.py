"""A finished run: what was found, how to find it again, and its three files (JSON, Markdown, figure)."""

from collections.abc import Callable
from datetime import UTC, datetime
from pathlib import Path
from time import perf_counter

import msgspec

from tamis.lab.experiment import Context, Experiment, Figure, Row, Scale, Table
from tamis.lab.figure import svg
from tamis.lab.files import replacing
from tamis.lab.machine import Machine, this_machine
from tamis.lab.spread import Spread
from tamis.lab.verdict import ratio, verdict


class Line(msgspec.Struct, frozen=True):
    """A row of the result with what follows from it."""

    label: str
    paper: float | None
    ours: float
    ratio: float | None
    unit: str
    verdict: str


class Report(msgspec.Struct, frozen=True):
    """The result of one run, as written to JSON."""

    experiment: str
    title: str
    source: str
    setup: str
    command: str
    machine: Machine
    date: str
    seed: int
    scale: Scale
    seconds: float
    lines: list[Line]
    notes: list[str]
    tables: list[Table]
    figure: Figure


def run(
    experiment: Experiment,
    scale: Scale,
    seed: int,
    progress: Callable[[int, int], None],
    spread: Spread | None = None,
) -> Report:
    """Run `experiment` and set what it found beside the paper. Nothing is written.

    `spread` is where the points of its grid run, by default here. Figures that are counted are the same anywhere; where
    they are times, the notes say how those were taken.
    """
    spread = spread or Spread()
    started = perf_counter()
    outcome = experiment.run(Context(scale, seed, progress, spread))
    return Report(
        experiment=experiment.id,
        title=experiment.title,
        source=experiment.source,
        setup=experiment.setup,
        command=f"tamis lab run {experiment.id} --scale {scale} --seed {seed}{spread.option}",
        machine=this_machine(),
        date=datetime.now(UTC).date().isoformat(),
        seed=seed,
        scale=scale,
        seconds=round(perf_counter() - started, 3),
        lines=[_line(row) for row in outcome.rows],
        notes=outcome.notes + (spread.remarks() if experiment.grid == "timed" else []),
        tables=outcome.tables,
        figure=outcome.figure,
    )


def write(report: Report, directory: Path) -> list[Path]:
    """Write `ID.json`, `ID.svg` and `ID.md` into `directory`, made if absent; return their paths.

    All three are rendered before the first is written, and each takes its place in one step.
    """
    pages = {
        "json": msgspec.json.format(msgspec.json.encode(report), indent=2) + b"\n",
        "svg": svg(report.title, report.figure),
        "md": markdown(report).encode(),
    }
    directory.mkdir(parents=True, exist_ok=True)
    written = []
    for suffix, content in pages.items():
        path = directory / f"{report.experiment}.{suffix}"
        with replacing(path) as temporary:
            temporary.write_bytes(content)
        written.append(path)
    return written


def markdown(report: Report) -> str:
    """Return the result as a Markdown page."""
    lines = [
        f"# {report.experiment}: {report.title}",
        "",
        f"{report.setup} Source: {report.source}.",
        "",
        "| | paper | ours | ratio | verdict |",
        "|---|---:|---:|---:|---|",
    ]
    lines += [
        f"| {_cell(line.label)} | {number(line.paper, line.unit)} | {number(line.ours, line.unit)} "
        f"| {number(line.ratio)} | {_cell(line.verdict)} |"
        for line in report.lines
    ]
    lines += ["", f"![{report.title}]({report.experiment}.svg)", ""]
    lines += [*(f"- {note}" for note in report.notes), ""] if report.notes else []
    for table in report.tables:
        lines += [
            f"## {table.title}",
            "",
            f"| {' | '.join(table.columns)} |",
            f"|---{'|---:' * (len(table.columns) - 1)}|",
        ]
        lines += [f"| {' | '.join(_value(value) for value in row)} |" for row in table.rows]
        lines += [""]
    lines += [
        f"Made by `{report.command}` on {report.date} in {report.seconds:.1f} s",
        f"(seed {report.seed}, scale {report.scale}).",
        f"Machine: {report.machine}.",
        "",
    ]
    return "\n".join(lines)


def number(value: float | None, unit: str = "") -> str:
    """Write a number of a result: four significant digits, a dash where there is none."""
    if value is None:
        return "-"
    digits = f"{value:,.0f}" if abs(value) >= 10_000 else f"{value:.4g}"
    return f"{digits} {unit}".rstrip()


def _line(row: Row) -> Line:
    return Line(row.label, row.paper, row.ours, ratio(row), row.unit, verdict(row))


def _value(value: str | float | None) -> str:
    return _cell(value) if isinstance(value, str) else number(value)


def _cell(text: str) -> str:
    return text.replace("|", "\\|")
