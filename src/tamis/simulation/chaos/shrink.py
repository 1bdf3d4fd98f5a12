"""A plan that breaks a promise, made short: what is left out of it is not to blame."""

from collections.abc import Callable

import msgspec

from tamis.simulation.chaos.plan import Plan, Step
from tamis.simulation.chaos.play import run


def shrunk(plan: Plan, progress: Callable[[int], None] | None = None) -> Plan:
    """Return a plan that breaks the same promise, and would not if one more step were left out (delta debugging).

    One that breaks none is a `ValueError`. `progress` is told how many steps are left.
    """
    broken = run(plan).broken
    if not broken:
        raise ValueError("this plan breaks no promise")
    promise = broken[0].promise

    def breaks(steps: tuple[Step, ...]) -> bool:
        found = run(msgspec.structs.replace(plan, steps=steps)).broken
        return bool(found) and found[0].promise == promise

    # What comes after the break cannot matter.
    last = broken[0].at
    steps = tuple(step for step in plan.steps if step.at <= last)
    size = len(steps) // 2
    while size:
        at = 0
        while at < len(steps):
            fewer = steps[:at] + steps[at + size :]
            if breaks(fewer):
                steps = fewer
                if progress is not None:
                    progress(len(steps))
            else:
                at += size
        size //= 2
    return msgspec.structs.replace(plan, steps=steps)
