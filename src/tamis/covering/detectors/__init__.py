"""Detectors. Importing this package registers them all."""

from tamis.covering.detectors import counting, dominance, kdtree, mics, scan
from tamis.covering.detectors.detector import NO_LIMIT, NOBODY, Detector, Longs, detector_class, detectors

__all__ = [
    "NOBODY",
    "NO_LIMIT",
    "Detector",
    "Longs",
    "counting",
    "detector_class",
    "detectors",
    "dominance",
    "kdtree",
    "mics",
    "scan",
]
