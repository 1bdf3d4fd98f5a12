"""What was freed goes back to the system."""

import platform
import subprocess
import sys

import pytest

from tamis.server.memory import LARGE, return_large_blocks

#: A block that is freed makes glibc take others of its size from what it keeps, unless it was told not to.
PROGRAM = f"""
import ctypes, sys
from tamis.server.memory import return_large_blocks
libc = ctypes.CDLL(None)
libc.malloc.restype = ctypes.c_void_p
libc.malloc.argtypes = [ctypes.c_size_t]
libc.free.argtypes = [ctypes.c_void_p]
class Info(ctypes.Structure):
    _fields_ = [
        (name, ctypes.c_size_t)
        for name in "arena ordblks smblks hblks hblkhd usmblks fsmblks uordblks fordblks keepcost".split()
    ]
libc.mallinfo2.restype = Info
if "told" in sys.argv:
    return_large_blocks()
libc.free(libc.malloc(8 << 20))
before = libc.mallinfo2().hblks
blocks = [libc.malloc(2 * {LARGE}) for _ in range(5)]
print(libc.mallinfo2().hblks - before)
"""


@pytest.mark.skipif(platform.libc_ver()[0] != "glibc", reason="it is about glibc")
def test_large_blocks_are_taken_from_the_system_one_by_one() -> None:
    for arguments, own in (([], "0"), (["told"], "5")):
        command = [sys.executable, "-c", PROGRAM, *arguments]
        done = subprocess.run(command, capture_output=True, text=True, check=True)
        assert done.stdout.strip() == own


def test_elsewhere_nothing_happens(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("ctypes.CDLL", lambda _name: object())
    return_large_blocks()
    monkeypatch.setattr("sys.platform", "darwin")
    return_large_blocks()
