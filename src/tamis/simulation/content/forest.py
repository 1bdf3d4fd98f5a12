"""Distributed B-trees: roots where they are put, all other nodes spread over brokers (specs/003 §3, seed §7.1)."""

from collections.abc import Iterator
from itertools import pairwise
from typing import Any, Final

import numpy as np

from tamis.notification.affected import Shift
from tamis.notification.circle import Longs
from tamis.simulation.content.meter import Meter, size_of
from tamis.simulation.content.nodes import (
    COLUMNS,
    COUNT,
    FLOOR,
    HOST,
    LEVEL,
    MOST_NEW,
    PARENT,
    leaf_of,
    new_node,
    put,
    take_out,
)
from tamis.simulation.content.paths import carry_to, least, move_keys, reach_labels, relabel, route

#: The host of the root of a network; brokers are 1, 2, ….
SERVER: Final = 0
#: How many entries a node holds: a page of 4 KiB, 16 bytes for each. Fitted, with the next one, to the seed's figures.
CAPACITY: Final = 256
#: How full the leaves are when a tree is made all at once.
FILLED: Final = 0.9


class Forest:
    """Trees over the same brokers. All keep codes, which are 64-bit integers, each at most once, with an item.

    What is sent between hosts is counted by a meter. Loading is free of charge.
    """

    def __init__(self, meter: Meter, hosts: int, capacity: int = CAPACITY) -> None:
        """Make a forest without trees over a server and `hosts - 1` brokers."""
        if hosts < 2 or capacity < 4:
            raise ValueError(f"{hosts} hosts with nodes of {capacity}: it takes a server and a broker, and 4 entries")
        self._meter = meter
        self._filled = max(2, int(capacity * FILLED))
        self.codes: Longs = np.empty((0, capacity + 1), np.int64)
        self.items: Longs = np.empty((0, capacity + 1), np.int64)
        self.facts: Longs = np.empty((0, COLUMNS), np.int64)
        #: By host: how many entries its nodes have.
        self.loads: Longs = np.zeros(hosts, np.int64)
        #: How many nodes are free, and which.
        self._free: Longs = np.zeros(1, np.int64)

    def plant(self, codes: Longs, items: Longs, host: int | None = None) -> int:
        """Return the root of a new tree with entries in the order of their codes.

        The root is on a host, from where all else is on brokers; without one, it is on any broker, alone if it can be.
        """
        below = self._layer(0, codes, items)
        level = 1
        while len(below) > self._filled:
            below = self._layer(level, self.codes[below, 0], below)
            level += 1
        if host is None and len(below) == 1:
            return int(below[0])
        (root,) = self._layer(level, self.codes[below, 0], below, whole=True).tolist()
        if host is not None:
            self.loads[self.facts[root, HOST]] -= len(below)
            self.facts[root, [HOST, FLOOR]] = host, 1
            self.loads[host] += len(below)
        return int(root)

    def fell(self, root: int) -> None:
        """Remove a tree that has become empty, and whose root was nowhere in particular."""
        if self.facts[root, LEVEL] or self.facts[root, COUNT]:
            raise ValueError("only an empty tree is felled")
        self._free[1 + self._free[0]] = root
        self._free[0] += 1

    # --- messages -----------------------------------------------------------------------------------

    def route(self, root: int, low: int, high: int, attributes: int, out: Longs, at: int = 0, answer: int = 0) -> int:
        """Send a message to all with codes from `low` to `high`; see `paths.route`."""
        size = size_of(attributes)
        return int(route(*self._read(), *self._counts(), root, low, high, size, answer, out, at))

    def reach_labels(
        self, secondaries: Longs, roots: Longs, parts: Longs, arcs: Longs, sizes: tuple[int, int], top: int, out: Longs
    ) -> int:
        """Tell secondaries and those on arcs of their labels; see `paths.reach_labels`."""
        first, later = map(size_of, sizes)
        arrays = (secondaries, roots, parts, arcs)
        return int(reach_labels(*self._read(), *self._counts(), *arrays, first, later, top, out))

    def insert(self, root: int, code: int, item: int, attributes: int) -> None:
        """Register an entry by a message from the root."""
        carry_to(*self._read(), *self._counts(), root, code, code, size_of(attributes))
        self._make_room(MOST_NEW)
        leaf = leaf_of(*self._read(), root, code)
        put(*self._all(), *self._counts(), leaf, code, item)

    def delete(self, root: int, code: int, attributes: int) -> None:
        """Take an entry back by a message from the root."""
        carry_to(*self._read(), *self._counts(), root, code, code, size_of(attributes))
        if not take_out(*self._all(), *self._counts(), leaf_of(*self._read(), root, code), code):
            raise KeyError(f"there is no entry {code}")

    def move(self, root: int, old: Longs, new: Longs, attributes: int, told: bool) -> None:
        """Register entries anew, each by a message from the root; see `paths.move_keys`."""
        done = 0
        while done < len(old):
            self._make_room(MOST_NEW)
            size = size_of(attributes)
            done = int(move_keys(*self._all(), *self._counts(), root, old, new, told, size, done, MOST_NEW))

    def relabel(self, root: int, shifts: tuple[Shift, ...]) -> None:
        """Shift codes; their order stays."""
        if shifts:
            lows, highs, steps = np.array([(each.low, each.high, each.by) for each in shifts], np.int64).T.copy()
            relabel(*self._read(), *self._counts(), root, lows, highs, steps)

    # --- looking at it ------------------------------------------------------------------------------

    def least(self, root: int) -> int:
        """Return the least code of a tree that is not empty."""
        return int(least(*self._read(), root))

    def host(self, node: int) -> int:
        """Return the host of a node."""
        return int(self.facts[node, HOST])

    def entries(self, root: int) -> list[tuple[int, int]]:
        """Return all codes of a tree with their items, in order."""
        found: list[tuple[int, int]] = []
        for leaf in self._nodes(root):
            if self.facts[leaf, LEVEL] == 0:
                kept = slice(0, self.facts[leaf, COUNT])
                found += zip(self.codes[leaf, kept].tolist(), self.items[leaf, kept].tolist(), strict=True)
        return found

    def height(self, root: int) -> int:
        """Return how many levels there are below the root."""
        return int(self.facts[root, LEVEL])

    def check_invariants(self, roots: list[int]) -> None:
        """Raise `AssertionError` if something does not fit together in the trees, which are all that there are."""
        loads, used = np.zeros_like(self.loads), 0
        for root in roots:
            codes = [code for code, _ in self.entries(root)]
            assert all(one < two for one, two in pairwise(codes))
            for node in self._nodes(root):
                host, count, level = self.facts[node, [HOST, COUNT, LEVEL]].tolist()
                assert count < self.codes.shape[1]
                loads[host] += count
                used += 1
                for at in range(count if level else 0):
                    child = int(self.items[node, at])
                    assert self.facts[child, PARENT] == node
                    assert self.facts[child, LEVEL] == level - 1
                    inside = [code for code, _ in self.entries(child)]
                    assert at == 0 or not inside or self.codes[node, at] <= inside[0]
                    assert at + 1 == count or not inside or inside[-1] < self.codes[node, at + 1]
        assert np.array_equal(loads, self.loads)
        assert used + int(self._free[0]) == len(self.facts)

    # --- inside -------------------------------------------------------------------------------------

    def _layer(self, level: int, codes: Longs, items: Longs, whole: bool = False) -> Longs:
        """Return new nodes with the entries in equal parts, all in one with `whole`."""
        parts = 1 if whole else max(1, -(-len(codes) // self._filled))
        self._make_room(parts)
        made = []
        for some, held in zip(np.array_split(codes, parts), np.array_split(items, parts), strict=True):
            node = int(new_node(self.facts, self.loads, self._free, level))
            self.codes[node, : len(some)], self.items[node, : len(some)] = some, held
            self.facts[node, COUNT] = len(some)
            self.loads[self.facts[node, HOST]] += len(some)
            if level:
                self.facts[held, PARENT] = node
            if not len(some):
                self.codes[node, 0] = 0
            made.append(node)
        return np.array(made, np.int64)

    def _nodes(self, root: int) -> Iterator[int]:
        yield root
        if self.facts[root, LEVEL] > 0:
            for child in self.items[root, : self.facts[root, COUNT]].tolist():
                yield from self._nodes(child)

    def _make_room(self, nodes: int) -> None:
        if self._free[0] >= nodes:
            return
        old = len(self.facts)
        more = max(nodes, old)
        self.codes, self.items, self.facts = (
            np.concatenate((each, np.zeros((more, each.shape[1]), np.int64)))
            for each in (self.codes, self.items, self.facts)
        )
        free = np.empty(old + more + 1, np.int64)
        kept = int(self._free[0])
        free[0] = kept + more
        free[1 : kept + 1] = self._free[1 : kept + 1]
        free[kept + 1 : kept + more + 1] = np.arange(old, old + more)
        self._free = free

    def _read(self) -> tuple[Longs, Longs, Longs]:
        return self.codes, self.items, self.facts

    def _all(self) -> tuple[Longs, Longs, Longs, Longs, Longs]:
        return self.codes, self.items, self.facts, self.loads, self._free

    def _counts(self) -> tuple[Any, Any, Any]:
        return self._meter.trace, self._meter.tally, self._meter.stress
