"""What an experiment declares and what it returns."""

from collections.abc import Callable, Sequence
from enum import StrEnum
from typing import Literal, TypeVar, TypeVarTuple

import msgspec

from tamis.lab.spread import Spread

Arguments = TypeVarTuple("Arguments")
Result = TypeVar("Result")

#: What a reader hopes for. `order` compares the order of magnitude only: for figures of other machines. `exact` is
#: for places in a ranking, where anything but the paper's number is another result.
Good = Literal["near", "smaller", "larger", "order", "exact"]
#: What the points of a grid give: `counted` figures are the same wherever a point runs, `timed` ones are not.
Grid = Literal["counted", "timed"]

DEFAULT_SEED = 7


class Scale(StrEnum):
    """How much of the paper's set-up is run: `quick` takes seconds, `full` is the whole of it."""

    QUICK = "quick"
    FULL = "full"


class Context(msgspec.Struct, frozen=True):
    """What a run is given. `progress(done, total)` may be called as often as wished."""

    scale: Scale
    seed: int
    progress: Callable[[int, int], None]
    spread: Spread = Spread()

    def each(self, work: Callable[[*Arguments], Result], points: Sequence[tuple[*Arguments]]) -> list[Result]:
        """Return what the work gives at every point of a grid, in their order; progress is told as points finish.

        Points may run in any order and in other processes. So the work is a function of a module that depends on its
        arguments alone, and these and its result can be pickled.
        """
        return self.spread.run(work, points, self.progress)


class Row(msgspec.Struct, frozen=True):
    """One number of ours beside the paper's; `paper` is None where the paper gives no figure."""

    label: str
    ours: float
    paper: float | None = None
    unit: str = ""
    good: Good = "near"
    tolerance: float = 0.05


class Series(msgspec.Struct, frozen=True):
    """One line of the figure. Lines of one panel share a chart; the panels lie side by side."""

    name: str
    x: list[float]
    y: list[float]
    panel: str = ""


class Figure(msgspec.Struct, frozen=True):
    """A line chart. `log` draws both axes logarithmically, `log_y` the upright one only."""

    x_label: str
    y_label: str
    series: list[Series]
    log: bool = False
    log_y: bool = False


class Table(msgspec.Struct, frozen=True):
    """Numbers of ours that the paper does not have: a heading, the names of the columns, and the rows."""

    title: str
    columns: list[str]
    rows: list[list[str | float | None]]


class Outcome(msgspec.Struct, frozen=True):
    """What a run found."""

    rows: list[Row]
    figure: Figure
    notes: list[str] = []
    tables: list[Table] = []


class Experiment(msgspec.Struct, frozen=True):
    """A question put to the code: `id` as in `tamis lab run ID`, where it comes from, and how it is run.

    Where it runs a grid by `Context.each`, `grid` tells what its points give; None means that it runs in one go.
    """

    id: str
    title: str
    source: str
    setup: str
    run: Callable[[Context], Outcome]
    grid: Grid | None = None
