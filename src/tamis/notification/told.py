"""What each subscription was told last, by key: a hash table in flat arrays, and the step of an event through it.

Open addressing with linear probing. A slot has a mark, which is the number of the subscription and that of the key, the
turn in which the pair was seen last, and the value told. A subscription begins a new turn when it has seen so many
different keys; what it has not seen in this turn or the last is forgotten. Slots of what is forgotten stay until the
table is filled anew.
"""

from typing import Final

import numpy as np
import numpy.typing as npt

from tamis.compiled import brief, inlined, kernel
from tamis.notification.circle import Doubles, Longs
from tamis.notification.law import high, low

#: Columns of the table beside the values told; the time is there only where events carry one.
MARK, SEEN, TIME = 0, 1, 2
#: Columns of the subscriptions beside their radii: the law, the turn, and how many keys were seen in it.
LAW, TURN, COUNT = 0, 1, 2
#: The mark of an empty slot.
EMPTY: Final = -1
#: A mark has so many bits for the key, and the others for the subscription.
KEY_BITS: Final = 32
#: The number of a key that cannot be one.
NO_KEY: Final = -1

HELD: Final = 0
PASSED: Final = 1
REFUSED: Final = 2
#: The table has to grow before this step.
FULL: Final = 3
#: The pair has seen a later event already.
LATE: Final = 4

_HALF: Final = (1 << 32) - 1
_FIRST, _SECOND = 0x7FEB352D, 0x31848BAB

Outcomes = npt.NDArray[np.uint8]


@inlined
def _mixed(number: int) -> int:
    number = ((number ^ (number >> 16)) * _FIRST) & _HALF
    number = ((number ^ (number >> 15)) * _SECOND) & _HALF
    return number ^ (number >> 16)


@inlined
def slot_of(table: Longs, mark: int) -> int:
    """Return the slot of a mark, or the empty one where it belongs."""
    last = len(table) - 1
    slot = _mixed((mark & _HALF) ^ _mixed(mark >> KEY_BITS)) & last
    while table[slot, MARK] != EMPTY and table[slot, MARK] != mark:
        slot = (slot + 1) & last
    return slot


@inlined
def timed_step(
    number: int,
    key: int,
    value: float,
    timed: bool,
    time: int,
    since: int,
    asked: Longs,
    radii: Doubles,
    table: Longs,
    told: Doubles,
    used: Longs,
    kept: int,
) -> int:
    """Take one value of one key for one subscription; say what comes of it.

    With times, a pair that was last seen before `since` is forgotten, and an event that is older than the last one of
    its pair changes nothing.
    """
    law = asked[number, LAW]
    if key == NO_KEY or not np.isfinite(value) or (law != 0 and value <= 0):
        return REFUSED
    mark = (number << KEY_BITS) | key
    slot = slot_of(table, mark)
    turn = asked[number, TURN]
    passed = True
    seen = -1
    if table[slot, MARK] == EMPTY:
        if 4 * (used[0] + 1) > 3 * len(table):
            return FULL
        used[0] += 1
        table[slot, MARK] = mark
    else:
        seen = table[slot, SEEN]
        if seen >= turn - 1 and not (timed and table[slot, TIME] < since):
            if timed and table[slot, TIME] > time:
                return LATE
            centre, radius = told[slot], radii[number]
            # Also where a radius is lost in rounding: who was told of a value is not told of it again.
            passed = value != centre and (value >= high(law, centre, radius) or value <= low(law, centre, radius))
    if timed:
        table[slot, TIME] = time
    if passed:
        told[slot] = value
    if seen != turn:
        table[slot, SEEN] = turn
        asked[number, COUNT] += 1
        if asked[number, COUNT] >= kept:
            asked[number, TURN] += 1
            asked[number, COUNT] = 0
    return PASSED if passed else HELD


@brief
def step(
    number: int,
    key: int,
    value: float,
    asked: Longs,
    radii: Doubles,
    table: Longs,
    told: Doubles,
    used: Longs,
    kept: int,
) -> int:
    """Take one value of one key for one subscription; say what comes of it."""
    return timed_step(number, key, value, False, 0, 0, asked, radii, table, told, used, kept)


@kernel
def step_many(
    numbers: Longs,
    keys: Longs,
    values: Doubles,
    row: int,
    asked: Longs,
    radii: Doubles,
    table: Longs,
    told: Doubles,
    used: Longs,
    kept: int,
    out: Outcomes,
) -> int:
    """Take rows in order from one on; return the first that was not taken because the table is full."""
    while row < len(numbers):
        outcome = timed_step(numbers[row], keys[row], values[row], False, 0, 0, asked, radii, table, told, used, kept)
        if outcome == FULL:
            return row
        out[row] = outcome
        row += 1
    return row


@kernel
def fill(table: Longs, told: Doubles, rows: Longs, values: Doubles) -> None:
    """Put rows of marks, turns and whatever else with their values into a table without them that has room."""
    for number in range(len(rows)):
        slot = slot_of(table, rows[number, MARK])
        for column in range(rows.shape[1]):
            table[slot, column] = rows[number, column]
        told[slot] = values[number]
