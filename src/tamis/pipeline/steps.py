"""The step of events through what a shard remembers: `tamis.notification.told` with times, for lists of subscriptions.

A slot of the table has a mark, which is the number of a subscription and that of a key, the turn in which the pair was
seen last, and its time then; the value told lies beside it. Turns are those of `Gate`, so that the same is forgotten.
"""

from typing import Final

import numpy as np

from tamis.compiled import kernel
from tamis.notification.circle import Doubles, Longs
from tamis.notification.law import high, low
from tamis.notification.told import (
    COUNT,
    EMPTY,
    HELD,
    KEY_BITS,
    LAW,
    MARK,
    NO_KEY,
    PASSED,
    REFUSED,
    SEEN,
    TURN,
    Outcomes,
    slot_of,
)

#: Beside the outcomes of `told`: the pair has seen a later event already.
LATE: Final = 4
#: Columns of the table: `MARK` and `SEEN` of `told`, and the time.
TIME: Final = 2
WIDTH: Final = 3


@kernel
def step_events(
    order: Longs,
    at: int,
    offsets: Longs,
    times: Longs,
    numbers: Longs,
    keys: Longs,
    values: Doubles,
    asked: Longs,
    radii: Doubles,
    table: Longs,
    told: Doubles,
    used: Longs,
    kept: int,
    since: Longs,
    out: Outcomes,
) -> int:
    """Take events in an order from one on; event `e` has the pairs from `offsets[e]` to `offsets[e + 1]`.

    `since` is by event: a pair that was last seen before that is forgotten. An event that is older than what the pair
    has seen changes nothing. Return the first event that was not taken
    because the table has no room for it.
    """
    while at < len(order):
        event = order[at]
        first, last = offsets[event], offsets[event + 1]
        if 4 * (used[0] + last - first) > 3 * len(table):
            return at
        time = times[event]
        for pair in range(first, last):
            number, key, value = numbers[pair], keys[pair], values[pair]
            law = asked[number, LAW]
            if key == NO_KEY or not np.isfinite(value) or (law != 0 and value <= 0):
                out[pair] = REFUSED
                continue
            mark = (number << KEY_BITS) | key
            slot = slot_of(table, mark)
            turn = asked[number, TURN]
            seen = -1
            passed = True
            if table[slot, MARK] == EMPTY:
                used[0] += 1
                table[slot, MARK] = mark
            else:
                seen = table[slot, SEEN]
                if seen >= turn - 1 and table[slot, TIME] >= since[event]:
                    if table[slot, TIME] > time:
                        out[pair] = LATE
                        continue
                    centre, radius = told[slot], radii[number]
                    # Also where a radius is lost in rounding: who was told of a value is not told of it again.
                    passed = value != centre and (
                        value >= high(law, centre, radius) or value <= low(law, centre, radius)
                    )
            table[slot, TIME] = time
            if passed:
                told[slot] = value
            if seen != turn:
                table[slot, SEEN] = turn
                asked[number, COUNT] += 1
                if asked[number, COUNT] >= kept:
                    asked[number, TURN] += 1
                    asked[number, COUNT] = 0
            out[pair] = PASSED if passed else HELD
        at += 1
    return at
