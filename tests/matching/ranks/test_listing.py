from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import tamis
from support.histories import crowded_conjunctions
from support.strategies import conjunctions, events
from tamis.language import Expression
from tamis.matching.ranks import listing as module
from tamis.matching.ranks.encoding import encode
from tamis.matching.ranks.kernels import Predicates, enter, leave, meets
from tamis.matching.ranks.listing import Listing, find_met
from tamis.matching.ranks.space import Space


class Listed:
    """A space all of whose predicates are listed, as an engine would keep it."""

    def __init__(self) -> None:
        self.space = Space()
        self.listing = Listing(self.space)

    def add(self, expressions: list[Expression]) -> list[int]:
        acquired, splits = self.space.acquire(expressions)
        self.listing.split(splits)
        used = [each for row in acquired if row is not None for each in row]
        self.listing.insert(np.array([each for each in sorted(set(used)) if each not in self.listing], np.int32))
        return used

    def remove(self, used: list[int]) -> None:
        for each in used:
            if self.space.uses[each] == 1:
                self.listing.remove([each])
            for merge in self.space.release([each]):
                self.listing.merge(merge)

    def met(self, event: dict[str, Any]) -> list[int]:
        encoded = encode(self.space, [event])
        view = Predicates(self.space.rank, self.space.dimension, self.space.bounds.view())
        ranks, out = np.zeros(self.space.dimensions, np.int32), np.zeros(self.space.top, np.int32)
        enter(0, encoded, view.rank, ranks)
        found = out[: find_met(0, encoded, ranks, self.listing.view(), view, out)].tolist()
        expected = [
            each
            for each in range(self.space.top)
            if each in self.listing and meets(each, int(ranks[self.space.dimension[each]]), view)
        ]
        assert sorted(found) == expected
        leave(0, encoded, ranks)
        return sorted(found)


@pytest.mark.parametrize("most", [1, 3, 256])
@given(history=st.lists(st.tuples(crowded_conjunctions() | conjunctions(), st.booleans()), max_size=10), seen=events())
@settings(max_examples=60)
def test_what_is_found_is_what_is_met(most: int, history: list[tuple[Expression, bool]], seen: dict[str, Any]) -> None:
    with pytest.MonkeyPatch.context() as patch:
        # Kernels are compiled with their constants, so the plain twin stands in for the one that has it.
        patch.setattr(module, "MOST_LEAVES", most)
        patch.setattr(module, "_choose", getattr(module._choose, "py_func", module._choose))
        listed = Listed()
        alive: list[list[int]] = []
        for expression, goes in history:
            alive.append(listed.add([expression]))
            if goes:
                listed.remove(alive.pop(0))
            listed.listing.check_invariants()
            listed.met(seen)
        for used in alive:
            listed.remove(used)
        listed.listing.check_invariants()
        assert not listed.listing._place.any()


def test_many_at_once() -> None:
    listed = Listed()
    texts = [f"x {operator} {number}" for operator in ("=", "<", ">=", "<>") for number in range(200)]
    texts += [f"x between {number} and {number + 40}" for number in range(100)]
    listed.add([tamis.parse(text) for text in texts])
    listed.listing.check_invariants()
    for number in (-1, 0, 77, 150.5, 199, 300):
        assert len(listed.met({"x": number})) == sum(tamis.parse(text).matches({"x": number}) for text in texts)


def test_a_predicate_that_comes_to_cover_many_leaves_is_moved_out_of_them() -> None:
    listed = Listed()
    listed.add([tamis.parse("x between 0 and 1000")])
    for number in range(0, 400, 2):
        listed.add([tamis.parse(f"x = {number}")])
    listed.listing.check_invariants()
    assert len(listed.met({"x": 4})) == 2
    assert len(listed.met({"x": 5})) == 1
