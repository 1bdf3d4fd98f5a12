import os
import sys
import threading

import pytest

from tamis.matching.segments.turns import NICE, TURN, in_short_turns, short_turns, step_back


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


@pytest.mark.skipif(sys.platform != "linux", reason="only Linux tells threads apart")
def test_a_thread_stands_back_alone() -> None:
    found: list[int] = []

    def work() -> None:
        step_back()
        found.append(os.getpriority(os.PRIO_PROCESS, threading.get_native_id()))

    usual = os.getpriority(os.PRIO_PROCESS, threading.get_native_id())
    thread = threading.Thread(target=work)
    thread.start()
    thread.join()
    assert found == [min(usual + NICE, 19)]
    assert os.getpriority(os.PRIO_PROCESS, threading.get_native_id()) == usual
