"""BDD (specs/002 §8): all expressions in one reduced ordered binary decision diagram, with a variable per predicate."""

from typing import Any, Final, NamedTuple

import numpy as np

from tamis.compiled import kernel
from tamis.matching.algorithms.bytecode import byte_code, evaluate
from tamis.matching.algorithms.occurrences import Asked, OccurrenceEngine, ask, extend, written_out
from tamis.matching.engine import Capabilities, register
from tamis.matching.ranks.encoding import Encoded
from tamis.matching.ranks.forms import ALL, LEAF, SAME, leaves_of
from tamis.matching.ranks.kernels import CANDIDATES, TESTS
from tamis.matching.ranks.lists import Ints, Lists, Longs, View, grown

#: An expression whose diagram takes more steps to make, each of which makes at most one node, is kept as byte code.
MOST_STEPS: Final = 1024

#: The diagrams of what is never and always true, and what stands for the diagram of an expression that has none.
_NEVER: Final = 0
_ALWAYS: Final = 1
_TOO_LARGE: Final = -1
#: What a node is: its variable, and the diagrams for the predicate not being met and being met.
_VARIABLE, _LOW, _HIGH = range(3)
#: The variable of the two constants: behind all others.
_NO_VARIABLE: Final = np.iinfo(np.int32).max
#: What a waiting pair of diagrams is: the two, and once it is known the diagram for the predicate not being met.
_FIRST, _SECOND, _DONE = range(3)
_UNKNOWN: Final = -1
#: How many times as large as what they hold at most are hash tables and the memory of pairs.
_SPARE: Final = 2


class Diagram(NamedTuple):
    """`used[0]` nodes, each once. `slots` is a hash table of their numbers, with 0 where there is none."""

    nodes: Ints
    slots: Ints
    used: Longs


@register(
    "bdd",
    Capabilities(
        arbitrary=True,
        exact=True,
        dynamic=False,
        batch=True,
        summary="one shared reduced ordered binary decision diagram, walked from each root (BDD; specs/002 §8)",
    ),
)
class Bdd(OccurrenceEngine):
    """An expression is a node, its root; equal expressions are the same. The order of variables is that of the numbers
    of predicates: roughly, in which they came first.

    [ours] The diagram of an expression is made apart and only then put with the others, so that what was needed in
    between leaves no nodes behind. Nodes are not counted, so nothing can be removed. A diagram can explode:
    see `MOST_STEPS`.
    """

    def __init__(self) -> None:
        super().__init__()
        self.diagram = _empty(MOST_STEPS)
        #: By position: its root.
        self.roots: Ints = np.zeros(1, np.int32)
        #: By position without a root: its byte code.
        self._code = Lists()
        self._longest = 0

    def store(self, positions: Ints, offsets: Longs, codes: Longs) -> None:
        lengths = np.diff(offsets)
        roots = np.zeros(len(positions), np.int32)
        apart = _empty(MOST_STEPS)
        memory = np.zeros((_SPARE * MOST_STEPS, 3), np.int32)
        room = np.zeros((2, lengths.max(initial=0)), np.int32)
        waiting = np.zeros((MOST_STEPS + 1, 3), np.int32)
        done = 0
        while done < len(positions):
            self._reserve(MOST_STEPS)
            done = _build(done, offsets, codes, apart, memory, room, waiting, self.diagram, roots)
        self.roots = grown(self.roots, self.top)
        self.roots[positions] = roots
        large = roots == _TOO_LARGE
        if large.any():
            self._store_large(positions[large], lengths[large], codes[np.repeat(large, lengths)])
        self.list_occurrences(leaves_of(codes), np.repeat(positions, lengths)[(codes & 3) == LEAF])

    def _store_large(self, positions: Ints, lengths: Longs, codes: Longs) -> None:
        offsets, codes = written_out(np.concatenate(([0], np.cumsum(lengths))), codes)
        words, _ = byte_code(offsets, codes)
        extend(self._code, np.repeat(positions, np.diff(offsets)), words)
        self._longest = max(self._longest, int(np.diff(offsets).max()))

    def forget(self, position: int) -> list[int]:  # noqa: ARG002 - it refuses whatever is given
        raise TypeError(f"{type(self).__name__} is not dynamic")

    def _reserve(self, more: int) -> None:
        nodes, _, used = self.diagram
        needed = int(used[0]) + more
        if needed > len(nodes):
            larger = _empty(2 * needed)
            larger.nodes[: used[0]] = nodes[: used[0]]
            larger.used[0] = used[0]
            _enter_all(larger)
            self.diagram = larger

    def search(self, first: int, last: int, events: Encoded, ends: Longs, out: Ints, work: Longs) -> int:
        self._code.reserve(self.top)
        return _search(
            first,
            last,
            events,
            self.asked(),
            self.occurrences.view(),
            self.diagram.nodes,
            self.roots,
            self._code.view(),
            self.clock(),
            self.scratch("stamps", self.top),
            self.scratch("truths", self.space.top),
            self.scratch("candidates", self.top),
            self.scratch("large", self.top),
            self.scratch("open", self._longest),
            self.top,
            ends,
            out,
            work,
        )

    def extra_bytes(self) -> int:
        own = self.diagram.nodes.nbytes + self.diagram.slots.nbytes + self.roots.nbytes + self._code.bytes
        return super().extra_bytes() + own

    def stats(self) -> dict[str, Any]:
        large = int(np.count_nonzero(self._code.size))
        return super().stats() | {"nodes": int(self.diagram.used[0]), "too_large": large}

    def check_invariants(self) -> None:
        super().check_invariants()
        self._code.check_invariants()
        nodes, slots, used = self.diagram
        made = nodes[2 : used[0]]
        assert len(np.unique(made, axis=0)) == len(made)
        assert (made[:, _LOW] != made[:, _HIGH]).all()
        for side in (_LOW, _HIGH):
            assert (made[:, side] < np.arange(2, used[0])).all()
            assert (made[:, _VARIABLE] < nodes[made[:, side], _VARIABLE]).all()
        assert sorted(slots[slots > 0].tolist()) == list(range(2, int(used[0])))
        assert np.flatnonzero(self._code.size).tolist() == np.flatnonzero(self.roots == _TOO_LARGE).tolist()


def _empty(nodes: int) -> Diagram:
    """Return a diagram of the two constants, with room for so many other nodes."""
    slots = 1 << (_SPARE * nodes - 1).bit_length()
    diagram = Diagram(np.zeros((nodes + 2, 3), np.int32), np.zeros(slots, np.int32), np.array([2], np.int64))
    diagram.nodes[:2, _VARIABLE] = _NO_VARIABLE
    return diagram


# --- making diagrams --------------------------------------------------------------------------------


@kernel
def _mixed(one: int, two: int, three: int) -> int:
    """Return three numbers as one that looks random."""
    mixed = int(one) * 668_265_263 + int(two) * 374_761_393 + int(three) * 1_073_741_789
    return mixed ^ (mixed >> 29)


@kernel
def _enter_all(diagram: Diagram) -> None:
    """Fill in the hash table."""
    nodes, slots, used = diagram
    for node in range(2, used[0]):
        slot = _mixed(nodes[node, _VARIABLE], nodes[node, _LOW], nodes[node, _HIGH]) & (len(slots) - 1)
        while slots[slot]:
            slot = (slot + 1) & (len(slots) - 1)
        slots[slot] = node


@kernel
def _node(variable: int, low: int, high: int, nodes: Ints, slots: Ints, used: Longs) -> int:
    """Return the node that decides between two by a variable."""
    if low == high:
        return low
    slot = _mixed(variable, low, high) & (len(slots) - 1)
    while slots[slot]:
        known = slots[slot]
        if nodes[known, _VARIABLE] == variable and nodes[known, _LOW] == low and nodes[known, _HIGH] == high:
            return int(known)
        slot = (slot + 1) & (len(slots) - 1)
    fresh = used[0]
    nodes[fresh, _VARIABLE], nodes[fresh, _LOW], nodes[fresh, _HIGH] = variable, low, high
    slots[slot] = fresh
    used[0] += 1
    return int(fresh)


@kernel
def _joined(
    tag: int, left: int, right: int, nodes: Ints, slots: Ints, used: Longs, memory: Ints, waiting: Ints, steps: Longs
) -> int:
    """Return the conjunction or disjunction of two diagrams, or that it takes too many steps.

    A pair of diagrams is joined by joining their lower sides, then their higher ones; it is `waiting` for them. The
    `memory` of a pair is the first with the connective, the second, and the outcome; another pair can overwrite it.
    """
    neutral = _ALWAYS if tag == ALL else _NEVER
    waiting[0, _FIRST], waiting[0, _SECOND], waiting[0, _DONE] = left, right, _UNKNOWN
    depth = 0
    side = _LOW
    found = _UNKNOWN
    while depth >= 0:
        first = min(waiting[depth, _FIRST], waiting[depth, _SECOND])
        second = max(waiting[depth, _FIRST], waiting[depth, _SECOND])
        variable = min(nodes[first, _VARIABLE], nodes[second, _VARIABLE])
        known = memory[_mixed(tag, first, second) & (len(memory) - 1)]
        if found != _UNKNOWN and waiting[depth, _DONE] != _UNKNOWN:
            found = _node(variable, waiting[depth, _DONE], found, nodes, slots, used)
            known[0], known[1], known[2] = first << 1 | (tag == ALL), second, found
        elif found != _UNKNOWN:
            waiting[depth, _DONE] = found
            found = _UNKNOWN
            side = _HIGH
        elif first == neutral or second == first:
            found = second
        elif first <= _ALWAYS:
            found = first
        elif known[0] == first << 1 | (tag == ALL) and known[1] == second:
            found = known[2]
        else:
            steps[0] += 1
            if steps[0] > MOST_STEPS:
                return _TOO_LARGE
            side = _LOW
        if found == _UNKNOWN:
            depth += 1
            waiting[depth, _FIRST] = nodes[first, side] if nodes[first, _VARIABLE] == variable else first
            waiting[depth, _SECOND] = nodes[second, side] if nodes[second, _VARIABLE] == variable else second
            waiting[depth, _DONE] = _UNKNOWN
        else:
            depth -= 1
    return found


@kernel
def _root(
    codes: Longs,
    first: int,
    last: int,
    nodes: Ints,
    slots: Ints,
    used: Longs,
    memory: Ints,
    room: Ints,
    waiting: Ints,
    steps: Longs,
) -> int:
    """Make the diagram of the form between two places and return its root, or that it takes too many steps.

    Parts are joined from the last variable to the first, so that each is put above the ones before it.
    """
    ended, stack = room
    top = 0
    for place in range(first, last):
        tag, value = codes[place] & 3, codes[place] >> 2
        if tag == LEAF:
            steps[0] += 1
            if steps[0] > MOST_STEPS:
                return _TOO_LARGE
            node = _node(value, _NEVER, _ALWAYS, nodes, slots, used)
        elif tag == SAME:
            node = ended[value]
        else:
            top -= value
            for part in range(top + 1, top + value):
                node = stack[part]
                at = part
                while at > top and nodes[stack[at - 1], _VARIABLE] < nodes[node, _VARIABLE]:
                    stack[at] = stack[at - 1]
                    at -= 1
                stack[at] = node
            node = stack[top]
            for part in range(top + 1, top + value):
                node = _joined(tag, node, stack[part], nodes, slots, used, memory, waiting, steps)
                if node == _TOO_LARGE:
                    return _TOO_LARGE
        ended[place - first] = stack[top] = node
        top += 1
    return int(stack[0])


@kernel
def _build(
    form: int,
    offsets: Longs,
    codes: Longs,
    apart: Diagram,
    memory: Ints,
    room: Ints,
    waiting: Ints,
    diagram: Diagram,
    roots: Ints,
) -> int:
    """Put the diagrams of forms with the others as long as there is room, and return which is the next to be put.

    Nodes come after those below them, so those that the root needs are found from the last to the first, and are put
    with the others from the first to the last.
    """
    nodes, slots, used = apart
    place = np.zeros(len(nodes), np.int32)
    steps = np.zeros(1, np.int64)
    while form < len(offsets) - 1 and diagram.used[0] + MOST_STEPS <= len(diagram.nodes):
        slots[:] = 0
        memory[:] = 0
        used[0] = 2
        steps[0] = 0
        root = _root(codes, offsets[form], offsets[form + 1], nodes, slots, used, memory, room, waiting, steps)
        roots[form] = root
        if root != _TOO_LARGE:
            place[: root + 1] = 0
            place[root] = 1
            for node in range(root, 1, -1):
                if place[node]:
                    place[nodes[node, _LOW]] = place[nodes[node, _HIGH]] = 1
            place[_NEVER], place[_ALWAYS] = _NEVER, _ALWAYS
            for node in range(2, root + 1):
                if place[node]:
                    low, high = place[nodes[node, _LOW]], place[nodes[node, _HIGH]]
                    place[node] = _node(nodes[node, _VARIABLE], low, high, diagram.nodes, diagram.slots, diagram.used)
            roots[form] = place[root]
        form += 1
    return form


# --- events -----------------------------------------------------------------------------------------


@kernel
def _search(
    first: int,
    last: int,
    events: Encoded,
    asked: Asked,
    occurrences: View,
    nodes: Ints,
    roots: Ints,
    code: View,
    clock: Ints,
    stamps: Ints,
    truths: Ints,
    candidates: Ints,
    large: Ints,
    unfinished: Ints,
    top: int,
    ends: Longs,
    out: Ints,
    work: Longs,
) -> int:
    start, size, positions = occurrences
    met = asked.met
    used = 0
    for row in range(first, last):
        if len(out) - used < top:
            return row
        clock[0] += 1
        now = clock[0]
        count = 0
        for each in range(ask(row, events, asked)):
            truths[met[each]] = now
            begin = start[met[each]]
            for place in range(begin, begin + size[met[each]]):
                position = positions[place]
                if stamps[position] != now:
                    stamps[position] = now
                    candidates[count] = position
                    count += 1
        work[CANDIDATES] += count
        aside = 0
        for each in range(count):
            position = candidates[each]
            node = roots[position]
            if node == _TOO_LARGE:
                large[aside] = position
                aside += 1
            while node > _ALWAYS:
                work[TESTS] += 1
                node = nodes[node, _HIGH] if truths[nodes[node, _VARIABLE]] == now else nodes[node, _LOW]
            if node == _ALWAYS:
                out[used] = position
                used += 1
        used = evaluate(large, aside, code.start, code.data, truths, now, unfinished, out, used, work)
        ends[row] = used
    return last
