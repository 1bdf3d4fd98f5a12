import sys

import pytest

from tamis.matching.segments.turns import TURN, in_short_turns, short_turns


def test_turns_are_short_meanwhile_and_as_before_afterwards() -> None:
    usual = sys.getswitchinterval()
    with short_turns():
        with short_turns():
            assert sys.getswitchinterval() == pytest.approx(TURN)
        assert sys.getswitchinterval() == pytest.approx(TURN)
    assert sys.getswitchinterval() == pytest.approx(usual)


def test_also_after_a_failure() -> None:
    usual = sys.getswitchinterval()

    @in_short_turns
    def fail() -> None:
        assert sys.getswitchinterval() == pytest.approx(TURN)
        raise RuntimeError

    with pytest.raises(RuntimeError):
        fail()
    assert sys.getswitchinterval() == pytest.approx(usual)
