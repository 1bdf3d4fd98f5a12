"""Soft state: a broker believes what it was told for the time of a lease, and no longer (thesis §7, specs/004 §7).

Clients say again what they want and what they advertise. That travels the way of the first time, past brokers that know
it already, and renews a lease at each of them. What is not said again, because a client or a broker has gone without a
word, a packet got lost or a table is spoilt, is forgotten everywhere, each broker by itself, and no message is sent.
What was taken back in the usual way is forgotten at once.
"""

from typing import Final

from tamis.healing.layer import Layer
from tamis.healing.lease import Leases, LeaseTable
from tamis.routing import Machine
from tamis.routing.leasable import Leasable, Row
from tamis.routing.messages import Action, Arrived, Fired, Message, Record, Send, SetTimer
from tamis.routing.packets import Adverts, Filters, Offered, Refresh, Subscriptions, Wanted
from tamis.routing.registry import leasable

_END: Final = "leases: end"
_LOOK: Final = "leases: look"
#: The packets that are sent again and again. What is sent because something is wrong is none of them.
REPEATED: Final = (Filters, Subscriptions, Adverts, Offered, Wanted)
#: A lease ends when its last moment has passed.
MOMENT: Final = 1e-6
#: Each time so many intervals have passed, what is derived from tables is made anew, also if nothing looks wrong.
DERIVED: Final = 100


class LeaseLayer(Layer):
    """Leases all that a broker knows of its clients and of other brokers.

    Promised, if faults end and no refresh takes longer than the one before it by more than `interval - refresh +
    extension`: whatever was in the tables, every row that nobody refreshes is gone within two intervals and the
    longest extension, what follows from rows is right after an interval, and every row that somebody refreshes is
    there a period and the time of travel after that.
    """

    def __init__(self, inner: Machine, leases: Leases) -> None:
        """Stand around a broker. One whose strategy has no leases is a `ValueError`."""
        super().__init__(inner)
        if not (isinstance(inner, Leasable) and inner.soft):
            raise ValueError(
                f"this strategy ({type(inner).__name__}) keeps no soft state; these do: {', '.join(leasable())}; "
                "of advertisement that with trees=False"
            )
        self._broker = inner
        self._leases = leases
        #: What is leased, and until when.
        self.table: LeaseTable[Row] = LeaseTable(leases)
        self._now: float | None = None
        #: When the timer for the next end fires.
        self._alarm: float | None = None
        self._looks = 0

    def handle(self, message: Message, now: float) -> list[Action]:
        """Take a message; return what is to be done, in order."""
        actions: list[Action] = []
        if self._now is None:
            actions.append(SetTimer(_LOOK, self._leases.interval, background=True))
        elif now < self._now:
            self.table.rewind(now)
            self._alarm = None
        self._now = now
        for row in self.table.ended(now):
            actions += [*self._broker.lapse(row), Record("lapsed")]
        if isinstance(message, Fired) and message.timer == _END:
            self._alarm = None
        elif isinstance(message, Fired) and message.timer == _LOOK:
            self._look(now)
            actions.append(SetTimer(_LOOK, self._leases.interval, background=True))
        else:
            actions += self._told(message, now)
        end = self.table.next_end()
        if end is not None and (self._alarm is None or end < self._alarm):
            self._alarm = end
            actions.append(SetTimer(_END, max(end - now, 0.0) + MOMENT, background=True))
        return actions

    def _told(self, message: Message, now: float) -> list[Action]:
        """Let the broker handle a message, renew the leases of what it speaks of, and let that travel on."""
        age: float | None = 0.0
        again = False
        if isinstance(message, Arrived):
            age = message.age
            if isinstance(message.packet, Refresh):
                again = True
                message = Arrived(message.neighbour, message.packet.packet, age)
        gone, come = self._broker.spoken(message)
        known = {row for row in come if self._broker.holds(row)}
        if any(row in self.table and row not in known for row in come):
            # Somebody has spoilt a table. What is derived from it would be wrong for ever.
            self._broker.derive()
        actions = self.inner.handle(message, now)
        if again:
            actions = [_background(action) for action in actions]
        for row in gone:
            if not self._broker.holds(row):
                self.table.drop(row)
        for row in come:
            if self._broker.holds(row):
                used = self.table.grant(row, now, age)
                if used is not None:
                    actions += [Record("refreshes"), Record("utilisation", used)]
                if row in known:
                    # Whoever told it on when it was new does so again, although it is not new: a refresh that stopped
                    # where something is known would let the leases beyond run out.
                    actions += map(_background, self._broker.retell(row))
        return actions

    def _look(self, now: float) -> None:
        """Lease what has no lease, and forget leases of what is not there. Either is a sign of something wrong."""
        self._looks += 1
        rows = dict.fromkeys(self._broker.rows())
        leased = len(rows) == len(self.table) and all(row in self.table for row in rows)
        if not (leased and self._broker.fits()) or not self._looks % DERIVED:
            self._broker.derive()
            rows = dict.fromkeys(self._broker.rows())
        for row in [row for row in self.table if row not in rows]:
            self.table.drop(row)
        for row in rows:
            if row not in self.table:
                self.table.grant(row, now, None)

    def check_invariants(self) -> None:
        """Raise `AssertionError` if something does not fit together."""
        super().check_invariants()
        self.table.check_invariants()
        end = self.table.next_end()
        assert end is None or (self._alarm is not None and self._alarm <= end), "a lease would not end"


def _background(action: Action) -> Action:
    """Let what is sent because of a refresh be a refresh, so that an overlay is quiet in which nothing else moves."""
    if isinstance(action, Send) and isinstance(action.packet, REPEATED):
        return Send(action.neighbour, Refresh(action.packet))
    return action
