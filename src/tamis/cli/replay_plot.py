"""The chart of a replay: matches by day."""

import datetime as dt
import io
from importlib.util import find_spec
from typing import Any, Final

from tamis.cli.errors import InputError
from tamis.cli.replay_show import Differences, Replayed

#: Conditions that have a line of their own.
LINES: Final = 8


def plot_replay(told: Replayed) -> bytes:
    """Draw the matches of each day as SVG: bars for one condition, lines for those of several that matched most."""
    _need_matplotlib()
    days = _dates(told.days)

    def draw(axes: Any) -> None:
        for each in told.conditions[:LINES]:
            counts = [each.days.get(day.isoformat(), 0) for day in days]
            if len(told.conditions) == 1:
                axes.bar(days, counts)
            else:
                axes.plot(days, counts, marker="o", markersize=3, linewidth=1.2, label=str(each.id))
        if len(told.conditions) > 1:
            axes.legend()

    alone = len(told.conditions) == 1
    several = f"{min(LINES, len(told.conditions))} of {len(told.conditions):,} conditions"
    return _svg(told.conditions[0].condition if alone else several, "matches per day", draw)


def plot_difference(told: Differences) -> bytes:
    """Draw what is gained on each day upwards, and what is lost downwards."""
    _need_matplotlib()
    days = _dates(told.days)

    def draw(axes: Any) -> None:
        gained, lost = zip(*(told.days[day.isoformat()] for day in days), strict=True) if days else ((), ())
        axes.bar(days, gained, label="gained", color="tab:green")
        axes.bar(days, [-count for count in lost], label="lost", color="tab:red")
        axes.axhline(0, color="black", linewidth=0.8)
        axes.legend()

    return _svg(f"{len(told.subscriptions):,} subscriptions change", "matches gained and lost per day", draw)


def _dates(days: dict[str, Any]) -> list[dt.date]:
    """Return the days that are known."""
    return [dt.date.fromisoformat(day) for day in days if day[0].isdigit()]


def _need_matplotlib() -> None:
    if find_spec("matplotlib") is None:
        raise InputError("a chart needs matplotlib: pip install 'tamis[lab]'")


def _svg(title: str, label: str, draw: Any) -> bytes:
    # Here and not above: matplotlib is an extra and takes half a second to import.
    import matplotlib as mpl
    from matplotlib.backends.backend_svg import FigureCanvasSVG
    from matplotlib.figure import Figure

    # The same figure gives the same bytes.
    with mpl.rc_context({"svg.hashsalt": "tamis", "svg.fonttype": "none"}):
        canvas = Figure(figsize=(9, 4.5), layout="constrained")
        FigureCanvasSVG(canvas)
        axes = canvas.subplots()
        draw(axes)
        # A dollar sign would begin a formula.
        axes.set_title(title.replace("$", r"\$"), fontsize=10, wrap=True)
        axes.set_ylabel(label)
        axes.grid(visible=True, alpha=0.3)
        canvas.autofmt_xdate()
        buffer = io.BytesIO()
        canvas.savefig(buffer, format="svg", metadata={"Date": None})
    return buffer.getvalue()
