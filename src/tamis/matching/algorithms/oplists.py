"""The sorted lists of OpIndex: the predicates of a group of subscriptions, by attribute and operator (`opindex`).

In rank space the operators are these, on the leaves at which a stretch of values begins (low) and ends (high):

    EQUAL     one value: sorted by low, met are those equal to the event's leaf
    BELOW     from the beginning of a kind: sorted by high, met are those behind the event's leaf
    ABOVE     to the end of a kind: sorted by low, met are those up to the event's leaf
    BETWEEN   sorted by low; of those up to the event's leaf, high is compared
    CHECKED   sorted by low; of those up to the event's leaf, the predicate is tested

A set is one EQUAL entry for each value, and `<>` is one BELOW and one ABOVE: stretches of one predicate never overlap,
so it is counted once. A predicate with very many stretches (a long `not in`) is CHECKED. BELOW and ABOVE are divided
once more, by the end that is fixed, the *fence*, so that kinds of values never mix.
"""

from collections.abc import Iterator
from typing import NamedTuple

import numpy as np

from tamis.compiled import kernel
from tamis.matching.ranks.kernels import Predicates
from tamis.matching.ranks.line import Shape
from tamis.matching.ranks.lists import Bytes, Ints, Longs, View
from tamis.matching.ranks.space import Space

EQUAL, BELOW, ABOVE, BETWEEN, CHECKED = range(5)
_OPERATORS = 5
_VALUES = int(Shape.VALUES)
#: Predicates with more stretches than this are CHECKED: a test costs more than to compare a bound, but only once.
_MOST_STRETCHES = 16
#: What a list is in `Group.lists`: its attribute, operator and fence, where its entries begin and end, and how many
#: numbers further the lists of the next attribute begin.
ATTRIBUTE, OPERATOR, FENCE, FIRST, LAST, SKIP = range(6)
FIELDS = 6


class Group(NamedTuple):
    """The lists of one group. A member's place among the members is its *slot*."""

    #: By slot: how many predicates are listed.
    needed: Ints
    #: All lists, `FIELDS` numbers each.
    lists: Ints
    #: By entry: the leaf it is sorted by, the slot it belongs to, and the high leaf or predicate left to test.
    keys: Ints
    slots: Ints
    others: Ints


def sorted_groups(members: list[Ints], held: View, predicates: Predicates, space: Space) -> Iterator[Group]:
    """Yield the lists of groups with these members. Predicates that take null are not listed."""
    edges = np.append(0, np.cumsum([len(each) for each in members]))
    stretches, needed = _stretches(np.concatenate(members), edges, held, predicates, space.shape)
    group, attribute, operator, low, high, slot = stretches
    fixed = space.fixed.view(np.bool_)
    below = (operator == BETWEEN) & fixed[low]
    above = (operator == BETWEEN) & ~below
    above[above] = fixed[high[above]]
    operator[below], operator[above] = BELOW, ABOVE
    key = np.where(below, high, low)
    fence = np.select([below, above], [low, high], 0)
    which = (group.astype(np.int64) * space.dimensions + attribute) * _OPERATORS + operator
    order = np.lexsort(((fence.astype(np.int64) << 32) + predicates.rank[key], which))
    group, key, slot, high = group[order], key[order], slot[order], high[order]
    lists = _lists(group, attribute[order], operator[order], fence[order])
    numbers = np.arange(len(members) + 1)
    entries = np.searchsorted(group, numbers)
    listed = np.searchsorted(group[lists[:, FIRST]], numbers)
    for number in range(len(members)):
        own = slice(entries[number], entries[number + 1])
        rows = lists[listed[number] : listed[number + 1]]
        rows[:, FIRST : LAST + 1] -= entries[number]
        yield Group(needed[edges[number] : edges[number + 1]], rows.ravel(), key[own], slot[own], high[own])


def _lists(group: Ints, attribute: Ints, operator: Ints, fence: Ints) -> Ints:
    """Return the lists that sorted entries form, one in each row."""
    sorted_by = np.stack([group, attribute, operator, fence])
    first = np.append(0, np.flatnonzero((sorted_by[:, 1:] != sorted_by[:, :-1]).any(axis=0)) + 1)
    last = np.append(first[1:], len(group))
    whose = group[first].astype(np.int64) << 32 | attribute[first]
    skip = (np.searchsorted(whose, whose, side="right") - np.arange(len(first))) * FIELDS
    columns = [attribute[first], operator[first], fence[first], first, last, skip]
    return np.stack(columns, axis=1).astype(np.int32)


@kernel
def _stretches(members: Ints, edges: Longs, held: View, predicates: Predicates, shape: Bytes) -> tuple[Ints, Ints]:
    """Return what is to be listed: group, attribute, operator, low, high or predicate, slot; and by member how much.

    Predicates that take null are those that begin at rank 0.
    """
    start, size, data = predicates.bounds
    entries = 0
    for position in members:
        for place in range(held.start[position], held.start[position] + held.size[position]):
            entries += size[held.data[place]] // 2
    found = np.empty((6, entries), np.int32)
    needed = np.zeros(len(members), np.int32)
    used = 0
    for group in range(len(edges) - 1):
        for member in range(edges[group], edges[group + 1]):
            position = members[member]
            for place in range(held.start[position], held.start[position] + held.size[position]):
                predicate = held.data[place]
                first, last = start[predicate], start[predicate] + size[predicate]
                if predicates.rank[data[first]] == 0:
                    continue
                needed[member] += 1
                operator = EQUAL if shape[predicate] <= _VALUES else BETWEEN
                if operator == BETWEEN and size[predicate] > 2 * _MOST_STRETCHES:
                    operator = CHECKED
                    last = first + 2
                for bound in range(first, last, 2):
                    found[0, used] = group
                    found[1, used] = predicates.dimension[predicate]
                    found[2, used] = operator
                    found[3, used] = data[bound]
                    found[4, used] = predicate if operator == CHECKED else data[bound + 1]
                    found[5, used] = member - edges[group]
                    used += 1
    return found[:, :used], needed
