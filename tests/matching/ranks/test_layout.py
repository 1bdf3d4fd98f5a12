import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from support.histories import crowded_conjunctions
from support.strategies import conjunctions
from tamis.language import Expression
from tamis.matching.ranks.layout import expand, layout, width
from tamis.matching.ranks.space import Space


@given(st.lists(crowded_conjunctions() | conjunctions(), max_size=8))
def test_kernels_see_the_leaves_that_a_predicate_covers(expressions: list[Expression]) -> None:
    space = Space()
    used = filter(None, space.acquire(expressions)[0])
    where, bounds = layout(space), space.bounds.view()
    buffer = np.empty(len(where.leaves), np.int32)
    for predicate in {each for predicates in used for each in predicates}:
        leaves = space.leaves_of(predicate).tolist()
        assert width(predicate, bounds, where) == len(leaves)
        assert buffer[: expand(predicate, bounds, where, buffer)].tolist() == leaves
