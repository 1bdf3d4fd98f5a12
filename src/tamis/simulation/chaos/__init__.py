"""Chaos: everything that can go wrong goes wrong, and promises are checked all the time."""

from tamis.simulation.chaos.casts import Cast, casts
from tamis.simulation.chaos.plan import Plan
from tamis.simulation.chaos.play import Outcome, run
from tamis.simulation.chaos.profiles import profiles
from tamis.simulation.chaos.rotation import planned
from tamis.simulation.chaos.shrink import shrunk

__all__ = ["Cast", "Outcome", "Plan", "casts", "planned", "profiles", "run", "shrunk"]
