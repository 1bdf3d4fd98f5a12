"""What the engines share that evaluate expressions one by one (specs/002 §8): from met predicates to expressions.

Each of them asks which predicates an event meets, goes to where these occur, and looks at the expressions found there.
A form without negation is false if none of its predicates is met, so no other expression need be looked at.
"""

from abc import abstractmethod
from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt

from tamis.compiled import kernel
from tamis.matching.ranks.arbitrary import ArbitraryEngine
from tamis.matching.ranks.encoding import Encoded
from tamis.matching.ranks.forms import ALL, LEAF, SAME, expanded
from tamis.matching.ranks.kernels import TESTS, Predicates, enter, leave, meets
from tamis.matching.ranks.listing import Listed, find_met
from tamis.matching.ranks.lists import Ints, Lists, Longs, View

#: When the clock of a thread, which counts events, starts anew.
_CLOCK_WRAPS = 1 << 30
#: So many values are appended to lists one by one, more at once.
_FEW = 256
#: So many leaves are sorted by insertion.
_SHORT = 32


class Asked(NamedTuple):
    """What a kernel needs to know to ask which predicates an event meets; they are written into `met`."""

    listed: Listed
    predicates: Predicates
    ranks: Ints
    met: Ints


class OccurrenceEngine(ArbitraryEngine):
    """An engine that knows where each predicate occurs."""

    def __init__(self) -> None:
        super().__init__()
        #: By predicate: its occurrences, in whatever numbers a subclass has for them.
        self.occurrences = Lists()

    def list_occurrences(self, predicates: Longs, occurrences: npt.NDArray[Any]) -> None:
        """Write down that predicates occur, and from now on ask events for them."""
        self.occurrences.reserve(self.space.top)
        occurs = np.zeros(self.space.top, np.bool_)
        occurs[predicates] = True
        distinct = np.flatnonzero(occurs)
        self.listing.insert(distinct[self.occurrences.size[distinct] == 0].astype(np.int32))
        extend(self.occurrences, predicates, occurrences)

    def asked(self) -> Asked:
        """Return what this thread asks with."""
        self.occurrences.reserve(self.space.top)
        return Asked(self.listing.view(), self.predicates(), self.ranks(), self.scratch("met", self.space.top))

    def clock(self) -> Ints:
        """Return this thread's clock, which is ahead of all `stamps` (by position) and `truths` (by predicate)."""
        clock = self.scratch("clock", 1)
        if clock[0] > _CLOCK_WRAPS:
            clock[0] = self.scratch("stamps", 1)[:] = self.scratch("truths", 1)[:] = 0
        return clock

    def extra_bytes(self) -> int:
        return self.occurrences.bytes

    def check_invariants(self) -> None:
        super().check_invariants()
        self.occurrences.check_invariants()


class LabelEngine(OccurrenceEngine):
    """An engine that labels every leaf of every form. Leaves are numbered through all forms, in their order there.

    What is stored cannot be changed, as the sources have it.
    """

    def __init__(self) -> None:
        super().__init__()
        #: By leaf: the position of its form.
        self.owner: Ints = np.zeros(0, np.int32)
        #: No form has more leaves.
        self.widest = 0

    @abstractmethod
    def label(self, offsets: Longs, codes: Longs, tree: "Tree", leaves: Longs) -> None:
        """Label the leaves at some places of the forms."""

    def store(self, positions: Ints, offsets: Longs, codes: Longs) -> None:
        offsets, codes = written_out(offsets, codes)
        leaves = np.flatnonzero((codes & 3) == LEAF)
        owner = np.repeat(positions, np.diff(offsets))[leaves]
        numbers = len(self.owner) + np.arange(len(leaves))
        self.owner = np.concatenate((self.owner, owner))
        self.widest = max(self.widest, int(np.diff(offsets).max(initial=0)))
        self.label(offsets, codes, tree_of(offsets, codes), leaves)
        self.list_occurrences(codes[leaves] >> 2, numbers)

    def forget(self, position: int) -> list[int]:  # noqa: ARG002 - it refuses whatever is given
        raise TypeError(f"{type(self).__name__} is not dynamic")

    def gathering(self) -> "Gathering":
        """Return what this thread gathers leaves with."""
        return Gathering(
            self.occurrences.view(),
            self.owner,
            self.clock(),
            self.scratch("stamps", self.top),
            self.scratch("heads", self.top),
            self.scratch("following", len(self.owner)),
            self.scratch("candidates", self.top),
            self.scratch("leaves", self.widest),
        )

    def extra_bytes(self) -> int:
        return super().extra_bytes() + self.owner.nbytes


class Gathering(NamedTuple):
    """What kernels see of a `LabelEngine`, and the chains of met leaves: of which `heads` are by position.

    `following` is by leaf, `candidates` the positions with a chain, and `leaves` has room for one.
    """

    occurrences: View
    owner: Ints
    clock: Ints
    stamps: Ints
    heads: Ints
    following: Ints
    candidates: Ints
    leaves: Ints


@kernel
def ask(row: int, events: Encoded, asked: Asked) -> int:
    """Write the predicates that an event meets into `asked.met` and return how many they are."""
    listed, predicates, ranks, met = asked
    enter(row, events, predicates.rank, ranks)
    found = find_met(row, events, ranks, listed, predicates, met)
    leave(row, events, ranks)
    return found


@kernel
def gather(met: Ints, found: int, gathering: Gathering) -> int:
    """Chain the leaves of met predicates by the form that they are in, and return how many such forms there are."""
    (start, size, data), owner, clock, stamps, heads, following, candidates, _ = gathering
    clock[0] += 1
    now = clock[0]
    count = 0
    for each in range(found):
        first = start[met[each]]
        for place in range(first, first + size[met[each]]):
            leaf = data[place]
            position = owner[leaf]
            if stamps[position] != now:
                stamps[position] = now
                heads[position] = -1
                candidates[count] = position
                count += 1
            following[leaf] = heads[position]
            heads[position] = leaf
    return count


@kernel
def in_order(leaf: int, following: Ints, leaves: Ints) -> int:
    """Write the leaves of a chain into `leaves` in ascending order, and return how many they are."""
    count = 0
    while leaf >= 0:
        at = count
        while count < _SHORT and at > 0 and leaves[at - 1] > leaf:
            leaves[at] = leaves[at - 1]
            at -= 1
        leaves[at] = leaf
        count += 1
        leaf = following[leaf]
    if count > _SHORT:
        leaves[:count].sort()
    return count


def extend(lists: Lists, keys: npt.NDArray[Any], values: npt.NDArray[Any]) -> None:
    """Append values to the lists of their keys: at once if they are many, since that looks at all lists."""
    if len(keys) > _FEW:
        lists.extend(keys, values)
        return
    for key, value in zip(keys.tolist(), values.tolist(), strict=True):
        lists.append(key, value)


# --- forms as trees ---------------------------------------------------------------------------------


class Tree(NamedTuple):
    """By place of a code: the place of the connective around it, or -1; its number among the parts of that, from 1;

    how many connectives are around it; and the place where it begins.
    """

    parent: Ints
    number: Ints
    depth: Ints
    begin: Ints


def with_same(offsets: Longs, codes: Longs) -> list[int]:
    """Return which forms contain `SAME`."""
    places = np.flatnonzero((codes & 3) == SAME)
    numbers: list[int] = np.unique(np.searchsorted(offsets, places, "right") - 1).tolist()
    return numbers


def written_out(offsets: Longs, codes: Longs) -> tuple[Longs, Longs]:
    """Return the offsets and codes of forms with every `SAME` written out."""
    numbers = with_same(offsets, codes)
    if not numbers:
        return offsets, codes
    forms = np.split(codes, offsets[1:-1])
    for number in numbers:
        forms[number] = expanded(forms[number])
    return np.cumsum([0, *map(len, forms)]), np.concatenate(forms)


def tree_of(offsets: Longs, codes: Longs) -> Tree:
    """Return forms, in which everything is written out, as trees."""
    tree = Tree(*(np.zeros(len(codes), np.int32) for _ in Tree._fields))
    _climb_down(offsets, codes, tree, np.zeros(len(codes), np.int32))
    return tree


@kernel
def _climb_down(offsets: Longs, codes: Longs, tree: Tree, left: Ints) -> None:
    """Fill in a tree. In `left` is counted how many parts of a connective are still to come."""
    parent, number, depth, begin = tree
    for form in range(len(offsets) - 1):
        around = -1
        for place in range(offsets[form + 1] - 1, offsets[form] - 1, -1):
            parent[place] = around
            begin[place] = place
            if around >= 0:
                number[place] = left[around]
                depth[place] = depth[around] + 1
                left[around] -= 1
            if codes[place] & 3 != LEAF:
                left[place] = codes[place] >> 2
                around = place
            while around >= 0 and left[around] == 0:
                begin[around] = place
                around = parent[around]


# --- forms as they are ------------------------------------------------------------------------------


@kernel
def holds(codes: Ints, first: int, last: int, ranks: Ints, predicates: Predicates, truths: Ints, work: Longs) -> bool:
    """Return whether the event in `ranks` meets the form between two places. `truths` has room for twice its length."""
    top = last - first
    for place in range(first, last):
        tag, value = codes[place] & 3, codes[place] >> 2
        work[TESTS] += 1
        if tag == LEAF:
            truth = meets(value, ranks[predicates.dimension[value]], predicates)
        elif tag == SAME:
            truth = bool(truths[value])
        else:
            truth = tag == ALL
            for part in range(top - value, top):
                if bool(truths[part]) != (tag == ALL):
                    truth = tag != ALL
            top -= value
        truths[place - first] = truths[top] = truth
        top += 1
    return bool(truths[last - first])
