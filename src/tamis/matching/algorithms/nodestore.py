"""The growing arrays of an A-Tree's nodes, and whether everything in them fits together (see `nodes`)."""

from collections import Counter
from typing import Any, Final

import numpy as np
import numpy.typing as npt

from tamis.matching.algorithms.nodes import (
    ALL_STALE,
    AMONG_QUIET,
    AMONG_WAKES,
    ANCHOR,
    ANCHOR_NEXT,
    ANCHORED,
    CLASSES,
    COLUMNS,
    COUNT,
    DEMAND,
    ENDS,
    FREE,
    FREE_NODE,
    FREE_SLOTS,
    IS_NOTED,
    IS_STALE,
    LEVEL,
    LIVE,
    NODES,
    NONE,
    NOTED,
    OP,
    PARENT_NEXT,
    PART,
    PREDICATE,
    QUIET,
    SIZE,
    SLOTS,
    STALE,
    START,
    USER_NEXT,
    USERS,
    USES,
    WAITING,
    WAKES,
    Nodes,
    enter_all,
    find_connective,
    is_awake,
)
from tamis.matching.ranks.forms import ALL, ANY, LEAF
from tamis.matching.ranks.lists import Ints

_FIRST_SIZE: Final = 1024
#: How full the table of connectives gets.
_FULL: Final = 0.6


class NodeStore:
    """The growing arrays of `Nodes`. Kernels need room before they start: see `reserve`."""

    def __init__(self, demand: bool) -> None:
        state = np.zeros(FREE_SLOTS + CLASSES, np.int64)
        state[FREE_NODE] = state[FREE_SLOTS:] = NONE
        state[DEMAND] = demand
        self.arrays = Nodes(
            node=np.zeros((_FIRST_SIZE, COLUMNS), np.int32),
            weight=np.zeros(_FIRST_SIZE, np.float32),
            mark=np.zeros(_FIRST_SIZE, np.int32),
            flags=np.zeros(_FIRST_SIZE, np.int8),
            stack=np.zeros(_FIRST_SIZE, np.int32),
            noted=np.zeros(_FIRST_SIZE, np.int32),
            stale=np.zeros(_FIRST_SIZE, np.int32),
            operand=np.zeros(_FIRST_SIZE, np.int32),
            child=np.zeros(_FIRST_SIZE, np.int32),
            link=np.zeros((_FIRST_SIZE, 6), np.int32),
            table=np.full(_FIRST_SIZE, NONE, np.int32),
            of_predicate=np.full(_FIRST_SIZE, NONE, np.int32),
            root=np.full(_FIRST_SIZE, NONE, np.int32),
            after=np.full(_FIRST_SIZE, NONE, np.int32),
            before=np.full(_FIRST_SIZE, NONE, np.int32),
            state=state,
        )

    def reserve(self, used: int, connectives: int, slots: int, predicates: int, positions: int) -> None:
        """Make room for nodes: so many predicates that are used, and so many connectives that need so many slots.

        Beside, there is room for all predicates and positions below the last two numbers.
        """
        arrays, state = self.arrays, self.arrays.state
        if used + connectives > state[LIVE]:
            state[STALE] = ALL_STALE
        top_node, top_slot = int(state[NODES]) + used + connectives, int(state[SLOTS]) + slots
        table = arrays.table
        if state[LIVE] + connectives > _FULL * len(table):
            table = np.full(1 << int(np.ceil(np.log2((state[LIVE] + connectives) / _FULL))), NONE, np.int32)
            enter_all(arrays.table, table, arrays.node, arrays.operand)
        self.arrays = arrays._replace(
            node=_longer(arrays.node, top_node),
            weight=_longer(arrays.weight, top_node),
            mark=_longer(arrays.mark, top_node),
            flags=_longer(arrays.flags, top_node),
            stack=_longer(arrays.stack, top_node),
            noted=_longer(arrays.noted, top_node),
            stale=_longer(arrays.stale, top_node),
            operand=_longer(arrays.operand, top_slot),
            child=_longer(arrays.child, top_slot),
            link=_longer(arrays.link, top_slot),
            table=table,
            of_predicate=_longer(arrays.of_predicate, predicates, NONE),
            root=_longer(arrays.root, positions, NONE),
            after=_longer(arrays.after, positions, NONE),
            before=_longer(arrays.before, positions, NONE),
        )

    def stale(self) -> Ints:
        """Return the nodes of which something changed since the last time that matching reads."""
        arrays = self.arrays
        everything = arrays.state[STALE] == ALL_STALE
        found = arrays.stale[: max(arrays.state[STALE], 0)].copy()
        arrays.state[STALE] = 0
        if everything:
            arrays.flags[:] &= ~IS_STALE
            return np.flatnonzero(arrays.node[: arrays.state[NODES], OP] != FREE).astype(np.int32)
        arrays.flags[found] &= ~IS_STALE
        alive: Ints = found[arrays.node[found, OP] != FREE]
        return alive

    def noted(self) -> Ints:
        """Return the predicates' nodes that have come to wake somebody or nobody since the last time."""
        arrays = self.arrays
        found = arrays.noted[: arrays.state[NOTED]].copy()
        arrays.flags[found] &= ~IS_NOTED
        arrays.state[NOTED] = 0
        return found

    @property
    def count(self) -> int:
        """How many nodes there are."""
        return int(self.arrays.state[LIVE])

    @property
    def edges(self) -> int:
        """How many children all nodes have together."""
        node = self.arrays.node[: self.arrays.state[NODES]]
        return int(node[node[:, OP] > LEAF, COUNT].sum())

    @property
    def bytes(self) -> int:
        """How much memory the arrays take."""
        return sum(each.nbytes for each in self.arrays)

    @property
    def levels(self) -> int:
        """How many levels there are."""
        node = self.arrays.node[: self.arrays.state[NODES]]
        return int(node[node[:, OP] != FREE, LEVEL].max(initial=0))

    def alive(self) -> list[int]:
        """Return all nodes."""
        found: list[int] = np.flatnonzero(self.arrays.node[: self.arrays.state[NODES], OP] != FREE).tolist()
        return found

    def operands_of(self, node: int) -> list[int]:
        """Return what a connective means."""
        start, size = self.arrays.node[node, START], self.arrays.node[node, SIZE]
        found: list[int] = self.arrays.operand[start : start + size].tolist()
        return found

    def children_of(self, node: int) -> list[int]:
        """Return what a connective reads."""
        start, count = self.arrays.node[node, START], self.arrays.node[node, COUNT]
        found: list[int] = self.arrays.child[start : start + count].tolist()
        return found

    def check_invariants(self) -> None:
        """Raise `AssertionError` if something does not fit together. Nothing may be noted."""
        arrays = self.arrays
        node, alive = arrays.node, self.alive()
        assert len(alive) == arrays.state[LIVE]
        assert not arrays.state[WAITING]
        assert not (arrays.flags & ~IS_STALE).any()
        links = {each: self._links(each) for each in alive}
        held: Counter[str] = Counter()
        keys = set()
        for each in alive:
            ending, users, wakes, quiet, anchored = links[each]
            assert all(arrays.root[position] == each for position in ending)
            assert node[each, USES] == len(users) + len(ending) > 0
            assert all(arrays.operand[slot] == each for slot in users)
            assert all(arrays.child[slot] == each for slot in wakes + quiet)
            assert all(node[other, ANCHOR] == each for other in anchored)
            held.update(users=len(users), children=len(wakes + quiet), anchored=len(anchored), ending=len(ending))
            if node[each, OP] == LEAF:
                assert node[each, LEVEL] == 1
                assert arrays.of_predicate[node[each, PREDICATE]] == each
            else:
                keys.add((int(node[each, OP]), tuple(self.operands_of(each))))
                self._check_connective(each)
        connectives = [each for each in alive if node[each, OP] != LEAF]
        assert len(keys) == len(connectives) == (arrays.table != NONE).sum() == held["anchored"]
        assert held["users"] == node[connectives, SIZE].sum()
        assert held["children"] == node[connectives, COUNT].sum()
        assert held["ending"] == (arrays.root != NONE).sum()
        assert (arrays.of_predicate != NONE).sum() == len(alive) - len(connectives)

    def _check_connective(self, each: int) -> None:
        arrays, node = self.arrays, self.arrays.node
        op, operands, children = node[each, OP], self.operands_of(each), self.children_of(each)
        place = find_connective(
            op, arrays.operand, node[each, START], node[each, SIZE], arrays.table, node, arrays.operand
        )
        assert arrays.table[place] == each
        assert node[each, ANCHOR] in operands
        assert node[each, LEVEL] == 1 + max(int(node[child, LEVEL]) for child in children)
        assert len(children) <= len(operands)
        covered: set[int] = set()
        for child in children:
            below = self.operands_of(child) if node[child, OP] == op else []
            assert child in operands or (below and set(below) <= set(operands))
            covered.update((child, *below))
        assert covered.issuperset(operands)
        if op <= ANY:
            assert len(set(children)) == len(children)
        demand = bool(arrays.state[DEMAND])
        told = not demand or is_awake(each, node)
        for number in range(len(children)):
            woken = told and (number == 0 or op != ALL or not demand)
            assert arrays.link[node[each, START] + number, PART] == (AMONG_WAKES if woken else AMONG_QUIET)

    def _links(self, each: int) -> list[list[int]]:
        """Return all that is linked to a node: positions, users, parents that it wakes, quiet ones, anchored nodes."""
        row, link = self.arrays.node[each], self.arrays.link
        parents = link[:, PARENT_NEXT]
        return [
            chain_of(row[ENDS], self.arrays.after),
            chain_of(row[USERS], link[:, USER_NEXT]),
            chain_of(row[WAKES], parents),
            chain_of(row[QUIET], parents),
            chain_of(row[ANCHORED], self.arrays.node[:, ANCHOR_NEXT]),
        ]


def chain_of(first: int, following: Ints) -> list[int]:
    """Return all members of a linked list."""
    found = []
    while first != NONE:
        found.append(int(first))
        first = following[first]
    return found


def _longer(array: npt.NDArray[Any], length: int, filler: int = 0) -> npt.NDArray[Any]:
    """Return an array with room for so many rows, and for an eighth more if it has to be made."""
    if length <= len(array):
        return array
    longer = np.zeros((length + length // 8, *array.shape[1:]), array.dtype)
    longer[: len(array)] = array
    if filler:
        longer[len(array) :] = filler
    return longer
