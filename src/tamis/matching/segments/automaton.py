"""Many byte strings in one flat trie, which kernels walk.

Nodes are numbered by breadth, so that the children of a node stand side by side in the order of their bytes, and a
node needs four numbers. The nodes nearest the root, where a walk spends most of its time, have a row in a table
besides: from there a step is one look-up. With links to the longest proper suffix that is also in the trie it is the
automaton of Aho and Corasick (1975), which finds all strings that occur in a text in one pass over the text.
"""

from collections.abc import Sequence
from itertools import accumulate
from typing import Final, NamedTuple, TypeAlias

import numpy as np
import numpy.typing as npt

from tamis.compiled import kernel
from tamis.matching.ranks.lists import Ints, Longs

Octets: TypeAlias = npt.NDArray[np.uint8]
Table: TypeAlias = npt.NDArray[np.int32]

#: How many steps the table of the nodes nearest the root may hold. They take a megabyte, which a core's cache holds.
TABLE_STEPS: Final = 1 << 18
#: Nodes are numbered with 32 bits.
MOST_BYTES: Final = 2**31 - 2


class Trie(NamedTuple):
    """What kernels see of a trie. Node 0 is the root, and as the target of a step it says that there is none.

    The children of node n are the nodes from `first[n]` up to `first[n + 1]`. Bytes are known by their class; class 0
    are the bytes that occur in no string. `table[n]` has the step from node n by class, for as many nodes as it has
    rows. `hit[n]` is the number of the string that ends at n; in an automaton, else that of its longest
    suffix that is a string; otherwise 0.
    """

    classes: Octets
    table: Table
    first: Ints
    label: Octets
    fail: Ints
    hit: Ints

    @property
    def bytes(self) -> int:
        """How much memory the trie takes."""
        return sum(array.nbytes for array in self)


def trie(strings: Sequence[bytes], number: int) -> Trie:
    """Return the trie of sorted different strings, none empty. They have the numbers from `number`, which is not 0."""
    return _built(strings, number, linked=False)[0]


def automaton(strings: Sequence[bytes], number: int) -> tuple[Trie, Ints]:
    """Return the same with links, so that `step` never ends.

    The second part tells by string which other string is the longest one that ends wherever it ends, or 0.
    """
    return _built(strings, number, linked=True)


def _built(strings: Sequence[bytes], number: int, linked: bool) -> tuple[Trie, Ints]:
    ends = np.fromiter(accumulate(map(len, strings), initial=0), np.int64, len(strings) + 1)
    if ends[-1] > MOST_BYTES:
        raise ValueError(f"the fixed texts of the patterns have {ends[-1]} bytes together; at most {MOST_BYTES} fit")
    data = np.frombuffer(b"".join(strings), np.uint8)
    classes = np.zeros(256, np.uint8)
    used = np.unique(data)
    # No more than 243 bytes occur in UTF-8, so a class fits a byte even with class 0.
    classes[used] = np.arange(1, len(used) + 1)

    parents, labels, depths, leaves = _inserted(classes[data], ends)
    order = np.argsort(depths, kind="stable")
    rank = np.empty(len(order), np.int32)
    rank[order] = np.arange(len(order), dtype=np.int32)
    parents = rank[parents[order]]
    first = np.ones(len(order) + 1, np.int32)
    first[1:] += np.cumsum(np.bincount(parents[1:], minlength=len(order)), dtype=np.int32)
    hit = np.zeros(len(order), np.int32)
    nodes = rank[leaves]
    hit[nodes] = np.arange(number, number + len(strings), dtype=np.int32)

    width = len(used) + 1
    rows = max(1, min(len(order), TABLE_STEPS // width))
    table = np.zeros((rows, width), np.int32)
    fail = np.zeros(len(order) if linked else 0, np.int32)
    built = Trie(classes, table, first, labels[order], fail, hit)
    if not linked:
        _tabulate(built)
        return built, np.zeros(0, np.int32)
    _link(built, parents)
    further = np.zeros(len(strings), np.int32)
    _resolve(built, number, further)
    return built, further


@kernel
def _inserted(data: Octets, ends: Longs) -> tuple[Ints, Octets, Ints, Ints]:
    """Return by node, in the order of depth first, its parent, label and depth; and the node of each string."""
    room = len(data) + 1
    parents = np.zeros(room, np.int32)
    labels = np.zeros(room, np.uint8)
    depths = np.zeros(room, np.int32)
    leaves = np.zeros(len(ends) - 1, np.int32)
    longest = 0
    for number in range(len(leaves)):
        longest = max(longest, ends[number + 1] - ends[number])
    path = np.zeros(longest + 1, np.int32)
    nodes = 1
    for number in range(len(leaves)):
        low, high = ends[number], ends[number + 1]
        shared = 0
        if number:
            before = ends[number - 1]
            while before + shared < low and low + shared < high and data[before + shared] == data[low + shared]:
                shared += 1
        for depth in range(shared, high - low):
            parents[nodes] = path[depth]
            labels[nodes] = data[low + depth]
            depths[nodes] = depth + 1
            path[depth + 1] = nodes
            nodes += 1
        leaves[number] = path[high - low]
    return parents[:nodes].copy(), labels[:nodes].copy(), depths[:nodes].copy(), leaves


@kernel
def _tabulate(built: Trie) -> None:
    for node in range(built.table.shape[0]):
        for following in range(built.first[node], built.first[node + 1]):
            built.table[node, built.label[following]] = following


@kernel
def _link(built: Trie, parents: Ints) -> None:
    """Link every node to the node of its longest proper suffix. Shorter ones come first, so theirs are known."""
    _, table, first, label, fail, hit = built
    for node in range(len(hit)):
        if parents[node]:
            fail[node] = step(table, first, label, fail, fail[parents[node]], label[node])
        if node < table.shape[0]:
            if node:
                table[node, :] = table[fail[node], :]
            for following in range(first[node], first[node + 1]):
                table[node, label[following]] = following


@kernel
def _resolve(built: Trie, number: int, further: Ints) -> None:
    fail, hit = built.fail, built.hit
    for node in range(1, len(hit)):
        own = hit[node]
        inherited = hit[fail[node]]
        if own:
            further[own - number] = inherited
        else:
            hit[node] = inherited


# The parts of a trie are passed one by one, as passing all of it costs more than a step.


@kernel
def child(table: Table, first: Ints, label: Octets, node: int, by: int) -> int:
    """Return the child of a node by the class of a byte, or 0. For a trie without links."""
    if node < table.shape[0]:
        return int(table[node, by])
    for following in range(first[node], first[node + 1]):
        if label[following] == by:
            return following
    return 0


@kernel
def step(table: Table, first: Ints, label: Octets, fail: Ints, node: int, by: int) -> int:
    """Return the node of the longest suffix of a text that is in the trie after one more byte. For an automaton."""
    while node >= table.shape[0]:
        for following in range(first[node], first[node + 1]):
            if label[following] == by:
                return following
        node = fail[node]
    return int(table[node, by])


@kernel
def locate(walked: Trie, data: Octets, places: Longs) -> Ints:
    """Return by row the number of the string that it is, or 0. For a trie without links."""
    classes, table, first, label, _, hit = walked
    numbers = np.zeros(len(places) - 1, np.int32)
    for row in range(len(numbers)):
        node = 0
        for place in range(places[row], places[row + 1]):
            node = child(table, first, label, node, classes[data[place]])
            if not node:
                break
        numbers[row] = hit[node]
    return numbers
