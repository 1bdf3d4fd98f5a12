import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from tamis.compiled import kernel
from tamis.matching.segments.cuts import Words
from tamis.matching.segments.vectors import WORDS, aligned, narrow

MASK = st.lists(st.integers(0, 2**64 - 1) | st.just(0), min_size=WORDS, max_size=WORDS)


@kernel
def narrowed(masks: Words, lower: int, upper: int) -> tuple[int, Words]:
    out = np.zeros(3 * WORDS, np.uint64)
    words = narrow(masks, np.uint64(0), masks, np.uint64(lower), np.uint64(upper), out, np.uint64(WORDS))
    return words, out


@given(MASK, MASK, MASK)
def test_narrow_keeps_what_is_in_one_mask_and_not_in_another(
    asked: list[int], lower: list[int], upper: list[int]
) -> None:
    masks = aligned(3)
    masks[:] = np.array(asked + lower + upper, np.uint64)
    words, out = narrowed(masks, WORDS, 2 * WORDS)
    left = [a & u & ~low for a, low, u in zip(asked, lower, upper, strict=True)]
    assert out.tolist() == [0] * WORDS + left + [0] * WORDS
    assert words == sum((each != 0) << at for at, each in enumerate(left))


def test_every_mask_is_one_line_of_the_cache() -> None:
    for masks in range(1, 20):
        room = aligned(masks)
        assert room.ctypes.data % 64 == 0
        assert len(room) == masks * WORDS
        assert not room.any()
