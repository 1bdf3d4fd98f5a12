"""Who is told how, over a network that routes by content: methods, and what each costs (specs/003 F9)."""

from tamis.simulation.content import centres, endpoints, labels, radii, twolevel, unicast
from tamis.simulation.content.meter import Cost
from tamis.simulation.content.method import Method, methods
from tamis.simulation.content.network import ContentNetwork
from tamis.simulation.content.underlay import Underlay, internet

__all__ = [
    "ContentNetwork",
    "Cost",
    "Method",
    "Underlay",
    "centres",
    "endpoints",
    "internet",
    "labels",
    "methods",
    "radii",
    "twolevel",
    "unicast",
]
