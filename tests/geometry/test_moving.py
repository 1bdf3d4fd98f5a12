import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from tamis.compiled import kernel
from tamis.geometry.integers import Longs
from tamis.geometry.moving import move


@kernel
def moved(row: Longs, source: int, target: int, count: int) -> None:
    move(row, source, target, count)


@given(st.integers(0, 8), st.integers(0, 8), st.integers(0, 8))
def test_compiled_and_plain_move_the_same(source: int, target: int, count: int) -> None:
    before = np.arange(16) * 3
    plain, compiled = before.copy(), before.copy()
    move(plain, source, target, count)
    moved(compiled, source, target, count)
    assert plain.tolist() == compiled.tolist()
    assert plain[target : target + count].tolist() == before[source : source + count].tolist()
    assert plain[:target].tolist() == before[:target].tolist()
    assert plain[target + count :].tolist() == before[target + count :].tolist()
