"""Has it moved enough to tell? Value-based notification: structures, one watch, and sets of watches."""

from tamis.notification import centres, delta, endpoints, oracle, runs, scan, twolevel
from tamis.notification.affected import AffectedRange, Arc, Place
from tamis.notification.gate import Gate
from tamis.notification.notified import Notified
from tamis.notification.structure import Case, Structure, structure_class, structures
from tamis.notification.watch import Watch
from tamis.notification.watchset import WatchSet

__all__ = [
    "AffectedRange",
    "Arc",
    "Case",
    "Gate",
    "Notified",
    "Place",
    "Structure",
    "Watch",
    "WatchSet",
    "centres",
    "delta",
    "endpoints",
    "oracle",
    "runs",
    "scan",
    "structure_class",
    "structures",
    "twolevel",
]
