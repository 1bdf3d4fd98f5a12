"""What telling costs: every message between two hosts is counted where it is sent (specs/003 §3, seed §7.1)."""

from typing import Final, NamedTuple

import numpy as np

from tamis.compiled import kernel
from tamis.notification.circle import Longs

#: [INF] Bytes of a message: a header, and so much for each attribute or id.
HEADER: Final = 20
ATTRIBUTE: Final = 8

#: What is summed up: messages between hosts, and their bytes.
HOPS: Final = 0
BYTES: Final = 1
#: By host: messages that it put into the network, and messages that it sent, those of others passed on included.
ORIGINATED: Final = 0
SENT: Final = 1


def size_of(attributes: int) -> int:
    """Return the bytes of a message with so many attributes."""
    return HEADER + attributes * ATTRIBUTE


class Cost(NamedTuple):
    """What one event, or one subscription that comes or goes, took."""

    hops: int
    bytes: int
    #: The most messages that originate at one host (seed §7.1, maximum node stress).
    stress: int
    #: The most messages that one host sends, those that it passes on included.
    sent: int


class Meter:
    """Counts of one method: of one operation at a time, and who sent how much to whom in all of them, the trace."""

    def __init__(self, hosts: int) -> None:
        #: From which host to which how many messages went, since the beginning.
        self.trace: Longs = np.zeros((hosts, hosts), np.int64)
        self.tally: Longs = np.zeros(2, np.int64)
        self.stress: Longs = np.zeros((hosts, 2), np.int64)

    def begin(self) -> None:
        """Count another operation."""
        self.tally[:] = 0
        self.stress[:] = 0

    def cost(self) -> Cost:
        """Return what was counted since `begin`."""
        originated, sent = self.stress.max(axis=0).tolist()
        return Cost(int(self.tally[HOPS]), int(self.tally[BYTES]), originated, sent)

    def forget(self) -> None:
        """Count everything from the beginning, the trace too."""
        self.trace[:] = 0
        self.begin()

    def send(self, source: int, target: int, attributes: int) -> None:
        """Count a message that originates at a host."""
        originate(self.stress, source)
        hop(self.trace, self.tally, self.stress, source, target, size_of(attributes))

    def pass_on(self, source: int, target: int, attributes: int) -> None:
        """Count a message that a host passes on."""
        hop(self.trace, self.tally, self.stress, source, target, size_of(attributes))

    def send_each(self, source: int, targets: Longs, attributes: int) -> None:
        """Count a message to each of many targets."""
        send_each(self.trace, self.tally, self.stress, source, targets, size_of(attributes))


@kernel
def originate(stress: Longs, host: int) -> None:
    """Count that a message originates at a host, whether it leaves it or not."""
    stress[host, ORIGINATED] += 1


@kernel
def hop(trace: Longs, tally: Longs, stress: Longs, source: int, target: int, size: int) -> None:
    """Count a message from host to host; what stays on a host costs nothing."""
    if source != target:
        trace[source, target] += 1
        tally[HOPS] += 1
        tally[BYTES] += size
        stress[source, SENT] += 1


@kernel
def send_each(trace: Longs, tally: Longs, stress: Longs, source: int, targets: Longs, size: int) -> None:
    """Count a message to each of many targets."""
    for target in targets:
        originate(stress, source)
        hop(trace, tally, stress, source, target, size)
