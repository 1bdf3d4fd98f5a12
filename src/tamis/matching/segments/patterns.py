"""Which of many `like` filters of one attribute a string passes.

Every pattern is filed under one fixed text that must occur in whatever fits it. Those at the end of a string are found
by a walk from its end, those at its beginning by a walk from there, and the others by an automaton in one pass. Where
the text alone does not settle it, the pattern is compared with the string in full.

It is our own because libraries are called once for every string and do not read Arrow: for many short strings most of
their time would be the calls.
"""

from collections import Counter
from collections.abc import Callable, Iterable, Sequence
from itertools import accumulate
from typing import Final, NamedTuple, TypeAlias

import numpy as np
import numpy.typing as npt
import pyarrow as pa

from tamis.compiled import brief, kernel
from tamis.language.tree import Like
from tamis.matching.ranks.lists import Ints, Longs
from tamis.matching.segments.answers import longer
from tamis.matching.segments.automaton import Octets, Trie, automaton, child, step, trie
from tamis.matching.segments.pattern_tables import Packed, Tables, packed, unpacked
from tamis.matching.segments.wildcards import ANY, Token, codes, fits, tokens, utf8, utf8_rows

Mask = npt.NDArray[np.bool_]

#: Where in a string a text is looked for.
_AT_START, _ANYWHERE, _AT_END = range(3)
#: How much rarer a text is taken to be with every byte, and how much rarer at an end than anywhere.
_PER_BYTE: Final = 1 / 8
_AT_ENDS: Final = 1 / 8
#: For how many answers, and for how many texts beyond the most that one string can have, there is room at first.
_ROOM: Final = 1 << 12
#: Bytes of a text for which no other thread is let run: it would not have woken up yet.
_SHORT: Final = 1 << 12

#: Where a text is looked for, and the text; backwards if at the end, as it is read from there.
Key = tuple[int, bytes]
#: The key of patterns without a fixed text.
_NOWHERE: Final[Key] = (_ANYWHERE, b"")


class Marks(NamedTuple):
    """What the kernel remembers of the string at hand: by text whether it was met, by filter whether it was failed.

    A mark is the value that the clock had, so that none need be wiped. `texts` are those met, in as many
    strings as there is room for.
    """

    met: Longs
    failed: Longs
    clock: Longs
    texts: Ints


_Find: TypeAlias = Callable[[Packed, Marks, Octets, Longs, Mask], tuple[Ints, Longs]]


class Patterns:
    """An index of `like` filters, also negated ones. It does not change, and threads may share it."""

    def __init__(self, filters: Sequence[Like]) -> None:
        attributes = {each.attribute for each in filters}
        if len(attributes) > 1:
            raise ValueError(f"patterns are kept for one attribute, not for {', '.join(sorted(attributes))}")
        patterns = [tokens(each) for each in filters]
        keys = _chosen(patterns)
        held: list[list[bytes]] = [[], [], []]
        for where, text in sorted(set(keys) - {_NOWHERE}):
            held[where].append(text)
        numbers = {_NOWHERE: 0}
        for where, texts in enumerate(held):
            numbers.update(((where, text), number) for number, text in enumerate(texts, len(numbers)))
        first = list(accumulate(map(len, held), initial=1))
        anywhere, links = automaton(held[_ANYWHERE], first[_ANYWHERE])
        further = np.zeros(len(numbers), np.int32)
        further[first[_ANYWHERE] : first[_AT_END]] = links

        filed_under = np.fromiter((numbers[key] for key in keys), np.int64, len(keys))
        program, written = _programs(patterns)
        denies = np.fromiter((each.negated for each in filters), np.uint8, len(filters))
        tables = Tables(
            starts=trie(held[_AT_START], first[_AT_START]),
            anywhere=anywhere,
            ends=trie(held[_AT_END], first[_AT_END]),
            further=further,
            under=np.append(0, np.cumsum(np.bincount(filed_under, minlength=len(numbers)))).astype(np.int32),
            filed=np.argsort(filed_under, kind="stable").astype(np.int32),
            program=program,
            codes=written,
            negated=np.flatnonzero(denies).astype(np.int32),
            denies=denies,
        )
        self._held = packed(tables)
        self._texts = len(numbers)
        self._filters = len(filters)
        # Each thread takes marks from here and puts them back.
        self._marks: list[Marks] = []

    def __len__(self) -> int:
        return self._filters

    def find(self, text: str) -> list[int]:
        """Return the numbers of the filters that are true of a text: their positions, each once, in any order."""
        encoded = utf8(text)
        find = _find_briefly if len(encoded) <= _SHORT else _find
        found, _ = self._found(find, np.frombuffer(encoded, np.uint8), np.array([0, len(encoded)]), _NO_MASK)
        numbers: list[int] = found.tolist()
        return numbers

    def find_rows(self, array: pa.Array) -> tuple[Longs, Ints]:
        """Return the same for an array of strings: rows, ascending, and beside them numbers. Nulls pass nothing."""
        octets, places = utf8_rows(array)
        valid = array.is_valid().to_numpy(zero_copy_only=False) if array.null_count else _NO_MASK
        found, counts = self._found(_find, octets, places, valid)
        return np.repeat(np.arange(len(array)), counts), found

    def _found(self, find: _Find, data: Octets, places: Longs, valid: Mask) -> tuple[Ints, Longs]:
        try:
            marks = self._marks.pop()
        except IndexError:
            met, failed, clock = (np.zeros(size, np.int64) for size in (self._texts, self._filters, 1))
            marks = Marks(met, failed, clock, np.zeros(self._texts + _ROOM, np.int32))
        found = find(self._held, marks, data, places, valid)
        self._marks.append(marks)
        return found

    @property
    def bytes(self) -> int:
        """How much memory the index takes, without the marks, of which each thread at work borrows its own."""
        return sum(array.nbytes for array in self._held)


_NO_MASK: Final[Mask] = np.zeros(0, np.bool_)


def _chosen(patterns: Iterable[Sequence[Token]]) -> list[Key]:
    """Return for each pattern the text to file it under: one that seldom occurs; empty if there is none.

    Events often look like the patterns, so a text that many patterns share is taken to occur as often in strings.
    """
    pieces = [_pieces(each) for each in patterns]
    uses = Counter(key for each in pieces for key in set(each))

    def weight(key: Key) -> tuple[float, int]:
        where, text = key
        guess = _PER_BYTE ** len(text) * (1 if where == _ANYWHERE else _AT_ENDS)
        return max(uses[key] / len(pieces), guess), -len(text)

    return [min(each, key=weight) if len(each) > 1 else each[0] if each else _NOWHERE for each in pieces]


def _pieces(parts: Sequence[Token]) -> list[Key]:
    pieces = []
    for place, part in enumerate(parts):
        if isinstance(part, bytes):
            if place == 0:
                pieces.append((_AT_START, part))
            elif place == len(parts) - 1:
                pieces.append((_AT_END, part[::-1]))
            else:
                pieces.append((_ANYWHERE, part))
    return pieces


def _settled(parts: Sequence[Token]) -> bool:
    """Return whether a pattern is `text%`, `%text` or `%text%`, so that a text found says it all."""
    wildcards = [part for part in parts if not isinstance(part, bytes)]
    return len(parts) - len(wildcards) == 1 and len(wildcards) > 0 and all(part == ANY for part in wildcards)


def _programs(patterns: Sequence[Sequence[Token]]) -> tuple[Ints, Ints]:
    begins = np.full(len(patterns), -1, np.int32)
    written: list[int] = []
    for number, parts in enumerate(patterns):
        if not _settled(parts):
            begins[number] = len(written)
            written.extend(codes(parts))
    return begins, np.array(written, np.int32)


@kernel
def _find(held: Packed, marks: Marks, data: Octets, places: Longs, valid: Mask) -> tuple[Ints, Longs]:
    """Return the filters passed, row after row, and by row how many."""
    tables = unpacked(held)
    rows = len(places) - 1
    found = np.empty(rows + _ROOM, np.int32)
    counts = np.zeros(rows, np.int64)
    ends = np.zeros(rows + 1, np.int64)
    row = count = 0
    while row < rows:
        following = _walk(tables.starts, tables.ends, tables.anywhere, tables.further, marks, data, places, row, ends)
        found, count = _report(tables, marks, data, places, valid, row, following, ends, found, count, counts)
        row = following
    return found[:count].copy(), counts


@brief
def _find_briefly(held: Packed, marks: Marks, data: Octets, places: Longs, valid: Mask) -> tuple[Ints, Longs]:
    """Do the same for one short text."""
    return _find(held, marks, data, places, valid)


@kernel
def _walk(
    starts: Trie,
    ends: Trie,
    anywhere: Trie,
    further: Ints,
    marks: Marks,
    data: Octets,
    places: Longs,
    row: int,
    noted: Longs,
) -> int:
    """Note the texts of strings from a row on, up to which row there is room, and return that row.

    Row r has the texts from `noted[r]` up to `noted[r + 1]`, each once. A string cannot have more than all texts.
    """
    start_classes, start_table, start_first, start_label, _, start_hit = starts
    end_classes, end_table, end_first, end_label, _, end_hit = ends
    classes, table, first, label, fail, hit = anywhere
    met, _, clock, texts = marks
    count = 0
    noted[row] = 0
    while row < len(places) - 1 and count + len(further) <= len(texts):
        low, high = places[row], places[row + 1]
        clock[0] += 1
        now = clock[0]
        node = 0
        for place in range(low, high if len(start_hit) > 1 else low):
            node = child(start_table, start_first, start_label, node, start_classes[data[place]])
            if not node:
                break
            texts[count] = start_hit[node]
            count += start_hit[node] > 0
        node = 0
        for place in range(high - 1, low - 1 if len(end_hit) > 1 else high - 1, -1):
            node = child(end_table, end_first, end_label, node, end_classes[data[place]])
            if not node:
                break
            texts[count] = end_hit[node]
            count += end_hit[node] > 0
        node = 0
        for place in range(low, high if len(hit) > 1 else low):
            node = step(table, first, label, fail, node, classes[data[place]])
            text = hit[node]
            # Whatever comes further was met along with a text that has been met.
            while text and met[text] != now:
                met[text] = now
                texts[count] = text
                count += 1
                text = further[text]
        row += 1
        noted[row] = count
    return row


@kernel
def _report(
    tables: Tables,
    marks: Marks,
    data: Octets,
    places: Longs,
    valid: Mask,
    row: int,
    end: int,
    noted: Longs,
    found: Ints,
    count: int,
    counts: Longs,
) -> tuple[Ints, int]:
    """Write down the filters that the strings of some rows pass, given the texts noted of them."""
    _, _, _, _, under, filed, program, codes, negated, denies = tables
    _, failed, clock, texts = marks
    for each in range(row, end):
        if len(valid) and not valid[each]:
            continue
        clock[0] += 1
        now = clock[0]
        before = count
        for place in range(noted[each] - 1, noted[each + 1]):
            text = texts[place] if place >= noted[each] else 0
            most = count + under[text + 1] - under[text]
            if most > len(found):
                found = longer(found, most)
            for at in range(under[text], under[text + 1]):
                number = filed[at]
                begin = program[number]
                if begin >= 0 and not fits(codes, begin, data, places[each], places[each + 1]):
                    continue
                if denies[number]:
                    failed[number] = now
                else:
                    found[count] = number
                    count += 1
        if count + len(negated) > len(found):
            found = longer(found, count + len(negated))
        for number in negated:
            if failed[number] != now:
                found[count] = number
                count += 1
        counts[each] = count - before
    return found, count
