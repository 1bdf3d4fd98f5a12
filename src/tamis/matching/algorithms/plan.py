"""What matching in an A-Tree reads, written so that each node costs few cache misses [ours].

The links between nodes are made to be changed; to follow them costs a cache miss or two for each neighbour. So what
matching needs to know of a node is written down in one place, and again when something of it changed:

* whom it wakes: how many, and for each its number, its level, and the two words of attributes that it needs;
* what it asks: how many children, and for each `-1 - node`, or if it is a predicate `dimension << BITS | stretches` and
  the leaves at the ends of its stretches, or instead of these the predicate if there are more than a few (`UNCOUNTED`).
"""

from typing import Final, NamedTuple

import numpy as np

from tamis.compiled import kernel
from tamis.matching.algorithms.nodes import (
    COUNT,
    DIMENSION,
    ENDS,
    FREE,
    LEVEL,
    NEEDS_HIGH,
    NEEDS_LOW,
    NODES,
    NONE,
    OP,
    OWNER,
    PARENT_NEXT,
    PREDICATE,
    START,
    WAKES,
    Matrix,
    Nodes,
    is_awake,
)
from tamis.matching.algorithms.nodestore import NodeStore, chain_of
from tamis.matching.ranks.forms import ALL, LEAF
from tamis.matching.ranks.lists import Ints, View
from tamis.matching.ranks.space import Space

# The columns of `brief`: whether it is a conjunction and whether it is awake, one of the positions that end here, and
# where stands whom it wakes and what it asks.
TRAITS, ENDING, WOKEN, ASKED = range(4)
CONJUNCTION, AWAKE = 1, 2
#: Numbers for each node that is woken.
PER_WOKEN: Final = 4
#: Where it stands that a node wakes nobody, or asks nobody.
NOTHING: Final = 0
#: Up to so many stretches of a predicate are copied; their number is in so many bits, and this stands for more.
FEW: Final = 4
BITS: Final = 3
UNCOUNTED: Final = (1 << BITS) - 1
#: All is written anew when more than so many times what is needed is in use.
_WASTE: Final = 2


class Planned(NamedTuple):
    """What kernels see: by node a row of `brief`, and the text that it refers to."""

    brief: Matrix
    text: Ints


class Plan:
    """Keeps `Planned` up to date."""

    def __init__(self, nodes: NodeStore, space: Space) -> None:
        self._nodes = nodes
        self._space = space
        self._brief: Matrix = np.zeros((0, 4), np.int32)
        self._text: Ints = np.zeros(1, np.int32)
        self._top = 1
        self._needed = 0

    def view(self) -> Planned:
        """Return what kernels need."""
        return Planned(self._brief, self._text)

    def refresh(self) -> None:
        """Write down what changed. Threads may read at the same time only after that."""
        stale = self._nodes.stale()
        if not len(stale):
            return
        arrays, bounds = self._nodes.arrays, self._space.bounds.view()
        if len(self._brief) < len(arrays.node):
            longer = np.zeros((len(arrays.node), 4), np.int32)
            longer[: len(self._brief)] = self._brief
            self._brief = longer
        more = _length(stale, arrays, bounds)
        if self._top - 1 + more > _WASTE * max(self._needed, more):
            stale = np.flatnonzero(arrays.node[: arrays.state[NODES], OP] != FREE).astype(np.int32)
            self._top, self._needed = 1, _length(stale, arrays, bounds)
            more = self._needed
        if self._top + more > len(self._text):
            longer_text = np.zeros(self._top + more + (self._top + more) // 8, np.int32)
            longer_text[: self._top] = self._text[: self._top]
            self._text = longer_text
        self._top = _write(stale, arrays, bounds, self._brief, self._text, self._top)

    @property
    def bytes(self) -> int:
        """How much memory it takes."""
        return self._brief.nbytes + self._text.nbytes

    def check_invariants(self) -> None:
        """Raise `AssertionError` if what is written down, after a refresh, is not what the links between nodes say."""
        self.refresh()
        node, link = self._nodes.arrays.node, self._nodes.arrays.link
        for each in self._nodes.alive():
            traits, ending, woken, asked = self._brief[each].tolist()
            assert traits == CONJUNCTION * (node[each, OP] == ALL) + AWAKE * is_awake(each, node)
            assert ending == node[each, ENDS]
            owners = link[chain_of(node[each, WAKES], link[:, PARENT_NEXT]), OWNER]
            expected = node[owners][:, [LEVEL, NEEDS_LOW, NEEDS_HIGH]]
            rows = self._text[woken + 1 : woken + 1 + PER_WOKEN * self._text[woken]].reshape(-1, PER_WOKEN)
            assert rows.tolist() == np.column_stack((owners, expected)).tolist()
            children = [] if node[each, OP] == LEAF else self._nodes.children_of(each)
            assert self._text[asked] == len(children)
            written = [number for child in children for number in self._entry(child)]
            assert self._text[asked + 1 : asked + 1 + len(written)].tolist() == written

    def _entry(self, child: int) -> list[int]:
        row = self._nodes.arrays.node[child]
        if row[OP] != LEAF:
            return [-1 - child]
        bounds = self._space.bounds[int(row[PREDICATE])].tolist()
        few = len(bounds) <= 2 * FEW
        entry = int(row[DIMENSION]) << BITS | (len(bounds) // 2 if few else UNCOUNTED)
        return [entry, *(bounds if few else [int(row[PREDICATE])])]


@kernel
def _length(stale: Ints, nodes: Nodes, bounds: View) -> int:
    """Return how much text some nodes need."""
    node, link, child, sizes = nodes.node, nodes.link, nodes.child, bounds.size
    length = 0
    for each in stale:
        slot = node[each, WAKES]
        length += slot != NONE
        while slot != NONE:
            length += PER_WOKEN
            slot = link[slot, PARENT_NEXT]
        if node[each, OP] == LEAF:
            continue
        length += 1
        for slot in range(node[each, START], node[each, START] + node[each, COUNT]):
            part = child[slot]
            length += 1
            if node[part, OP] == LEAF:
                size = sizes[node[part, PREDICATE]]
                length += size if size <= 2 * FEW else 1
    return length


@kernel
def _write(stale: Ints, nodes: Nodes, bounds: View, brief: Matrix, text: Ints, top: int) -> int:
    """Write down what some nodes wake and ask, from a place on; return where it ends."""
    node, link, child = nodes.node, nodes.link, nodes.child
    starts, sizes, data = bounds
    for each in stale:
        op, slot = node[each, OP], node[each, WAKES]
        brief[each, TRAITS] = (CONJUNCTION if op == ALL else 0) | (AWAKE if is_awake(each, node) else 0)
        brief[each, ENDING] = node[each, ENDS]
        brief[each, WOKEN] = brief[each, ASKED] = NOTHING
        if slot != NONE:
            brief[each, WOKEN] = head = top
            top += 1
            while slot != NONE:
                owner = link[slot, OWNER]
                text[top], text[top + 1] = owner, node[owner, LEVEL]
                text[top + 2], text[top + 3] = node[owner, NEEDS_LOW], node[owner, NEEDS_HIGH]
                top += PER_WOKEN
                slot = link[slot, PARENT_NEXT]
            text[head] = (top - head - 1) // PER_WOKEN
        if op == LEAF:
            continue
        start, count = node[each, START], node[each, COUNT]
        brief[each, ASKED] = top
        text[top] = count
        top += 1
        for slot in range(start, start + count):
            part = child[slot]
            if node[part, OP] != LEAF:
                text[top] = -1 - part
                top += 1
                continue
            predicate = node[part, PREDICATE]
            first, size = starts[predicate], sizes[predicate]
            few = size <= 2 * FEW
            text[top] = node[part, DIMENSION] << BITS | (size // 2 if few else UNCOUNTED)
            top += 1
            if few:
                for at in range(size):
                    text[top + at] = data[first + at]
                top += size
            else:
                text[top] = predicate
                top += 1
    return top
