"""The step of events through what a shard remembers: that of `tamis.notification.told`, with times and lists."""

from tamis.compiled import kernel
from tamis.notification.circle import Doubles, Longs
from tamis.notification.told import Outcomes, timed_step


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
    has seen changes nothing. Return the first event that was not taken because the table has no room for it.
    """
    while at < len(order):
        event = order[at]
        first, last = offsets[event], offsets[event + 1]
        if 4 * (used[0] + last - first) > 3 * len(table):
            return at
        time, forgotten = times[event], since[event]
        for pair in range(first, last):
            out[pair] = timed_step(
                numbers[pair],
                keys[pair],
                values[pair],
                True,
                time,
                forgotten,
                asked,
                radii,
                table,
                told,
                used,
                kept,
            )
        at += 1
    return at
