"""The rows of a segment: conditions in rank space, ordered so that an event finds those that it may meet.

Every row has an *anchor*, which an event must meet for the row to matter. The rows stand in this order:

    points      anchored at one leaf: row after row by leaf, so that all that belongs to a leaf lies together
    ranges      anchored at a wider stretch: by dimension
    spread      anchored at several leaves, perhaps of several dimensions: a list for each leaf names its rows
    loose       without anchor: every event looks at them
    never       met by no event

Among those that share an anchor, rows whose next term is in the same dimension lie together: what they read does, too.
Ranges that have code stand behind the others of their dimension, which can be matched by windows.
"""

from typing import Final, NamedTuple

import numpy as np
import numpy.typing as npt

from tamis.compiled import kernel
from tamis.matching.ranks.lists import Bytes, Ints, Longs
from tamis.matching.segments.cuts import Cuts, Doubles
from tamis.matching.segments.draft import ALL, ANY
from tamis.matching.segments.runs import counts, run_starts

POINTS, RANGES, SPREAD, LOOSE, NEVER = range(5)
#: What looking at a row costs for its anchor being a range of a dimension that an event has, in rows verified.
_LOOK: Final = 0.25
#: A row is spread over so many leaves at most, and a stretch of code over so many.
_MOST_LEAVES: Final = 64
_INFINITE: Final = np.inf
#: As many events of a sample say as much as the terms.
_PRIOR: Final = 16
#: Beyond every leaf.
_BEYOND: Final = 2**31 - 1
#: Bits of the key by which rows are sorted: class, anchor, next dimension, place on it.
_ANCHOR_BITS: Final = 31
_NEXT_BITS: Final = 18
_PLACE_BITS: Final = 11


class Rows(NamedTuple):
    """What kernels see of a segment. Leaves and cuts are numbered through all lines.

    By leaf: `dimension`; `point[leaf] : point[leaf + 1]` are the rows anchored there, and
    `spread[spread_start[leaf] : spread_start[leaf + 1]]` the spread ones. By dimension: `base`, the leaf of null,
    `ranged`, where its rows begin, and `masked`, whether anything but an anchor is on it. `ends` is by class of rows.
    Row n has the terms `terms[term_start[n] : term_start[n + 1]]`, and code likewise. For rows anchored at one leaf,
    `spot` names another leaf on which an event must lie, or if there is none the number of all leaves, and `guard`
    repeats the second term, or something that is always met: most rows are rejected by these alone.
    """

    dimension: Ints
    base: Ints
    masked: Bytes
    point: Ints
    spot: Ints
    guard: Ints
    spread_start: Ints
    spread: Ints
    ranged: Ints
    ends: Longs
    term_start: Ints
    terms: Ints
    code_start: Ints
    code: Ints


def checked(rows: Rows, cuts: Cuts, size: int) -> Rows:
    """Return rows if kernels can read them without looking where they read; otherwise raise `ValueError`."""
    leaves = len(cuts.dimension)
    lines = int(cuts.dimension[-1]) + 1 if leaves else 0
    dtypes = {"masked": np.int8, "ends": np.int64}
    for name, array in rows._asdict().items():
        if array.dtype != dtypes.get(name, np.int32) or array.ndim != 1:
            raise ValueError(f"the rows have a wrong {name}")
    lengths = {"dimension": leaves, "base": lines + 1, "masked": lines, "ranged": lines + 1, "ends": NEVER + 1}
    lengths |= {"point": leaves + 1, "spread_start": leaves + 1, "term_start": size + 1, "code_start": size + 1}
    if len(rows.ends) == NEVER + 1:
        lengths |= {"spot": int(rows.ends[POINTS]), "guard": 3 * int(rows.ends[POINTS])}
    for name, length in lengths.items():
        if len(getattr(rows, name)) != length:
            raise ValueError(f"the rows have {len(getattr(rows, name))} of {name}, not {length}")
    terms, code = rows.terms.reshape(-1, 3), rows.code.reshape(-1, 3)
    stretches = code[:, 0] >= 0
    fits = (
        np.array_equal(rows.dimension, cuts.dimension)
        and np.array_equal(rows.base, np.searchsorted(cuts.dimension, np.arange(lines + 1)))
        and _rises(rows.ends, 0, size)
        and rows.ends[-1] == size
        and _rises(rows.point, 0, int(rows.ends[POINTS]))
        and _rises(rows.ranged, int(rows.ends[POINTS]), int(rows.ends[RANGES]))
        and _rises(rows.spread_start, 0, len(rows.spread))
        and _within(rows.spread, int(rows.ends[RANGES]), int(rows.ends[SPREAD]))
        and _rises(rows.term_start, 0, len(terms))
        and _rises(rows.code_start, 0, len(code))
        and _within(terms[:, 0], 0, lines)
        and _within(rows.spot, 0, leaves + 1)
        and _within(rows.guard[::3], 0, max(lines, 1))
        and _within(terms[:, 1:], 0, leaves)
        and (cuts.dimension[terms[:, 1]] == terms[:, 0]).all()
        and (cuts.dimension[terms[:, 2]] == terms[:, 0]).all()
        and _within(code[stretches, 0], 0, lines)
        and _within(code[stretches, 1:], 0, leaves)
        and (np.diff(rows.term_start)[: rows.ends[RANGES]] > 0).all()
        and _is_code(rows.code_start, code)
    )
    if not fits:
        raise ValueError("the rows do not fit together")
    return rows


def _rises(numbers: npt.NDArray[np.integer], low: int, high: int) -> bool:
    # Compared and not subtracted: differences may not fit.
    return bool(low <= numbers[0] and numbers[-1] <= high and (numbers[1:] >= numbers[:-1]).all())


def _within(numbers: npt.NDArray[np.integer], low: int, high: int) -> bool:
    return not len(numbers) or bool(numbers.min() >= low and numbers.max() < high)


@kernel
def _is_code(starts: Ints, code: Ints) -> bool:
    """Return whether every row is one form, in which every connective ends within the one around it."""
    ends = np.empty(len(code) + 1, np.int64)
    for row in range(len(starts) - 1):
        depth, at, last = 0, starts[row], starts[row + 1]
        while at < last:
            if depth == 0 and at > starts[row]:
                return False
            if code[at, 0] < 0:
                end = at + code[at, 1]
                if code[at, 0] < ANY or code[at, 1] < 2 or end > (ends[depth - 1] if depth else last):
                    return False
                ends[depth] = end
                depth += 1
            at += 1
            while depth > 0 and at == ends[depth - 1]:
                depth -= 1
    return True


class Likelihood(NamedTuple):
    """How likely events are to meet stretches: by dimension to have it at all, by cut to lie before it if so."""

    present: Doubles
    before: Doubles


def likelihood(base: Ints, hits: Longs | None, events: int, low: Ints, high: Ints, dimension: Ints) -> Likelihood:
    """Return what the terms say, which ask for what is common, and if there is a sample of events, what that says.

    `hits` counts by leaf how many of the events fell on it; `dimension` is by leaf.
    """
    counted = hits if hits is not None and events else np.zeros(0, np.int64)
    return Likelihood(*_likelihood(base, counted, events, low, high, dimension))


@kernel
def _likelihood(
    base: Ints, hits: Longs, events: int, low: Ints, high: Ints, dimension: Ints
) -> tuple[Doubles, Doubles]:
    weight, asked = np.full(base[-1], 0.5), np.zeros(len(base) - 1)
    for term in range(len(low)):
        asked[dimension[low[term]]] += 1
        if high[term] - low[term] == 1:
            weight[low[term]] += 1
    most = 1.0
    for line in range(len(asked)):
        most = max(most, asked[line])
    present, before = np.empty(len(asked)), np.empty(len(weight))
    for line in range(len(asked)):
        begin, end = base[line], base[line + 1]
        # Nobody lies on null.
        weight[begin] = 0.0
        there, total = min(1.2 * asked[line] / most, 1.0), weight[begin:end].sum()
        if len(hits) and total > 0:
            # What the terms say counts as much as a few events.
            share, total = _PRIOR * there / total, 0.0
            for leaf in range(begin + 1, end):
                weight[leaf] = share * weight[leaf] + hits[leaf]
                total += weight[leaf]
            there = total / (events + _PRIOR)
        passed = 0.0
        for leaf in range(begin, end):
            before[leaf] = passed / max(total, 1e-300)
            passed += weight[leaf]
        present[line] = min(max(there, 1e-9), 1.0)
    return present, before


def arrange(
    base: Ints,
    dimension: Ints,
    likely: Likelihood,
    term_row: Ints,
    low: Ints,
    high: Ints,
    code_row: Ints,
    code: Ints,
    never: npt.NDArray[np.bool_],
) -> tuple[Rows, Longs]:
    """Return rows in order, and for each of them its number in the draft."""
    size = len(never)
    starts = run_starts(counts(term_row, size))
    terms = np.empty((len(low), 3), np.int32)
    kept = np.empty(size, np.int32)
    never = never.copy()
    costs = np.empty(len(low))
    _conclude(starts, low, high, dimension, base, likely, terms, kept, costs, never)
    code_starts = run_starts(counts(code_row, size))
    node_cost, node_count = np.empty(len(code)), np.empty(len(code), np.int32)
    _weigh(code_starts, code, base, likely, node_cost, node_count)
    keys = np.empty(size, np.int64)
    kinds = np.empty(size, np.int8)
    _choose(starts, kept, terms, costs, code_starts, code, node_cost, base, likely, never, keys, kinds)
    order = np.argsort(keys, kind="stable")
    ends = np.cumsum(counts(kinds, NEVER + 1))
    return _ordered(order, ends, starts, kept, terms, code_starts, code, node_cost, dimension, base), order


def _ordered(
    order: Longs,
    ends: Longs,
    starts: Ints,
    kept: Ints,
    terms: Ints,
    code_starts: Ints,
    code: Ints,
    node_cost: Doubles,
    dimension: Ints,
    base: Ints,
) -> Rows:
    term_start, new_terms, _ = _moved(order, starts, kept, terms, np.empty(0))
    code_start, new_code, moved_cost = _moved(order, code_starts, np.diff(code_starts), code, node_cost)
    leaves = len(dimension)
    point, ranged, masked = _directory(ends, term_start, new_terms, new_code, leaves, len(base) - 1)
    anchored = _anchors(int(ends[RANGES]), int(ends[SPREAD]), code_start, new_code, moved_cost)
    by_leaf = np.argsort(anchored[:, 0], kind="stable")
    return Rows(
        dimension,
        base,
        masked,
        point,
        _spots(term_start[: ends[POINTS] + 1], new_terms, base),
        _guards(term_start[: ends[POINTS] + 1], new_terms),
        run_starts(counts(anchored[:, 0], leaves)),
        np.ascontiguousarray(anchored[by_leaf, 1]),
        ranged,
        ends.astype(np.int64),
        term_start,
        new_terms.reshape(-1),
        code_start,
        new_code.reshape(-1),
    )


@kernel
def _moved(order: Longs, starts: Ints, sizes: Ints, triples: Ints, cost: Doubles) -> tuple[Ints, Ints, Doubles]:
    """Return the triples of rows in an order, where those of each begin, and their costs if they have any."""
    begins = np.zeros(len(order) + 1, np.int32)
    for row in range(len(order)):
        begins[row + 1] = begins[row] + sizes[order[row]]
    moved = np.empty((begins[-1], 3), np.int32)
    costs = np.empty(begins[-1] if len(cost) else 0)
    for row in range(len(order)):
        place = starts[order[row]]
        for at in range(begins[row], begins[row + 1]):
            moved[at, 0], moved[at, 1], moved[at, 2] = triples[place, 0], triples[place, 1], triples[place, 2]
            if len(cost):
                costs[at] = cost[place]
            place += 1
    return begins, moved, costs


@kernel
def kept_triples(starts: Ints, triples: Ints, kept: npt.NDArray[np.bool_]) -> tuple[Ints, Ints]:
    """Return the triples of the rows that are kept, each with the number that its row has among these."""
    size = 0
    for row in range(len(kept)):
        if kept[row]:
            size += starts[row + 1] - starts[row]
    owner, found = np.empty(size, np.int32), np.empty((size, 3), np.int32)
    used, number = 0, 0
    for row in range(len(kept)):
        if kept[row]:
            for at in range(starts[row], starts[row + 1]):
                owner[used] = number
                found[used, 0], found[used, 1], found[used, 2] = triples[at, 0], triples[at, 1], triples[at, 2]
                used += 1
            number += 1
    return owner, found


@kernel
def _directory(ends: Longs, starts: Ints, terms: Ints, code: Ints, leaves: int, lines: int) -> tuple[Ints, Ints, Bytes]:
    """Return `point`, `ranged` and `masked` of rows in order."""
    point, ranged, masked = np.zeros(leaves + 1, np.int32), np.zeros(lines + 1, np.int32), np.zeros(lines, np.int8)
    for row in range(ends[POINTS]):
        point[terms[starts[row], 1] + 1] += 1
    for leaf in range(leaves):
        point[leaf + 1] += point[leaf]
    ranged[0] = ends[POINTS]
    for row in range(ends[POINTS], ends[RANGES]):
        ranged[terms[starts[row], 0] + 1] += 1
    for line in range(lines):
        ranged[line + 1] += ranged[line]
    for row in range(len(starts) - 1):
        for at in range(starts[row] + (1 if row < ends[POINTS] else 0), starts[row + 1]):
            masked[terms[at, 0]] = 1
    for at in range(len(code)):
        if code[at, 0] >= 0:
            masked[code[at, 0]] = 1
    return point, ranged, masked


@kernel
def _spots(starts: Ints, terms: Ints, base: Ints) -> Ints:
    """Return for each row a leaf besides its anchor that it asks for, or the number of all leaves."""
    found = np.full(len(starts) - 1, base[-1], np.int32)
    for row in range(len(found)):
        for at in range(starts[row + 1] - 1, starts[row], -1):
            # Null is no leaf on which an event lies.
            if terms[at, 2] - terms[at, 1] == 1 and terms[at, 1] > base[terms[at, 0]]:
                found[row] = terms[at, 1]
    return found


@kernel
def _guards(starts: Ints, terms: Ints) -> Ints:
    """Return the second terms of rows, or what is always met."""
    found = np.empty(3 * (len(starts) - 1), np.int32)
    for row in range(len(starts) - 1):
        if starts[row] + 1 < starts[row + 1]:
            for column in range(3):
                found[3 * row + column] = terms[starts[row] + 1, column]
        else:
            found[3 * row], found[3 * row + 1], found[3 * row + 2] = 0, 0, _BEYOND
    return found


@kernel
def _conclude(
    starts: Ints,
    low: Ints,
    high: Ints,
    dimension: Ints,
    base: Ints,
    likely: Likelihood,
    terms: Ints,
    kept: Ints,
    costs: Doubles,
    never: npt.NDArray[np.bool_],
) -> None:
    """Join the terms of a row on one dimension, and put the least likely first."""
    for row in range(len(kept)):
        begin = starts[row]
        count = 0
        for each in range(begin, starts[row + 1]):
            on, lower, upper = dimension[low[each]], low[each], high[each]
            at = begin
            while at < begin + count and terms[at, 0] != on:
                at += 1
            if at < begin + count:
                terms[at, 1], terms[at, 2] = max(terms[at, 1], lower), min(terms[at, 2], upper)
            else:
                terms[at, 0], terms[at, 1], terms[at, 2] = on, lower, upper
                count += 1
        kept[row] = count
        for each in range(begin, begin + count):
            on, lower, upper = terms[each, 0], terms[each, 1], terms[each, 2]
            if lower >= upper:
                never[row] = True
            cost = likely.present[on] * (likely.before[upper] - likely.before[lower])
            if lower == base[on]:
                cost += 1 - likely.present[on]
            at = each
            while at > begin and costs[at - 1] > cost:
                costs[at] = costs[at - 1]
                for column in range(3):
                    terms[at, column] = terms[at - 1, column]
                at -= 1
            costs[at] = cost
            terms[at, 0], terms[at, 1], terms[at, 2] = on, lower, upper


@kernel
def _weigh(starts: Ints, code: Ints, base: Ints, likely: Likelihood, cost: Doubles, count: Ints) -> None:
    """Write for each triple how likely its anchor is, and at how many leaves it is. Nothing is certain of null."""
    for row in range(len(starts) - 1):
        for at in range(starts[row + 1] - 1, starts[row] - 1, -1):
            on = code[at, 0]
            if on >= 0:
                lower, upper = code[at, 1], code[at, 2]
                count[at] = upper - lower
                likelihood = likely.present[on] * (likely.before[upper] - likely.before[lower])
                cost[at] = likelihood if lower > base[on] and count[at] <= _MOST_LEAVES else _INFINITE
                continue
            best, total, leaves, chosen = _INFINITE, 0.0, 0, 0
            part = at + 1
            while part < at + code[at, 1]:
                total += cost[part]
                leaves += count[part]
                if cost[part] < best:
                    best, chosen = cost[part], count[part]
                part += code[part, 1] if code[part, 0] < 0 else 1
            if on == ALL:
                cost[at], count[at] = best, chosen
            else:
                cost[at], count[at] = total, leaves
                if leaves > _MOST_LEAVES:
                    cost[at] = _INFINITE


@kernel
def _choose(
    starts: Ints,
    kept: Ints,
    terms: Ints,
    costs: Doubles,
    code_starts: Ints,
    code: Ints,
    node_cost: Doubles,
    base: Ints,
    likely: Likelihood,
    never: npt.NDArray[np.bool_],
    keys: Longs,
    kinds: Bytes,
) -> None:
    """Choose the anchor of each row and put that term first. The keys say in which order rows stand."""
    for row in range(len(kept)):
        begin, end = starts[row], starts[row] + kept[row]
        kind, anchor, best = LOOSE, 0, _INFINITE
        chosen = begin
        if never[row]:
            kind = NEVER
        else:
            for each in range(begin, end):
                on = terms[each, 0]
                if terms[each, 1] > base[on]:
                    point = terms[each, 2] - terms[each, 1] == 1
                    cost = costs[each] if point else costs[each] + _LOOK * likely.present[on]
                    if cost < best:
                        kind, best, chosen = POINTS if point else RANGES, cost, each
                        anchor = terms[each, 1] if point else on
            if code_starts[row] < code_starts[row + 1] and node_cost[code_starts[row]] < best:
                kind, chosen = SPREAD, begin
                anchor = code[code_starts[row] : code_starts[row + 1], 0].max()
        kinds[row] = kind
        for column in range(3):
            moved = terms[chosen, column] if begin < end else 0
            for at in range(chosen, begin, -1):
                terms[at, column] = terms[at - 1, column]
            if begin < end:
                terms[begin, column] = moved
        follows, place = 0, 0
        second = begin if kind in (SPREAD, LOOSE) else begin + 1
        if second < end:
            follows = int(terms[second, 0]) + 1
        if kind == RANGES:
            place = _place(int(terms[begin, 1]), anchor, base)
        elif second < end:
            place = _place(int(terms[second, 1]), terms[second, 0], base)
        follows = min(follows, (1 << _NEXT_BITS - 1) - 1)
        if kind == RANGES and code_starts[row] < code_starts[row + 1]:
            follows |= 1 << _NEXT_BITS - 1
        keys[row] = ((kind << _ANCHOR_BITS | int(anchor)) << _NEXT_BITS | follows) << _PLACE_BITS | place


@kernel
def _place(leaf: int, on: int, base: Ints) -> int:
    """Return where a leaf is on its line, in a few bits."""
    return (leaf - int(base[on])) * ((1 << _PLACE_BITS) - 1) // int(base[on + 1] - base[on])


@kernel
def _anchors(first: int, last: int, starts: Ints, code: Ints, cost: Doubles) -> Ints:
    """Return pairs (leaf, row): the leaves at which spread rows are anchored."""
    room = 1024
    found = np.empty((room, 2), np.int32)
    used = 0
    for row in range(first, last):
        begin, end = starts[row], starts[row + 1]
        # Parts are looked at from left to right; what a conjunction does not choose is jumped over.
        at = begin
        skip = np.zeros(end - begin, np.bool_)
        while at < end:
            on = code[at, 0]
            if skip[at - begin]:
                at += code[at, 1] if on < 0 else 1
                continue
            if on >= 0:
                for leaf in range(code[at, 1], code[at, 2]):
                    if used == room:
                        room *= 2
                        larger = np.empty((room, 2), np.int32)
                        larger[:used] = found
                        found = larger
                    found[used, 0], found[used, 1] = leaf, row
                    used += 1
            elif on == ALL:
                best, chosen = _INFINITE, at
                part = at + 1
                while part < at + code[at, 1]:
                    skip[part - begin] = True
                    if cost[part] < best:
                        best, chosen = cost[part], part
                    part += code[part, 1] if code[part, 0] < 0 else 1
                skip[chosen - begin] = False
            at += 1
    return found[:used]
