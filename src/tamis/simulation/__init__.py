"""The world in virtual time: topology, links, faults, clocks, traces."""

from tamis.simulation.overlay import Overlay

__all__ = ["Overlay"]
