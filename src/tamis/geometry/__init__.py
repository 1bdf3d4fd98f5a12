"""How is space put in a line? Boxes on a grid, Z and Hilbert curves, and runs."""

from tamis.geometry.budget import Decomposition, decompose
from tamis.geometry.bulk import Conversion, convert
from tamis.geometry.curve import Curve, TooManyRunsError, curve
from tamis.geometry.estimate import expected_runs
from tamis.geometry.extremal import Extremal
from tamis.geometry.quantiser import Quantiser

__all__ = [
    "Conversion",
    "Curve",
    "Decomposition",
    "Extremal",
    "Quantiser",
    "TooManyRunsError",
    "convert",
    "curve",
    "decompose",
    "expected_runs",
]
