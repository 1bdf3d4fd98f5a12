from hypothesis import given
from hypothesis import strategies as st

from tamis.sketches import digest
from tamis.sketches.digest import MODULUS

texts = st.sets(st.text(max_size=4), max_size=8)


@given(texts, texts, st.integers(0, (1 << 64) - 1))
def test_equal_sets_have_equal_digests_and_others_do_not(one: set[str], other: set[str], salt: int) -> None:
    assert (digest(one, salt) == digest(other, salt)) == (one == other)
    assert digest(sorted(one), salt) == digest(sorted(one, reverse=True), salt)


@given(texts, texts, st.integers(0, 9))
def test_the_digest_of_a_union_is_the_sum(one: set[str], other: set[str], salt: int) -> None:
    both = digest(one | other, salt)
    assert (digest(one, salt) + digest(other - one, salt)) % MODULUS == both < MODULUS


def test_another_salt_is_another_digest() -> None:
    assert len({digest(["x > 3", "x > 4"], salt) for salt in range(100)}) == 100
