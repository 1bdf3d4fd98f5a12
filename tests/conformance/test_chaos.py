"""Every cast withstands what it promises to: each day other seeds of an hour each, in turn.

`tamis sim --chaos all --seeds 1000` runs them all.
"""

import time

import pytest

from tamis.simulation.chaos import casts, planned, run

SEEDS = 50
DAYS = 20
#: The same for a whole day, so that all processes of a run agree.
FIRST = int(time.time() // 86_400) % DAYS * SEEDS


@pytest.mark.slow
@pytest.mark.parametrize("number", range(SEEDS))
def test_promises_are_kept(number: int) -> None:
    seed = FIRST + number
    plan = planned("all", None, seed, 1.0)
    assert not run(plan).broken, f"tamis sim --chaos all --cast {plan.cast} --seed {seed} --hours 1"


def test_at_least_six_strategies_are_tried() -> None:
    tried = {planned("all", None, seed, 0.01).cast for seed in range(SEEDS)}
    assert tried == casts().keys()
    assert len({casts()[name].strategy for name in tried}) >= 6
