"""The machine a figure was made on: a number without it means little (habit 10 of the design)."""

import os
import platform
from pathlib import Path

import msgspec

_CPU_INFO = Path("/proc/cpuinfo")


class Machine(msgspec.Struct, frozen=True):
    """Processor model, logical cores, main memory and Python version."""

    cpu: str
    cores: int
    memory_gib: float
    python: str

    def __str__(self) -> str:
        return f"{self.cpu}, {self.cores} cores, {self.memory_gib:.1f} GiB memory, Python {self.python}"


def this_machine() -> Machine:
    """Describe the machine we run on, as far as the system tells."""
    return Machine(_cpu_model(), os.cpu_count() or 1, _memory_bytes() / 2**30, platform.python_version())


def _cpu_model() -> str:
    if _CPU_INFO.exists():
        for line in _CPU_INFO.read_text().splitlines():
            key, _, value = line.partition(":")
            if key.strip() == "model name":
                return value.strip()
    return platform.processor() or platform.machine() or "unknown processor"


def _memory_bytes() -> int:
    if "SC_PHYS_PAGES" not in os.sysconf_names:
        return 0
    return os.sysconf("SC_PAGE_SIZE") * os.sysconf("SC_PHYS_PAGES")
