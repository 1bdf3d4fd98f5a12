"""Indexes of `like` filters against the filters one by one."""

import os
import random
from collections.abc import Sequence
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

import numba
import numpy as np
import numpy.typing as npt
import pyarrow as pa
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from support.strategies import PATTERNS, STRINGS
from support.twins import passes_as_plain_python
from tamis.language.columns import Column
from tamis.language.like import BadPatternError
from tamis.language.tree import Like
from tamis.matching.segments import automaton, patterns
from tamis.matching.segments.patterns import Patterns
from tamis.matching.segments.wildcards import tokens

EXAMPLES = int(os.environ.get("TAMIS_TEST_EXAMPLES", "500"))

#: Few characters, so that much is found: of one to four bytes, two that share bytes, NUL and an end of line.
_CHARACTERS = "ab\0\né\u00e8\u20ac😀😁"
_SURROGATES = "\ud83d\ude00"
_texts = st.text(st.sampled_from(_CHARACTERS), max_size=8) | st.sampled_from(STRINGS)
_any_texts = st.text(st.sampled_from(_CHARACTERS + _SURROGATES), max_size=8)
_TYPES = [pa.string(), pa.large_string()]


def likes(characters: str = _CHARACTERS) -> st.SearchStrategy[Like]:
    plain = st.text(st.sampled_from("%%__" + characters), max_size=7) | st.sampled_from(PATTERNS)
    escaped = st.lists(st.sampled_from(["!%", "!_", "!!", "%", "_", *characters]), max_size=7).map("".join)
    return st.builds(Like, st.just("s"), plain, st.none(), st.booleans()) | st.builds(
        Like, st.just("s"), escaped, st.just("!"), st.booleans()
    )


def expected(filters: Sequence[Like], text: str) -> list[int]:
    return [number for number, each in enumerate(filters) if each.matches({"s": text})]


def pairs(found: tuple[npt.NDArray[Any], npt.NDArray[Any]]) -> list[tuple[int, int]]:
    rows, numbers = found
    assert rows.dtype == np.int64
    assert numbers.dtype == np.int32
    assert (np.diff(rows) >= 0).all()
    return sorted(zip(rows.tolist(), numbers.tolist(), strict=True))


@given(st.lists(likes(), max_size=12), st.lists(st.none() | _texts, max_size=6), st.sampled_from(_TYPES), st.data())
@settings(max_examples=EXAMPLES)
def test_they_find_what_each_filter_says(
    filters: list[Like], texts: list[str | None], kind: pa.DataType, data: st.DataObject
) -> None:
    index = Patterns(filters)
    assert len(index) == len(filters)
    for text in texts:
        if text is not None:
            assert sorted(index.find(text)) == expected(filters, text)
    low = data.draw(st.integers(0, len(texts)))
    array = pa.array(texts, kind)[low : data.draw(st.integers(low, len(texts)))]
    passing = [np.flatnonzero(Column(array).passes(each)).tolist() for each in filters]
    assert pairs(index.find_rows(array)) == sorted((row, number) for number, rows in enumerate(passing) for row in rows)


@given(st.lists(likes(_CHARACTERS + _SURROGATES), max_size=12), _any_texts)
@settings(max_examples=EXAMPLES)
def test_lone_surrogates_are_characters_like_any_other(filters: list[Like], text: str) -> None:
    assert sorted(Patterns(filters).find(text)) == expected(filters, text)


@given(st.lists(likes(), max_size=12), st.lists(_texts, max_size=4))
@settings(max_examples=EXAMPLES)
def test_far_from_the_root_steps_are_the_same(filters: list[Like], texts: list[str]) -> None:
    with pytest.MonkeyPatch.context() as patch:
        # Only the root has a row in the table.
        patch.setattr(automaton, "TABLE_STEPS", 1)
        index = Patterns(filters)
    for text in texts:
        assert sorted(index.find(text)) == expected(filters, text)


@pytest.mark.parametrize(
    ("text", "escape", "fitting", "others"),
    [
        ("%x", None, ["x", "ax", "xx", "\0x"], ["", "xa", "X"]),
        ("%x%", None, ["x", "axb", "xx"], ["", "a", "X"]),
        ("%aba%", None, ["aba", "ababa", "xabax"], ["ab", "abba"]),
        ("a%b_c", None, ["abbc", "ab😀c", "axbxc", "abxcbyc"], ["abc", "abxcd", "bbxc", "abbxcc"]),
        ("%a_a%a", None, ["abaa", "xaéaya", "aaaa"], ["aba", "aaa"]),
        ("_", None, ["a", "é", "😀", "\n", "\0"], ["", "ab", "e\u0301"]),
        ("__%", None, ["ab", "😀é", "abc"], ["", "😀"]),
        ("%_", None, ["a", "ab"], [""]),
        ("", None, [""], ["a", "\0"]),
        ("%", None, ["", "a", "\n"], []),
        ("a", None, ["a"], ["", "aa"]),
        ("a%", None, ["a", "ab"], ["", "ba"]),
        ("%é", None, ["é", "aé"], ["è", "\u20ac", "e"]),
        ("%!%", "!", ["%", "a%"], ["", "!", "!%a"]),
        ("%!_a!!%", "!", ["_a!", "x_a!y"], ["ba!", "_a"]),
        ("%%a", "%", ["%a"], ["a", "xa", "%%a"]),
    ],
)
@pytest.mark.parametrize("negated", [False, True])
def test_vectors(text: str, escape: str | None, fitting: list[str], others: list[str], negated: bool) -> None:
    index = Patterns([Like("s", text, escape, negated)])
    texts = fitting + others
    fits = [bool(index.find(each)) for each in texts]
    assert fits == [not negated] * len(fitting) + [negated] * len(others)
    rows, _ = index.find_rows(pa.array(texts))
    assert rows.tolist() == np.flatnonzero(fits).tolist()


def test_nulls_and_what_lies_behind_them_pass_nothing() -> None:
    offsets = pa.py_buffer(np.array([0, 1, 2, 3], np.int32))
    array = pa.StringArray.from_buffers(3, offsets, pa.py_buffer(b"aaa"), pa.py_buffer(b"\x05"))
    index = Patterns([Like("s", "%a"), Like("s", "%b", None, True)])
    assert pairs(index.find_rows(array)) == [(0, 0), (0, 1), (2, 0), (2, 1)]
    assert pairs(index.find_rows(array[1:2])) == []
    assert pairs(index.find_rows(pa.nulls(3, pa.string()))) == []


def test_empty_arrays_and_no_filters() -> None:
    index = Patterns([Like("s", "%a%"), Like("s", "%", None)])
    assert pairs(index.find_rows(pa.array([], pa.string()))) == []
    assert pairs(index.find_rows(pa.Array.from_buffers(pa.string(), 0, [None, None, pa.py_buffer(b"")]))) == []
    assert pairs(index.find_rows(pa.array(["", None]))) == [(0, 1)]
    assert Patterns([]).find("a") == []
    assert pairs(Patterns([]).find_rows(pa.array(["a"]))) == []


def test_the_same_filter_twice_has_two_numbers() -> None:
    index = Patterns([Like("s", "%a%"), Like("s", "%a%"), Like("s", "%a%", None, True)])
    assert sorted(index.find("aaa")) == [0, 1]
    assert index.find("b") == [2]


def test_what_cannot_be_indexed_is_refused() -> None:
    with pytest.raises(ValueError, match="one attribute, not for a, b"):
        Patterns([Like("a", "%x"), Like("b", "%x")])
    with pytest.raises(BadPatternError, match="escape character"):
        Patterns([Like("a", "%!x", "!")])
    with pytest.raises(TypeError, match="not int64"):
        Patterns([Like("a", "%x")]).find_rows(pa.array([1]))
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(automaton, "MOST_BYTES", 3)
        with pytest.raises(ValueError, match="have 4 bytes together; at most 3 fit"):
            Patterns([Like("a", "%abcd%")])


def _crowd(count: int, seed: int) -> list[Like]:
    draw = random.Random(seed)
    filters = []
    for number in range(count):
        text = "".join(draw.choices("abcdé", k=draw.randint(1, 9)))
        shape = ("%{}", "%{}%", "%{}%", "{}%a_b", "%{}_a%", "a%{}")[number % 6]
        filters.append(Like("s", shape.format(text), None, number % 97 == 0))
    return filters


def test_ten_thousand_patterns() -> None:
    count = 300 if numba.config.DISABLE_JIT else 10_000
    filters = _crowd(count, seed=5)
    draw = random.Random(6)
    texts = ["".join(draw.choices("abcdé", k=draw.randint(0, 30))) for _ in range(12)]
    # Much that repeats: every text is met many times in one string.
    texts += ["a" * 200, "ab" * 100]
    index = Patterns(filters)
    wanted = [(row, number) for row, text in enumerate(texts) for number in expected(filters, text)]
    assert len(wanted) > count
    assert pairs(index.find_rows(pa.array(texts))) == wanted
    assert index.bytes < 1_000 * count + 4 * automaton.TABLE_STEPS * 3


def test_rows_with_more_texts_than_there_is_room_for_at_once() -> None:
    filters = [Like("s", f"%{text}%", None, text == "c") for text in ("a", "b", "ab", "ba", "c")] + [Like("s", "%b")]
    rows = 3 * patterns._ROOM // 10
    texts = ["abab", "xbcx", ""] * rows
    wanted = [(row, number) for row in range(3 * rows) for number in ([0, 1, 2, 3, 4, 5], [1], [4])[row % 3]]
    assert pairs(Patterns(filters).find_rows(pa.array(texts))) == wanted


def test_a_shared_text_does_not_decide_where_a_pattern_is_filed() -> None:
    filters = [Like("s", f"%user{number}%@example.com") for number in range(100)]
    chosen = patterns._chosen([tokens(each) for each in filters])
    assert chosen == [(1, b"user%d" % number) for number in range(100)]
    assert sorted(Patterns(filters).find("x user12 y@example.com")) == [1, 12]


def test_threads_share_an_index() -> None:
    filters = _crowd(200, seed=7)
    index = Patterns(filters)
    draw = random.Random(8)
    arrays = [pa.array(["".join(draw.choices("abcdé", k=12)) for _ in range(30)]) for _ in range(8)]
    with ThreadPoolExecutor(4) as threads:
        found = list(threads.map(index.find_rows, arrays * 4))
    for array, each in zip(arrays * 4, found, strict=True):
        assert pairs(each) == pairs(Patterns(filters).find_rows(array))


def test_without_compilation() -> None:
    suite = Path(__file__)
    members = suite.with_name("test_members.py")
    chosen = "(find or rows or vectors or thousand or root or surrogates) and not compilation"
    passes_as_plain_python(suite, members, chosen=chosen, examples=50)
