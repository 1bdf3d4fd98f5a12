"""The world in virtual time: topology, links, faults, clocks, traces."""

from tamis.simulation.clock import Clock
from tamis.simulation.faults import Faults
from tamis.simulation.link import Link
from tamis.simulation.overlay import Overlay
from tamis.simulation.received import Received
from tamis.simulation.topologies import topologies, topology
from tamis.simulation.trace import TraceWriter
from tamis.simulation.value_network import ValueNetwork

__all__ = ["Clock", "Faults", "Link", "Overlay", "Received", "TraceWriter", "ValueNetwork", "topologies", "topology"]
