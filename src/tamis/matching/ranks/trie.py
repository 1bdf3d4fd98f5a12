"""The PS-Tree: a line as a trie over the elements of the values that have cuts (specs/002 §4; thesis ch. 6)."""

from bisect import bisect_left
from collections import Counter
from collections.abc import Callable, Iterable, Iterator
from typing import Any, Final

from tamis.language.values import Kind
from tamis.matching.footprint import footprint
from tamis.matching.ranks.elements import Elements, beginning, elements
from tamis.matching.ranks.line import FIXED, NONE, Key, Merge, Split

_ROOT: Final = 0
#: The sides of a value: the cut just before it and the cut just after it.
_BEFORE, _AFTER = 0, 1


class ElementTrie:
    """A line as the PS-Tree of the thesis. It tells the same as `SortedCuts`, and each checks the other.

    Below the root, a way down spells the elements of a value. The node at its end, a *value node*, links the leaf of
    what is less than the value (l), of the value itself (e) and of what is greater (g); of these, e may be the
    same leaf as l or as g. Every other value has the leaf l of the next value node to its right; to the right of the
    last one stands the root, whose l is the last leaf and whose g is the first. The beginnings of kinds and the end of
    the line are value nodes that nothing removes.

    It follows the algorithms 5 to 12 with these corrections. Those of the specification: a neighbour's e that shares
    its l moves along with it (Alg. 9); the node to the right is asked, not the current one (Alg. 11); leaves are
    merged where no live predicate needs the cut between them, not where their predicate counters are equal, for which
    a node counts the uses of its two cuts (Alg. 12; nb and na). One of our own: in Alg. 8 the specification lets a cut
    after a value give the new leaf to the *left* part, so that no neighbour has to change. But a predicate is known by
    the leaves at which its stretches begin, so a leaf must begin where it began: here the *right* part
    is always the new one, and the neighbour is repaired.
    """

    def __init__(self, allocate: Callable[[int], list[int]], release: Callable[[int], None]) -> None:
        self._allocate = allocate
        self._release = release
        # By node: the elements that lead on from it in order, and where to.
        self._elements: list[list[int]] = []
        self._children: list[list[int]] = []
        # By node: its leaves, how many predicates need its cuts before and after, and its value with the kind.
        self._l: list[int] = []
        self._e: list[int] = []
        self._g: list[int] = []
        self._uses: list[list[int]] = []
        self._values: list[Key] = []
        self._free: list[int] = []
        #: By leaf: the one to its right.
        self._next: dict[int, int] = {}

        root = self._new_node()
        (leaf,) = allocate(1)
        self._l[root] = self._g[root] = leaf
        self._next[leaf] = NONE
        for key in FIXED[1:]:
            self._cut(key)

    # --- the line -----------------------------------------------------------------------------------

    def insert(self, keys: Iterable[Key]) -> list[Split]:
        origins: dict[int, int] = {}
        for key in sorted(Counter(keys).elements()):
            split = self._cut(key) if len(key) > 1 else None
            if split is not None:
                origins[split.new] = origins.get(split.old, split.old)
        return [Split(old, new) for new, old in origins.items()]

    def remove(self, keys: Iterable[Key]) -> list[Merge]:
        merges = (self._heal(key) for key in sorted(keys) if len(key) > 1)
        return [merge for merge in merges if merge is not None]

    def locate(self, kind: Kind, value: Any) -> int:
        way = elements(kind, value)
        path, right = self._walk(way)
        return self._e[path[-1]] if len(path) > len(way) else self._l[right]

    def starting(self, key: Key) -> int:
        if key == FIXED[0]:
            return self._g[_ROOT]
        way, side = _way(key), _side(key)
        path, _ = self._walk(way)
        if len(path) <= len(way) or not self._uses[path[-1]][side]:
            return NONE
        return (self._e, self._g)[side][path[-1]]

    def leaves(self) -> list[int]:
        found = []
        leaf = self._g[_ROOT]
        while leaf != NONE:
            found.append(leaf)
            leaf = self._next[leaf]
        return found

    def keys(self) -> list[Key]:
        found = [FIXED[0]]
        for node in self._value_nodes():
            value = self._values[node]
            live = (side for side in (_BEFORE, _AFTER) if self._uses[node][side])
            found.extend(value if len(value) == 1 else (*value, side) for side in live)
        return found

    @property
    def bytes(self) -> int:
        links = self._l, self._e, self._g, self._free, self._next
        return footprint(self._elements, self._children, self._uses, self._values, *links)

    # --- ways down ----------------------------------------------------------------------------------

    def _walk(self, way: Elements) -> tuple[list[int], int]:
        """Return the nodes on a way as far as they exist, and the first value node to its right, or else the root.

        That node (Alg. 6 and 7) lies below the last branch to the right that the way passes, so no climbing is needed.
        """
        node = right = _ROOT
        path = [node]
        for element in way:
            known = self._elements[node]
            at = bisect_left(known, element)
            there = at < len(known) and known[at] == element
            if at + there < len(known):
                right = self._children[node][at + there]
            if not there:
                break
            node = self._children[node][at]
            path.append(node)
        while self._l[right] == NONE:
            right = self._children[right][0]
        return path, right

    def _value_nodes(self) -> Iterator[int]:
        """Yield the value nodes from left to right."""
        waiting = [_ROOT]
        while waiting:
            node = waiting.pop()
            if any(self._uses[node]):
                yield node
            waiting.extend(reversed(self._children[node]))

    # --- cuts ---------------------------------------------------------------------------------------

    def _cut(self, key: Key) -> Split | None:
        """Count one more use of a cut, and split a leaf if it is the first (Alg. 5, 8 and 9)."""
        way = _way(key)
        path, right = self._walk(way)
        if len(path) <= len(way):
            node = self._extend(path, way)
            self._values[node] = key[:2]
            self._l[node] = self._e[node] = self._g[node] = self._l[right]
        node, side = path[-1], _side(key)
        self._uses[node][side] += 1
        if self._uses[node][side] > 1:
            return None
        old = (self._l, self._e)[side][node]
        (new,) = self._allocate(1)
        self._next[new] = self._next[old]
        self._next[old] = new
        self._relink(node, side, right, old, new)
        return Split(old, new)

    def _heal(self, key: Key) -> Merge | None:
        """Count one use less of a cut, and if it was the last merge the leaves that it kept apart (Alg. 12)."""
        if self.starting(key) == NONE:
            raise KeyError(key)
        path, right = self._walk(_way(key))
        node, side = path[-1], _side(key)
        self._uses[node][side] -= 1
        if self._uses[node][side]:
            return None
        kept, dropped = (self._l, self._e)[side][node], (self._e, self._g)[side][node]
        self._next[kept] = self._next.pop(dropped)
        self._relink(node, side, right, dropped, kept)
        self._release(dropped)
        if not any(self._uses[node]):
            self._prune(path, _way(key))
        return Merge(kept, dropped)

    def _relink(self, node: int, side: int, right: int, old: int, new: int) -> None:
        """Let all links that lie to the right of a cut, as far as the next one, lead to another leaf."""
        for links, at in ((self._e, node), (self._g, node), (self._l, right), (self._e, right))[side:]:
            if links[at] == old:
                links[at] = new

    # --- nodes --------------------------------------------------------------------------------------

    def _new_node(self) -> int:
        if self._free:
            return self._free.pop()
        self._elements.append([])
        self._children.append([])
        self._l.append(NONE)
        self._e.append(NONE)
        self._g.append(NONE)
        self._uses.append([0, 0])
        self._values.append(())
        return len(self._l) - 1

    def _extend(self, path: list[int], way: Elements) -> int:
        """Make the nodes that are missing on a way, and return the last one."""
        for element in way[len(path) - 1 :]:
            node = self._new_node()
            known = self._elements[path[-1]]
            at = bisect_left(known, element)
            known.insert(at, element)
            self._children[path[-1]].insert(at, node)
            path.append(node)
        return path[-1]

    def _prune(self, path: list[int], way: Elements) -> None:
        """Give up the node at the end of a way, and every node above it that then leads nowhere."""
        last = path[-1]
        self._l[last] = self._e[last] = self._g[last] = NONE
        self._values[last] = ()
        for depth in range(len(way), 0, -1):
            node, parent = path[depth], path[depth - 1]
            if self._children[node]:
                break
            at = bisect_left(self._elements[parent], way[depth - 1])
            del self._elements[parent][at], self._children[parent][at]
            self._free.append(node)

    def check_invariants(self) -> None:
        """Raise ``AssertionError`` if leaves, links and counted cuts do not fit together."""
        keys, leaves = self.keys(), self.leaves()
        assert keys == sorted(keys)
        assert len(keys) == len(leaves) == len(set(leaves)) == len(self._next)
        leaf = leaves[0]
        for node in self._value_nodes():
            assert not self._children[node]
            before, after = self._uses[node]
            assert self._l[node] == leaf
            leaf = self._next[leaf] if before else leaf
            assert self._e[node] == leaf
            leaf = self._next[leaf] if after else leaf
            assert self._g[node] == leaf
        assert self._l[_ROOT] == leaf == leaves[-1]
        reached = [_ROOT]
        for node in reached:
            assert self._elements[node] == sorted(set(self._elements[node]))
            assert self._children[node] or any(self._uses[node])
            reached.extend(self._children[node])
        assert sorted(reached + self._free) == list(range(len(self._l)))


def _side(key: Key) -> int:
    side: int = key[2] if len(key) > 1 else _BEFORE
    return side


def _way(key: Key) -> Elements:
    return elements(Kind(key[0]), key[1]) if len(key) > 1 else beginning(key[0])
