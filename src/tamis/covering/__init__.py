"""Which subscriptions make another needless? Containment, detectors, relation graphs, and the table over them."""

from tamis.covering.containment import covers, intersects
from tamis.covering.graphs import Change
from tamis.covering.ranges import keeper as _ranges_keeper  # noqa: F401 - registers itself
from tamis.covering.table import CoverTable

__all__ = ["Change", "CoverTable", "covers", "intersects"]
