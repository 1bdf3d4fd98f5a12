"""What kernels see of an index of patterns, and how it is held: in three arrays.

A kernel takes a third of a microsecond for every array that it is called with, which for three dozen of them is more
than it needs for a string. So they stand in one array of each type, and are told apart inside the kernel.
"""

from typing import Final, NamedTuple

import numpy as np

from tamis.compiled import kernel
from tamis.matching.ranks.lists import Ints, Longs
from tamis.matching.segments.automaton import Octets, Trie

_TRIES: Final = 3
#: Of a trie: its parts in `ints` and in `octets`.
_TRIE_INTS: Final = 4
_TRIE_OCTETS: Final = 2
_INTS: Final = _TRIES * _TRIE_INTS + 6
_OCTETS: Final = _TRIES * _TRIE_OCTETS + 1


class Tables(NamedTuple):
    """Patterns and the texts under which they are filed.

    Texts are numbered from 1 over the three tries; number 0 stands for the patterns without a fixed text. Under text k
    the filters `filed[under[k] : under[k + 1]]` are filed. `further[k]` is the next text to report along with k.
    Filter f has the codes from `program[f]` on, or -1 where its text settles it. `denies[f]` is 1 if it is negated;
    `negated` are the numbers of those.
    """

    starts: Trie
    anywhere: Trie
    ends: Trie
    further: Ints
    under: Ints
    filed: Ints
    program: Ints
    codes: Ints
    negated: Ints
    denies: Octets


class Packed(NamedTuple):
    """The same in three arrays.

    `header` has the ends of the parts of `ints`, those of `octets`, and the widths of the tables of the tries.
    """

    ints: Ints
    octets: Octets
    header: Longs


def packed(tables: Tables) -> Packed:
    """Return tables in three arrays."""
    tries = tables.starts, tables.anywhere, tables.ends
    ints = [part for each in tries for part in (each.table.reshape(-1), each.first, each.fail, each.hit)]
    ints += [tables.further, tables.under, tables.filed, tables.program, tables.codes, tables.negated]
    octets = [part for each in tries for part in (each.classes, each.label)]
    octets.append(tables.denies)
    header = [0, *np.cumsum([len(part) for part in ints]), 0, *np.cumsum([len(part) for part in octets])]
    header += [each.table.shape[1] for each in tries]
    return Packed(np.concatenate(ints), np.concatenate(octets), np.array(header, np.int64))


@kernel
def unpacked(held: Packed) -> Tables:
    """Return the tables again, without a copy."""
    first = _TRIES * _TRIE_INTS
    return Tables(
        _trie(held, 0),
        _trie(held, 1),
        _trie(held, 2),
        _ints(held, first),
        _ints(held, first + 1),
        _ints(held, first + 2),
        _ints(held, first + 3),
        _ints(held, first + 4),
        _ints(held, first + 5),
        _octets(held, _TRIES * _TRIE_OCTETS),
    )


@kernel
def _trie(held: Packed, number: int) -> Trie:
    at = number * _TRIE_INTS
    table = _ints(held, at)
    width = held.header[_INTS + 1 + _OCTETS + 1 + number]
    return Trie(
        _octets(held, number * _TRIE_OCTETS),
        table.reshape((len(table) // width, width)),
        _ints(held, at + 1),
        _octets(held, number * _TRIE_OCTETS + 1),
        _ints(held, at + 2),
        _ints(held, at + 3),
    )


@kernel
def _ints(held: Packed, part: int) -> Ints:
    return held.ints[held.header[part] : held.header[part + 1]]


@kernel
def _octets(held: Packed, part: int) -> Octets:
    at = _INTS + 1 + part
    return held.octets[held.header[at] : held.header[at + 1]]
