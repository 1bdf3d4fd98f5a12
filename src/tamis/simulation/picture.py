"""A picture of an overlay: how much went over each link, and how often each broker matched."""

from collections.abc import Mapping
from pathlib import Path
from typing import Any, Final

import networkx as nx

from tamis.routing.packets import Name
from tamis.simulation.layout import places
from tamis.simulation.overlay import Overlay

FORMATS: Final = (".svg", ".png")
#: Larger overlays are drawn without names: nobody could read them.
MOST_NAMES: Final = 60
_NODE_AREA: Final = (30.0, 400.0)
_LINK_WIDTH: Final = (0.4, 6.0)
_INCHES: Final = 9
_PIXELS_PER_INCH: Final = 150


def draw(net: Overlay, path: Path, title: str = "") -> None:
    """Draw an overlay to a file .svg or .png. The same run gives the same bytes.

    A link is as wide and as dark as packets went over it, a broker as large as it matched events by content. Links and
    brokers that have gone are not drawn. Needs matplotlib: without it, an `ImportError`.
    """
    if path.suffix not in FORMATS:
        raise ValueError(f"{path}: a picture is a file {' or '.join(FORMATS)}")
    # Here and not above: matplotlib is an extra (tamis[lab]) and takes half a second to import.
    import matplotlib as mpl
    from matplotlib.cm import ScalarMappable
    from matplotlib.colors import Normalize
    from matplotlib.figure import Figure

    graph, metrics = net.graph, net.metrics
    at = places(graph)
    links = list(graph.edges)
    traffic = [metrics.sent_by_link[one, other] + metrics.sent_by_link[other, one] for one, other in links]
    matches: Mapping[Name, float] = metrics.recorded_by.get("matches", {})
    colours: Any = ScalarMappable(Normalize(0, max(traffic, default=0) or 1), "viridis_r")
    with mpl.rc_context({"svg.hashsalt": "tamis", "svg.fonttype": "none"}):
        canvas = Figure(figsize=(_INCHES, _INCHES), layout="constrained")
        axes = canvas.subplots()
        nx.draw_networkx_edges(
            graph,
            at,
            edgelist=links,
            ax=axes,
            width=_scaled(traffic, _LINK_WIDTH),
            edge_color=[colours.to_rgba(count) for count in traffic],
        )
        nx.draw_networkx_nodes(
            graph,
            at,
            ax=axes,
            node_size=_scaled([matches.get(broker, 0) for broker in graph.nodes], _NODE_AREA),
            node_color="#f28e2b",
            edgecolors="#333333",
            linewidths=0.5,
        )
        if len(graph) <= MOST_NAMES:
            nx.draw_networkx_labels(graph, at, ax=axes, font_size=7)
        axes.set_axis_off()
        axes.set_title(title or f"{net.strategy.name} on {len(graph)} brokers")
        if links:
            canvas.colorbar(colours, ax=axes, shrink=0.6, label="packets over a link (brokers: size by matches)")
        metadata = {"Date": None} if path.suffix == ".svg" else {"Software": None}
        canvas.savefig(path, format=path.suffix[1:], metadata=metadata, dpi=_PIXELS_PER_INCH)


def _scaled(counts: list[Any], between: tuple[float, float]) -> list[float]:
    """Return sizes between two bounds, in proportion to counts."""
    least, most = between
    highest = max(counts, default=0) or 1
    return [least + (most - least) * count / highest for count in counts]
