from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import tamis
from support.strategies import events, expressions
from tamis.language import Expression, Xor
from tamis.matching.ranks.encoding import encode
from tamis.matching.ranks.forms import ALL, ANY, LEAF, SAME, Forms, begin_of, expanded
from tamis.matching.ranks.kernels import Predicates, meets
from tamis.matching.ranks.lists import Longs
from tamis.matching.ranks.space import Space


def value(codes: Longs, met: list[bool]) -> bool:
    """What a form says, spelled out; `met` tells it of each predicate."""
    ended: list[bool] = []
    stack: list[bool] = []
    for code in codes.tolist():
        number = code >> 2
        if code & 3 == LEAF:
            truth = met[number]
        elif code & 3 == SAME:
            truth = ended[number]
        else:
            parts = stack[-number:]
            del stack[-number:]
            truth = all(parts) if code & 3 == ALL else any(parts)
        ended.append(truth)
        stack.append(truth)
    (truth,) = stack
    return truth


def check_shape(codes: Longs) -> None:
    """Every connective has at least two parts, and they are there."""
    plain = expanded(codes).tolist()
    stack: list[int] = []
    for code in plain:
        tag, number = code & 3, code >> 2
        assert tag != SAME
        if tag != LEAF:
            assert number >= 2
            assert len(stack) >= number
            del stack[-number:]
        stack.append(tag)
    assert len(stack) == 1


@given(st.lists(expressions(), min_size=1, max_size=3), st.lists(events(), max_size=4))
def test_forms_say_what_the_expressions_say(written: list[Expression], seen: list[dict[str, Any]]) -> None:
    forms, space = Forms(), Space()
    known = [forms.write(each) for each in written]
    numbers, _ = space.take(forms.wanted, forms.uses())
    space.check_invariants()
    offsets, codes = forms.resolve(numbers)
    view = Predicates(space.rank, space.dimension, space.bounds.view())
    for event in seen:
        encoded = encode(space, [event])
        ranks = dict(zip(encoded.dimensions.tolist(), space.rank[encoded.leaves].tolist(), strict=True))
        met = [meets(each, ranks.get(int(space.dimension[each]), 0), view) for each in range(space.top)]
        number = 0
        for expression, constant in zip(written, known, strict=True):
            if constant is not None:
                assert expression.matches(event) == constant
                continue
            form = codes[offsets[number] : offsets[number + 1]]
            number += 1
            check_shape(form)
            for each in (form, expanded(form)):
                assert value(each, met) == expression.matches(event)


def test_nested_xor_stays_linear() -> None:
    sizes = []
    for depth in (10, 20):
        chain: Expression = tamis.parse("a0 = 1")
        for number in range(1, depth):
            chain = Xor(chain, tamis.parse(f"a{number} = 1 and b = 2"))
        forms = Forms()
        assert forms.write(chain) is None
        sizes.append(len(forms.codes))
    assert sizes[1] <= 2.2 * sizes[0]


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("a = 1 and (b = 2 and c = 3)", [LEAF, LEAF, LEAF, ALL]),
        ("not (a = 1 and b = 2) or c = 3", [LEAF, LEAF, LEAF, ANY]),
        ("a = 1 and (true or b = 2)", [LEAF]),
        ("a = 1 or (false and b = 2)", [LEAF]),
        ("(a = 1 or false) and b = 2", [LEAF, LEAF, ALL]),
    ],
)
def test_the_parts_of_a_form(text: str, expected: list[int]) -> None:
    forms = Forms()
    assert forms.write(tamis.parse(text)) is None
    assert [code & 3 for code in forms.codes] == expected


@pytest.mark.parametrize(
    ("text", "truth"),
    [("true", True), ("a = 1 and false", False), ("a is null or a is not null or true", True), ("a in (null)", False)],
)
def test_constants_have_no_form(text: str, truth: bool) -> None:
    forms = Forms()
    assert forms.write(tamis.parse(text)) is truth
    assert forms.offsets == [0]
    assert not forms.codes


def test_where_a_part_begins() -> None:
    forms = Forms()
    forms.write(tamis.parse("(a = 1 or b = 2) and c = 3 and (d = 4 or e = 5 or f = 6)"))
    codes = np.array(forms.codes, np.int64)
    assert [begin_of(codes, 0, place) for place in range(len(codes))] == [0, 1, 0, 3, 4, 5, 6, 4, 0]
