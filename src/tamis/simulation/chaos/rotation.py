"""Many plans: each seed has a cast of its own turn, so that a range of seeds has them all."""

from tamis.simulation.chaos.casts import Cast, casts
from tamis.simulation.chaos.plan import Plan
from tamis.simulation.chaos.profiles import profiles
from tamis.simulation.chaos.story import story


def chosen(profile: str, name: str | None, seed: int) -> Cast:
    """Return the cast of a name, or the one whose turn it is with a seed among those that withstand something."""
    known = casts()
    if name is not None:
        if name not in known:
            raise ValueError(f"there is no cast {name!r}; there are: {', '.join(known)}")
        return known[name]
    troubles = profiles().get(profile, ())
    able = [cast for cast in known.values() if cast.withstands.intersection(troubles)] or list(known.values())
    return able[seed % len(able)]


def planned(profile: str, name: str | None, seed: int, hours: float) -> Plan:
    """Return the plan of a seed. A profile or a cast that there is not is a `ValueError`."""
    return story(profile, chosen(profile, name, seed), seed, hours)
