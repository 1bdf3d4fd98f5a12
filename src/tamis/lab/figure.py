"""The figure of a result."""

import io
from itertools import cycle

from tamis.lab.experiment import Figure

_MARKERS = "osD^vPX*"


def svg(title: str, figure: Figure) -> bytes:
    """Draw `figure` as SVG. The same figure gives the same bytes: a difference is a real change."""
    # Here and not above: matplotlib is an extra (tamis[lab]) and takes half a second to import.
    import matplotlib as mpl
    from matplotlib.backends.backend_svg import FigureCanvasSVG
    from matplotlib.figure import Figure as Canvas

    panels = list(dict.fromkeys(series.panel for series in figure.series))
    with mpl.rc_context({"svg.hashsalt": "tamis", "svg.fonttype": "none"}):
        canvas = Canvas(figsize=(7 + 4 * (len(panels) - 1), 4.5), layout="constrained")
        FigureCanvasSVG(canvas)
        for axes, panel in zip(canvas.subplots(1, len(panels), sharey=True, squeeze=False)[0], panels, strict=True):
            shown = [series for series in figure.series if series.panel == panel]
            for series, marker in zip(shown, cycle(_MARKERS), strict=False):
                axes.plot(series.x, series.y, marker=marker, markersize=4, linewidth=1.2, label=series.name)
            axes.set(title=f"{title}: {panel}" if panel else title, xlabel=figure.x_label, ylabel=figure.y_label)
            if figure.log:
                axes.set(xscale="log", yscale="log")
            if figure.log_y:
                axes.set(yscale="log")
            axes.grid(visible=True, alpha=0.3)
            axes.legend()
        buffer = io.BytesIO()
        canvas.savefig(buffer, format="svg", metadata={"Date": None})
    return buffer.getvalue()
