"""The A-Tree (specs/002 §7; thesis ch. 9): one graph of all expressions, in which what they share is evaluated once."""

from collections.abc import Callable, Iterable, Sequence
from typing import Any, Final

import numpy as np

from tamis.compiled import kernel
from tamis.language import Expression, Not, Predicate
from tamis.matching.algorithms.bulk import insert_many
from tamis.matching.algorithms.insertion import delete, find_form, insert, repeat, subscriptions_above
from tamis.matching.algorithms.nodes import (
    ENDS,
    NODES,
    NONE,
    OP,
    PREDICATE,
    TOP_LEVEL,
    WAKES,
    WORD_BITS,
    Matrix,
    is_awake,
    survey,
)
from tamis.matching.algorithms.nodestore import NodeStore
from tamis.matching.algorithms.plan import (
    ASKED,
    AWAKE,
    BITS,
    CONJUNCTION,
    ENDING,
    PER_WOKEN,
    TRAITS,
    UNCOUNTED,
    WOKEN,
    Plan,
    Planned,
)
from tamis.matching.engine import Capabilities, Rows, register
from tamis.matching.ranks.arbitrary import ArbitraryEngine
from tamis.matching.ranks.encoding import Encoded
from tamis.matching.ranks.forms import LEAF, Forms
from tamis.matching.ranks.kernels import CANDIDATES, TESTS, Predicates, enter, leave
from tamis.matching.ranks.listing import Listed, find_met
from tamis.matching.ranks.lists import Ints, Longs, grown
from tamis.matching.ranks.selectivity import Floats, weights

# What a thread knows of a node during an event, one number behind the other: when it was last queued or asked, when it
# was last true, and which node follows it in the queue of its level.
SEEN, TRUE, NEXT = range(3)
FIELDS: Final = 3
# What is kept of a node that is being evaluated: its number, the place of its next child, and how many are left.
NODE, PLACE, LEFT = range(3)
FRAME: Final = 3
#: From so many forms on, nodes come all at once, unless there are more than so many times as many nodes already.
MANY: Final = 64
_SHARE: Final = 4
#: Among more expressions than this, a sample of so many tells whether it is worth to look for copies: it is where they
#: are more than such a share of all. To take an expression apart takes that many times as long as to look for it.
_SAMPLE: Final = 1 << 12
_COPIES: Final = 1 / 32
#: The clock of a thread starts anew here; it advances by one for each event.
LAST_TICK: Final = 2**31 - 2


@register(
    "atree",
    Capabilities(
        arbitrary=True,
        exact=True,
        dynamic=True,
        batch=True,
        summary="one graph of all expressions, shared parts evaluated once and on demand (A-Tree; specs/002 §7)",
    ),
)
class ATree(ArbitraryEngine):
    """Expressions as nodes of one graph, evaluated level by level from the predicates that an event meets.

    Negation is pushed into the predicates, so that only truth propagates (*zero suppression*). With `demand`, nodes are
    woken by one child and ask the others (*propagation on demand*; see `children`). With `words`, [ours] a conjunction
    is not even queued if the event lacks an attribute that it needs: two words of bits for each node tell.
    """

    def __init__(self, demand: bool = True, words: bool = True) -> None:
        super().__init__()
        self.nodes = NodeStore(demand)
        self._plan = Plan(self.nodes, self.space)
        self._words = words
        #: By predicate: its dimension plus one, negative if absent values meet it; and its weight.
        self._axis: Ints = np.zeros(1, np.int32)
        self._weight: Floats = np.zeros(1, np.float32)

    # --- subscriptions ------------------------------------------------------------------------------

    def add_many(self, positions: Sequence[int], expressions: Sequence[Expression]) -> None:
        """Store many expressions. What occurs several times among them is taken apart once, where that is worth it."""
        if not _repeat_themselves(expressions):
            super().add_many(positions, expressions)
            return
        first: dict[Expression, int] = {}
        copies: dict[int, int] = {}
        for position, expression in zip(positions, expressions, strict=True):
            original = first.setdefault(expression, position)
            if original != position:
                copies[position] = original
        super().add_many(list(first.values()), list(first))
        if copies:
            self._add_copies(copies)

    def _add_copies(self, copies: dict[int, int]) -> None:
        self.top = max(self.top, max(copies) + 1)
        self.never.update(position for position, original in copies.items() if original in self.never)
        self.always.update((position, None) for position, original in copies.items() if original in self.always)
        stored = {
            position: original
            for position, original in copies.items()
            if original not in self.never and original not in self.always
        }
        self.stored += len(stored)
        self.nodes.reserve(0, 0, 0, self.space.top, self.top)
        repeat(np.array(list(stored), np.int32), np.array(list(stored.values()), np.int32), self.nodes.arrays)
        self._list_awake()

    def store(self, positions: Ints, offsets: Longs, codes: Longs) -> None:
        nodes = self.nodes
        occurs = np.zeros(self.space.top, np.bool_)
        connectives, slots = survey(codes, occurs)
        used = np.flatnonzero(occurs).astype(np.int32)
        nodes.reserve(len(used), connectives, slots, self.space.top, self.top)
        self._measure(used[nodes.arrays.of_predicate[used] == NONE])
        many = len(positions) >= MANY and len(codes) > nodes.count // _SHARE
        (insert_many if many else insert)(positions, offsets, codes, self._axis, self._weight, nodes.arrays)
        # A node uses its predicate once, however many expressions use the node.
        if len(used) == self.space.top:
            self.space.uses[:] = [1] * self.space.top
        else:
            for each in used.tolist():
                self.space.uses[each] = 1
        self._list_awake()

    def forget(self, position: int) -> list[int]:
        freed: list[int] = delete(position, self.nodes.arrays).tolist()
        self._list_awake()
        return freed

    def _measure(self, predicates: Ints) -> None:
        """Write down what new nodes need to know of their predicates."""
        space = self.space
        self._axis = grown(self._axis, space.top)
        self._weight = grown(self._weight, space.top)
        if len(predicates):
            weight = weights(space, predicates)
            axis = space.dimension[predicates] + 1
            self._axis[predicates] = np.where(np.isinf(weight), -axis, axis)
            self._weight[predicates] = weight

    def _list_awake(self) -> None:
        """List the predicates that have come to wake somebody, and take out those that no longer do."""
        node = self.nodes.arrays.node
        noted = self.nodes.noted()
        noted = noted[node[noted, OP] == LEAF]
        awake = (node[noted, WAKES] != NONE) | (node[noted, ENDS] != NONE)
        predicates = node[noted, PREDICATE]
        listed = self.listing.holds(predicates)
        self.listing.insert(predicates[awake & ~listed])
        self.listing.remove(predicates[~awake & listed].tolist())

    # --- events -------------------------------------------------------------------------------------

    def match_by(self, search: Callable[..., int], events: Encoded) -> Rows:
        """Return what a search finds, after the plan was brought up to date."""
        self._plan.refresh()
        return super().match_by(search, events)

    def search(self, first: int, last: int, events: Encoded, ends: Longs, out: Ints, work: Longs) -> int:
        arrays = self.nodes.arrays
        clock = self.scratch("clock", 1)
        known = self.scratch("known", FIELDS * len(arrays.node))
        if clock[0] > LAST_TICK - events.rows:
            clock[0] = known[:] = 0
        levels = int(arrays.state[TOP_LEVEL]) + 2
        return _search(
            first,
            last,
            events,
            self.listing.view(),
            self.predicates(),
            self._plan.view(),
            arrays.of_predicate,
            arrays.after,
            self._words,
            self.ranks(),
            self.scratch("met", self.space.top),
            known,
            np.full(levels, NONE, np.int32),
            np.zeros(FRAME * levels, np.int32),
            clock,
            self.top,
            ends,
            out,
            work,
        )

    # --- figures ------------------------------------------------------------------------------------

    def shared_by(self, expression: Expression, negated: bool) -> int | None:
        """Return how many subscriptions contain an expression, or its negation; None if it is always or never met."""
        forms = Forms()
        if forms.write(Not(expression) if negated else expression) is not None:
            return None
        numbers = self.space.find(forms.wanted)
        if NONE in numbers:
            return 0
        _, codes = forms.resolve(numbers)
        found = find_form(codes, self.nodes.arrays)
        return 0 if found == NONE else subscriptions_above(found, self.nodes.arrays)

    def extra_bytes(self) -> int:
        return self.nodes.bytes + self._plan.bytes + self._axis.nbytes + self._weight.nbytes

    def stats(self) -> dict[str, Any]:
        nodes = self.nodes
        return {**super().stats(), "nodes": nodes.count, "edges": nodes.edges, "levels": nodes.levels}

    def check_invariants(self) -> None:
        super().check_invariants()
        self.nodes.check_invariants()
        self._plan.check_invariants()
        node = self.nodes.arrays.node[: self.nodes.arrays.state[NODES]]
        for predicate in range(self.space.top):
            each = int(self.nodes.arrays.of_predicate[predicate])
            assert (each != NONE) == (self.space.uses[predicate] > 0)
            assert (each != NONE and is_awake(each, node)) == (predicate in self.listing)
        assert bool(self.stored) == bool(self.nodes.count)


def _repeat_themselves(expressions: Sequence[Expression]) -> bool:
    """Return whether enough of some expressions are copies of others; among many, a sample tells.

    Predicates are not counted: to take one apart twice costs no more than to find that it is there already.
    """
    some: Iterable[Expression] = expressions
    taken = min(len(expressions), _SAMPLE)
    if len(expressions) > taken:
        chosen = np.random.default_rng(0).choice(len(expressions), taken, replace=False)
        some = map(expressions.__getitem__, chosen.tolist())
    large = [each for each in some if not isinstance(each, Predicate)]
    copies = len(large) - len(set(large))
    # That two copies of one expression are both in the sample is as much rarer as the sample is smaller.
    return copies * len(expressions) > _COPIES * taken * len(large)


@kernel
def _search(
    first: int,
    last: int,
    events: Encoded,
    listed: Listed,
    predicates: Predicates,
    planned: Planned,
    of_predicate: Ints,
    after: Ints,
    words: bool,
    ranks: Ints,
    met: Ints,
    known: Ints,
    heads: Ints,
    frames: Ints,
    clock: Ints,
    top: int,
    ends: Longs,
    out: Ints,
    work: Longs,
) -> int:
    brief, text = planned
    rank, (starts, sizes, data) = predicates.rank, predicates.bounds
    used, evaluated = 0, 0
    for row in range(first, last):
        if len(out) - used < top:
            last = row
            break
        enter(row, events, predicates.rank, ranks)
        clock[0] += 1
        now = clock[0]
        low, high = word_of(row, events)
        for number in range(find_met(row, events, ranks, listed, predicates, met)):
            each = of_predicate[met[number]]
            known[FIELDS * each + NEXT] = heads[1]
            heads[1] = each
        for level in range(1, len(heads)):
            each = heads[level]
            heads[level] = NONE
            while each != NONE:
                evaluated += level > 1
                # What met predicates and disjunctions wait for has happened.
                if not brief[each, TRAITS] & CONJUNCTION or _holds(
                    each, now, brief, text, known, frames, rank, starts, sizes, data, ranks, work
                ):
                    known[FIELDS * each + TRUE] = now
                    position = brief[each, ENDING]
                    while position != NONE:
                        out[used] = position
                        used += 1
                        position = after[position]
                    place = brief[each, WOKEN] + 1
                    for at in range(place, place + PER_WOKEN * text[place - 1], PER_WOKEN):
                        owner = text[at]
                        if words and (text[at + 2] & ~low or text[at + 3] & ~high):
                            continue
                        if known[FIELDS * owner + SEEN] != now:
                            known[FIELDS * owner + SEEN] = now
                            known[FIELDS * owner + NEXT] = heads[text[at + 1]]
                            heads[text[at + 1]] = owner
                each = known[FIELDS * each + NEXT]
        leave(row, events, ranks)
        ends[row] = used
    work[CANDIDATES] += evaluated
    return last


@kernel
def word_of(row: int, events: Encoded) -> tuple[int, int]:
    """Return two words with a bit for each attribute that an event has."""
    low, high = 0, 0
    for place in range(events.offsets[row], events.offsets[row + 1]):
        bit = events.dimensions[place] % (2 * WORD_BITS)
        if bit < WORD_BITS:
            low |= 1 << bit
        else:
            high |= 1 << (bit - WORD_BITS)
    return low, high


@kernel
def _holds(
    each: int,
    now: int,
    brief: Matrix,
    text: Ints,
    known: Ints,
    frames: Ints,
    rank: Ints,
    starts: Longs,
    sizes: Ints,
    data: Ints,
    ranks: Ints,
    work: Longs,
) -> bool:
    """Return whether a connective is true, by asking its children one after the other.

    Children that are awake have made themselves known: lower levels are done. The others are evaluated, each once. In
    `frames` are those that are being evaluated, each with the place of the next child and how many are left.
    """
    depth = 0
    frames[NODE], frames[PLACE], frames[LEFT] = each, brief[each, ASKED] + 1, text[brief[each, ASKED]]
    while True:
        frame = FRAME * depth
        each, place, left = frames[frame + NODE], frames[frame + PLACE], frames[frame + LEFT]
        neutral = brief[each, TRAITS] & CONJUNCTION != 0
        says = neutral
        while left > 0 and says == neutral:
            entry = text[place]
            work[TESTS] += 1
            if entry >= 0:
                at, count = ranks[entry >> BITS], entry & UNCOUNTED
                place += 1
                if count != UNCOUNTED:
                    end = place + 2 * count
                    while place < end and rank[text[place + 1]] <= at:
                        place += 2
                    says = place < end and rank[text[place]] <= at
                    place = end
                else:
                    spot = starts[text[place]]
                    end = spot + sizes[text[place]]
                    while spot < end and rank[data[spot + 1]] <= at:
                        spot += 2
                    says = spot < end and rank[data[spot]] <= at
                    place += 1
            else:
                part = -1 - entry
                if not brief[part, TRAITS] & AWAKE and known[FIELDS * part + SEEN] != now:
                    break
                says = known[FIELDS * part + TRUE] == now
                place += 1
            left -= 1
        if left > 0 and says == neutral:
            frames[frame + PLACE], frames[frame + LEFT] = place, left
            part = -1 - text[place]
            depth += 1
            frame += FRAME
            frames[frame + NODE], frames[frame + PLACE] = part, brief[part, ASKED] + 1
            frames[frame + LEFT] = text[brief[part, ASKED]]
            work[CANDIDATES] += 1
            continue
        known[FIELDS * each + SEEN] = now
        if says:
            known[FIELDS * each + TRUE] = now
        if depth == 0:
            return bool(says)
        depth -= 1
