"""Subscriptions under unordered pairs of leaves (specs/002 §6): a hash table whose values are chains of positions.

Leaf numbers are unique over all attributes, so two of them make a key. The source's keys name attributes as well.
[ours] A reverse index knows the *partners* of each leaf, those with which it makes a key, so that a
split and a merge touch only keys of the leaf in question.
"""

from typing import NamedTuple

import numpy as np

from tamis.compiled import kernel
from tamis.matching.algorithms.hashtable import EMPTY, HashTable, Table, erase, pair, put, slot_of
from tamis.matching.ranks.layout import Layout, expand
from tamis.matching.ranks.line import Merge, Split
from tamis.matching.ranks.lists import Ints, Lists, Longs, View, grown

#: The end of a chain.
NONE = -1
#: Up to so many new keys are entered in the reverse index one by one.
_FEW = 256
#: Subscriptions are stored in portions of about so many pairs, for which the table then surely has room.
_PORTION = 1 << 20
#: What `Chains.state` counts: links ever used, the first link that was given back, new keys.
_TOP, _FREE, _NEW = 0, 1, 2


class Chains(NamedTuple):
    """Chains of positions: link x holds `position[x]` and is followed by `following[x]`."""

    position: Ints
    following: Ints
    state: Longs


class Pairs:
    """A set of positions for each pair of leaves of two attributes.

    `counts` says by position under how many pairs it is.
    """

    def __init__(self, slots: int) -> None:
        self._hash = HashTable(slots)
        self._chains = Chains(np.zeros(1, np.int32), np.zeros(1, np.int32), np.array([0, NONE, 0]))
        self._partners = Lists()
        self.counts: Ints = np.zeros(1, np.int32)

    def add(self, position: int, left: Ints, right: Ints) -> None:
        """Put a position under all pairs of a left and a right leaf."""
        self._reserve(position, len(left) * len(right))
        fresh = np.empty(len(left) * len(right), np.int64)
        _add(position, left, right, self._hash.table, self._chains, self.counts, fresh)
        self._link(self._new_of(fresh))

    def add_many(self, positions: Ints, products: Longs, held: View, bounds: View, where: Layout) -> None:
        """Put positions under the pairs of their first two predicates, whose numbers are known to be `products`."""
        if not len(positions):
            return
        ends = np.cumsum(products)
        self._reserve(int(positions.max()), 0)
        self._chains = _with_room(self._chains, int(ends[-1]))
        portions = np.searchsorted(ends, np.arange(0, ends[-1], _PORTION), side="left").tolist()
        found = []
        for first, last in zip(portions, [*portions[1:], len(positions)], strict=True):
            some = int(products[first:last].sum())
            self._hash.reserve(some)
            fresh = np.empty(some, np.int64)
            _add_many(positions[first:last], held, bounds, where, self._hash.table, self._chains, self.counts, fresh)
            found.append(self._new_of(fresh))
        self._link(np.concatenate(found))

    def remove(self, position: int, left: Ints, right: Ints) -> None:
        """Take a position away from all pairs of a left and a right leaf."""
        _remove(position, left, right, self._hash.table, self._chains, self.counts, self._partners.view())

    def split(self, split: Split, most: int) -> list[int]:
        """Put what is under the pairs of a leaf under those of its new half, too.

        Return the positions that have come to be under more than so many pairs.
        """
        partners = self._partners[split.old].copy()
        if not len(partners):
            return []
        copies = _count(split.old, partners, self._hash.table, self._chains)
        self._reserve(0, copies)
        fresh = np.empty(len(partners), np.int64)
        heavy = np.empty(copies, np.int32)
        count = _split(split.old, split.new, partners, self._hash.table, self._chains, self.counts, fresh, most, heavy)
        self._link(self._new_of(fresh))
        positions: list[int] = heavy[:count].tolist()
        return positions

    def merge(self, merge: Merge) -> None:
        """Give up all pairs of a leaf that went away: its neighbour has the same."""
        partners = self._partners[merge.dropped].copy()
        _drop(merge.dropped, partners, self._hash.table, self._chains, self.counts, self._partners.view())
        self._partners.clear(merge.dropped)

    def _reserve(self, position: int, more: int) -> None:
        self.counts = grown(self.counts, position + 1)
        self._hash.reserve(more)
        if more > len(self._chains.position) - self._chains.state[_TOP]:
            self._chains = _with_room(self._chains, max(more, len(self._chains.position)))

    def _new_of(self, fresh: Longs) -> Longs:
        state = self._chains.state
        new = fresh[: state[_NEW]]
        state[_NEW] = 0
        return new

    def _link(self, keys: Longs) -> None:
        left, right = (keys >> 32).astype(np.int32), keys.astype(np.int32)
        if len(keys) > _FEW:
            self._partners.extend(left, right)
            self._partners.extend(right, left)
            return
        for one, other in zip(left.tolist(), right.tolist(), strict=True):
            self._partners.append(one, other)
            self._partners.append(other, one)

    def view(self) -> tuple[Table, Chains]:
        """Return what kernels need."""
        return self._hash.table, self._chains

    def partners(self, leaves: int) -> Ints:
        """Return by leaf, for numbers below this one, with how many others it makes keys."""
        self._partners.reserve(leaves)
        return self._partners.size

    @property
    def bytes(self) -> int:
        """How much memory keys, chains and the reverse index take."""
        chains = self._chains.position.nbytes + self._chains.following.nbytes
        return self._hash.bytes + chains + self._partners.bytes + self.counts.nbytes

    def content(self) -> dict[tuple[int, int], list[int]]:
        """Return all pairs, the lower leaf first, with their positions in ascending order."""
        table, chains = self.view()
        found: dict[tuple[int, int], list[int]] = {}
        for slot in np.flatnonzero(table.keys != EMPTY).tolist():
            positions = []
            link = int(table.values[slot])
            while link != NONE:
                positions.append(int(chains.position[link]))
                link = int(chains.following[link])
            key = int(table.keys[slot])
            found[key >> 32, key & 0xFFFFFFFF] = sorted(positions)
        return found

    def check_invariants(self) -> None:
        """Raise `AssertionError` if keys, chains and partners do not fit together."""
        self._hash.check_invariants()
        self._partners.check_invariants()
        content = self.content()
        assert all(content.values()), "a key without positions"
        partners: dict[int, list[int]] = {}
        for left, right in content:
            assert left < right
            partners.setdefault(left, []).append(right)
            partners.setdefault(right, []).append(left)
        assert np.flatnonzero(self._partners.size).tolist() == sorted(partners)
        assert all(sorted(self._partners[leaf].tolist()) == sorted(partners[leaf]) for leaf in partners)
        _, following, state = self._chains
        free, link = 0, int(state[_FREE])
        while link != NONE:
            free, link = free + 1, int(following[link])
        held = [position for positions in content.values() for position in positions]
        assert len(held) + free == state[_TOP]
        assert np.bincount(held, minlength=len(self.counts)).tolist() == self.counts.tolist()


def _with_room(chains: Chains, more: int) -> Chains:
    top = int(chains.state[_TOP])
    larger = []
    for old in (chains.position, chains.following):
        new = np.zeros(top + more, np.int32)
        new[:top] = old[:top]
        larger.append(new)
    return Chains(larger[0], larger[1], chains.state)


@kernel
def _put(key: int, position: int, table: Table, chains: Chains, fresh: Longs) -> None:
    state = chains.state
    slot = slot_of(key, table.keys)
    if table.keys[slot] == EMPTY:
        put(slot, key, NONE, table)
        fresh[state[_NEW]] = key
        state[_NEW] += 1
    link = state[_FREE]
    if link == NONE:
        link = state[_TOP]
        state[_TOP] += 1
    else:
        state[_FREE] = chains.following[link]
    chains.position[link] = position
    chains.following[link] = table.values[slot]
    table.values[slot] = link


@kernel
def _add(position: int, left: Ints, right: Ints, table: Table, chains: Chains, counts: Ints, fresh: Longs) -> None:
    for one in left:
        for other in right:
            _put(pair(one, other), position, table, chains, fresh)
    counts[position] += len(left) * len(right)


@kernel
def _add_many(
    positions: Ints,
    held: View,
    bounds: View,
    where: Layout,
    table: Table,
    chains: Chains,
    counts: Ints,
    fresh: Longs,
) -> None:
    left, right = np.empty(len(fresh), np.int32), np.empty(len(fresh), np.int32)
    for position in positions:
        first = held.start[position]
        lefts = expand(held.data[first], bounds, where, left)
        rights = expand(held.data[first + 1], bounds, where, right)
        _add(position, left[:lefts], right[:rights], table, chains, counts, fresh)


@kernel
def _remove(position: int, left: Ints, right: Ints, table: Table, chains: Chains, counts: Ints, partners: View) -> None:
    for one in left:
        for other in right:
            slot = slot_of(pair(one, other), table.keys)
            before, link = NONE, table.values[slot]
            while chains.position[link] != position:
                before, link = link, chains.following[link]
            if before != NONE:
                chains.following[before] = chains.following[link]
            else:
                table.values[slot] = chains.following[link]
            chains.following[link] = chains.state[_FREE]
            chains.state[_FREE] = link
            if table.values[slot] == NONE:
                erase(slot, table)
                _unlink(one, other, partners)
                _unlink(other, one, partners)
    counts[position] -= len(left) * len(right)


@kernel
def _unlink(leaf: int, partner: int, partners: View) -> None:
    start, size, data = partners
    at = start[leaf]
    while data[at] != partner:
        at += 1
    size[leaf] -= 1
    data[at] = data[start[leaf] + size[leaf]]


@kernel
def _count(leaf: int, partners: Ints, table: Table, chains: Chains) -> int:
    count = 0
    for partner in partners:
        link = table.values[slot_of(pair(leaf, partner), table.keys)]
        while link != NONE:
            count += 1
            link = chains.following[link]
    return count


@kernel
def _split(
    old: int,
    new: int,
    partners: Ints,
    table: Table,
    chains: Chains,
    counts: Ints,
    fresh: Longs,
    most: int,
    heavy: Ints,
) -> int:
    found = 0
    for partner in partners:
        link = table.values[slot_of(pair(old, partner), table.keys)]
        while link != NONE:
            position = chains.position[link]
            _put(pair(new, partner), position, table, chains, fresh)
            counts[position] += 1
            if counts[position] == most + 1:
                heavy[found] = position
                found += 1
            link = chains.following[link]
    return found


@kernel
def _drop(leaf: int, partners: Ints, table: Table, chains: Chains, counts: Ints, reverse: View) -> None:
    for partner in partners:
        slot = slot_of(pair(leaf, partner), table.keys)
        link = table.values[slot]
        while link != NONE:
            counts[chains.position[link]] -= 1
            following = chains.following[link]
            chains.following[link] = chains.state[_FREE]
            chains.state[_FREE] = link
            link = following
        erase(slot, table)
        _unlink(partner, leaf, reverse)
