"""Dewey ID (specs/002 §8): leaves are labelled with the path to them, and an expression is what its labels say."""

import numpy as np

from tamis.compiled import kernel
from tamis.matching.algorithms.occurrences import Asked, Gathering, LabelEngine, Tree, ask, gather, in_order
from tamis.matching.engine import Capabilities, register
from tamis.matching.ranks.encoding import Encoded
from tamis.matching.ranks.forms import ANY
from tamis.matching.ranks.kernels import CANDIDATES, TESTS
from tamis.matching.ranks.lists import Ints, Longs

#: A component of a label is `number << 2 | mark`. This marks the last part of a conjunction: the `*` of the source.
LAST = 1
#: The mark of every part of a disjunction.
EITHER = 2


@register(
    "dewey",
    Capabilities(
        arbitrary=True,
        exact=True,
        dynamic=False,
        batch=True,
        summary="leaves labelled with paths, evaluated in their order (Dewey ID; specs/002 §8)",
    ),
)
class Dewey(LabelEngine):
    """The label of a leaf is the numbers of the parts on the way to it; `*` marks the last part of a conjunction.

    In `(a or b or c) and d and (e or f)` the labels are 1.1, 1.2, 1.3, 2, 3*.1, 3*.2. [ours] A component also says
    whether it is of a disjunction. The source tells that from its place, and must begin with a conjunction therefore.
    """

    def __init__(self) -> None:
        super().__init__()
        #: The label of leaf n is `components[starts[n] : starts[n + 1]]`.
        self.starts: Longs = np.zeros(1, np.int64)
        self.components: Ints = np.zeros(0, np.int32)
        self._longest = 0

    def label(self, offsets: Longs, codes: Longs, tree: Tree, leaves: Longs) -> None:  # noqa: ARG002 - others need it
        ends = np.cumsum(tree.depth[leaves], dtype=np.int64)
        components = np.empty(ends.max(initial=0), np.int32)
        _write(leaves, ends, codes, tree, components)
        self.starts = np.concatenate((self.starts, self.starts[-1] + ends))
        self.components = np.concatenate((self.components, components))
        self._longest = max(self._longest, int(tree.depth.max(initial=0)))

    def search(self, first: int, last: int, events: Encoded, ends: Longs, out: Ints, work: Longs) -> int:
        return _search(
            first,
            last,
            events,
            self.asked(),
            self.gathering(),
            self.starts,
            self.components,
            self.scratch("done", self._longest),
            self.top,
            ends,
            out,
            work,
        )

    def extra_bytes(self) -> int:
        return super().extra_bytes() + self.starts.nbytes + self.components.nbytes


@kernel
def _write(leaves: Longs, ends: Longs, codes: Longs, tree: Tree, components: Ints) -> None:
    """Write the labels of leaves, each from its end."""
    parent, number, _, _ = tree
    for each in range(len(leaves)):
        place, at = leaves[each], ends[each]
        while parent[place] >= 0:
            around = codes[parent[place]]
            mark = EITHER if around & 3 == ANY else LAST if number[place] == around >> 2 else 0
            at -= 1
            components[at] = number[place] << 2 | mark
            place = parent[place]


@kernel
def _search(
    first: int,
    last: int,
    events: Encoded,
    asked: Asked,
    gathering: Gathering,
    starts: Longs,
    components: Ints,
    done: Ints,
    top: int,
    ends: Longs,
    out: Ints,
    work: Longs,
) -> int:
    used = 0
    for row in range(first, last):
        if len(out) - used < top:
            return row
        count = gather(asked.met, ask(row, events, asked), gathering)
        work[CANDIDATES] += count
        used = _evaluate(count, gathering, starts, components, done, out, used, work)
        ends[row] = used
    return last


@kernel
def _evaluate(
    count: int, gathering: Gathering, starts: Longs, components: Ints, done: Ints, out: Ints, used: int, work: Longs
) -> int:
    """Write the candidates whose gathered leaves make them true.

    A leaf makes disjunctions around it true, and a conjunction if it is in its last part and those before it are true.
    `done` is by level on the way to the leaf: how many parts of the conjunction there are true, from the first one on.
    """
    _, _, _, _, heads, following, candidates, leaves = gathering
    for each in range(count):
        position = candidates[each]
        gathered = in_order(heads[position], following, leaves)
        before, level = 0, 0
        for place in range(gathered):
            work[TESTS] += 1
            begin, end = starts[leaves[place]], starts[leaves[place] + 1]
            length = end - begin
            fresh = 0
            if place > 0:
                while components[begin + fresh] == components[before + fresh]:
                    fresh += 1
                fresh += 1
            done[fresh:length] = 0
            level = length - 1
            while level >= 0:
                component = components[begin + level]
                if not component & EITHER:
                    if component >> 2 != done[level] + 1:
                        break
                    done[level] += 1
                    if not component & LAST:
                        break
                level -= 1
            if level < 0 or (not components[begin] & EITHER and components[begin] >> 2 > done[0] + 1):
                break
            before = begin
        if level < 0:
            out[used] = position
            used += 1
    return used
