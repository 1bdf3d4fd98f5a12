import os
import subprocess
import sys
import threading
import time

import pytest

from tamis.matching.segments import turns
from tamis.matching.segments.turns import LINGER, NICE, TURN, in_short_turns, short_turns, step_back


@pytest.fixture
def usual() -> float:
    """What is set while nothing is changed: a change of another test may have ended just now."""
    _settle()
    return sys.getswitchinterval()


def _settle() -> None:
    end = time.monotonic() + 60
    while any(thread.name == "tamis-turns" for thread in threading.enumerate()):
        assert time.monotonic() < end
        time.sleep(LINGER / 5)


def test_turns_are_short_meanwhile_and_soon_as_before(usual: float) -> None:
    with short_turns():
        with short_turns():
            assert sys.getswitchinterval() == pytest.approx(TURN)
        time.sleep(3 * LINGER)
        assert sys.getswitchinterval() == pytest.approx(TURN)
    _settle()
    assert sys.getswitchinterval() == pytest.approx(usual)


def test_whoever_comes_soon_finds_them_short(usual: float, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(turns, "LINGER", 10 * LINGER)
    for _ in range(3):
        with short_turns():
            pass
        assert sys.getswitchinterval() == pytest.approx(TURN)
    _settle()
    assert sys.getswitchinterval() == pytest.approx(usual)


def test_also_after_a_failure(usual: float) -> None:
    @in_short_turns
    def fail() -> None:
        assert sys.getswitchinterval() == pytest.approx(TURN)
        raise RuntimeError

    with pytest.raises(RuntimeError):
        fail()
    _settle()
    assert sys.getswitchinterval() == pytest.approx(usual)


def test_a_forked_process_puts_them_back_too() -> None:
    program = """
import os, sys, time
from tamis.matching.segments.turns import LINGER, short_turns
usual = sys.getswitchinterval()
with short_turns():
    child = os.fork()
if child == 0:
    with short_turns():
        pass
    end = time.monotonic() + 60
    while sys.getswitchinterval() < usual and time.monotonic() < end:
        time.sleep(LINGER)
    os._exit(sys.getswitchinterval() < usual)
sys.exit(os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]))
"""
    subprocess.run([sys.executable, "-W", "ignore", "-c", program], check=True, timeout=120)


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
