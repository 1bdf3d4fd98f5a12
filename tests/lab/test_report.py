from pathlib import Path

import msgspec
import pytest

from tamis.lab.experiment import Context, Experiment, Figure, Grid, Outcome, Row, Scale, Series, Table
from tamis.lab.figure import svg
from tamis.lab.report import Report, markdown, number, run, write
from tamis.lab.spread import Spread


def _outcome(context: Context) -> Outcome:
    context.progress(1, 2)
    return Outcome(
        rows=[Row("hops | mean", 2.08, 2.0, "hops"), Row("spread", 0.5 * context.seed)],
        figure=Figure("brokers", "hops", [Series("ours", [1, 2, 3], [1, 4, 9])], log=True),
        notes=["a note"],
        tables=[Table("All | figures", ["broker", "hops"], [["a | b", 12345.6], ["c", None]])],
    )


def _failing(context: Context) -> Outcome:
    raise ZeroDivisionError(context.seed)


TOY = Experiment("999-toy", "Toy", "specs/999 §1", "Three brokers.", _outcome)


def _report() -> tuple[Report, list[tuple[int, int]]]:
    steps: list[tuple[int, int]] = []
    return run(TOY, Scale.QUICK, 3, lambda done, total: steps.append((done, total))), steps


def test_run_sets_ours_beside_the_paper() -> None:
    report, steps = _report()
    assert [(line.ours, line.ratio, line.verdict) for line in report.lines] == [
        (2.08, 1.04, "within 5 % of the paper"),
        (1.5, None, "no figure in the paper"),
    ]
    assert report.command == "tamis lab run 999-toy --scale quick --seed 3"
    assert steps == [(1, 2)]


class Elsewhere(Spread):
    option = " --elsewhere"

    def remarks(self) -> list[str]:
        return ["taken elsewhere"]


@pytest.mark.parametrize(("grid", "notes"), [("counted", ["a note"]), ("timed", ["a note", "taken elsewhere"])])
def test_times_say_where_they_were_taken(grid: Grid, notes: list[str]) -> None:
    toy = msgspec.structs.replace(TOY, grid=grid)
    report = run(toy, Scale.QUICK, 3, lambda *_: None, Elsewhere())
    assert report.command == "tamis lab run 999-toy --scale quick --seed 3 --elsewhere"
    assert report.notes == notes


def test_write_makes_three_files_that_agree(tmp_path: Path) -> None:
    report, _ = _report()
    written = write(report, tmp_path / "new" / "results")
    assert [path.name for path in written] == ["999-toy.json", "999-toy.svg", "999-toy.md"]
    assert sorted(path.name for path in written[0].parent.iterdir()) == sorted(path.name for path in written)
    assert msgspec.json.decode(written[0].read_bytes(), type=Report) == report
    assert written[1].read_text().rstrip().endswith("</svg>")
    assert written[2].read_text() == markdown(report)


def test_the_figure_of_the_same_result_is_the_same(tmp_path: Path) -> None:
    report, _ = _report()
    first, second = write(report, tmp_path / "a")[1], write(report, tmp_path / "b")[1]
    assert first.read_bytes() == second.read_bytes()


def test_the_page_says_how_where_and_when_it_was_made() -> None:
    report, _ = _report()
    page = markdown(report)
    assert "| hops \\| mean | 2 hops | 2.08 hops | 1.04 | within 5 % of the paper |" in page
    assert "| spread | - | 1.5 | - | no figure in the paper |" in page
    for fact in (report.command, str(report.machine), report.date, "seed 3", "scale quick", "specs/999 §1"):
        assert fact in page
    assert "![Toy](999-toy.svg)" in page
    assert "- a note" in page
    assert "## All | figures\n\n| broker | hops |\n|---|---:|\n| a \\| b | 12,346 |\n| c | - |\n" in page


def test_a_failing_run_writes_nothing(tmp_path: Path) -> None:
    broken = msgspec.structs.replace(TOY, run=_failing)
    with pytest.raises(ZeroDivisionError):
        write(run(broken, Scale.QUICK, 3, lambda _done, _total: None), tmp_path / "results")
    assert list(tmp_path.iterdir()) == []


@pytest.mark.parametrize(
    ("value", "unit", "text"),
    [(None, "ms", "-"), (0.12345, "", "0.1235"), (123456.7, "ms", "123,457 ms"), (3.0, "%", "3 %")],
)
def test_numbers_are_short(value: float | None, unit: str, text: str) -> None:
    assert number(value, unit) == text


def test_panels_lie_side_by_side_in_one_figure() -> None:
    lines = [Series("ours", [0, 1], [1, 10], panel) for panel in ("dense", "sparse")]
    drawn = svg("Toy", Figure("brokers", "hops", lines, log_y=True)).decode()
    assert "Toy: dense" in drawn
    assert "Toy: sparse" in drawn
