"""What to do when a link goes that may come back: withdraw what lay behind it at once, or wait (specs/000 §9).

Whoever waits keeps its tables, and events still go to the dead end of the link in vain. Whoever withdraws tells all
brokers on its side, and all of them once more when the link returns. `strawman` withdraws at once, `static` at the next
tick of a timer, and `adaptive` when as many hops were in vain as withdrawing takes messages. A link that returns is
observed by both ends (`StabiliseLayer.observe`), so that each learns what it missed and nothing else.
"""

from typing import Final, Literal

import msgspec

from tamis.healing.layer import Layer
from tamis.healing.stabilise import StabiliseLayer
from tamis.routing.messages import (
    Action,
    Arrived,
    Deliver,
    Fired,
    Message,
    NeighbourDown,
    NeighbourUp,
    Record,
    Send,
    SetTimer,
)
from tamis.routing.packets import Idle, Name, Size, carried

TIMER: Final = "recovery"
#: No count that comes over a link is taken to be larger.
MOST: Final = 1 << 31


class Recovery(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True, omit_defaults=True):
    """When to withdraw what lay behind a link that has gone.

    With `adaptive`, hops in vain and messages of recovery together are at most 3 times what the best choice would have
    cost, had it known whether the link returns, plus the hops of one event (see `healing/costs.py`).
    """

    policy: Literal["strawman", "static", "adaptive"] = "adaptive"
    #: `static` withdraws at the next multiple of so many seconds.
    period: float = 10.0
    #: `adaptive` withdraws when more hops were in vain than so many times what withdrawing is taken to cost: 1 is at
    #: most 3 times the best if the link returns and 2 if not, 2 the other way round, and 2 ** .5 is 2.414 for both.
    threshold_mult: float = 1.0
    #: What withdrawing is taken to cost: a message to each broker on this side, or one for each item that goes.
    threshold_mode: Literal["subtree_size", "estimated_unsub_cost"] = "subtree_size"

    def __post_init__(self) -> None:
        if not self.period > 0:
            raise ValueError(f"ticks are more than 0 seconds apart, not {self.period}")
        if not self.threshold_mult >= 0:
            raise ValueError(f"a threshold is not negative: {self.threshold_mult}")


class RecoveryLayer(Layer):
    """Hides from a broker that a link has gone until that is worth the messages. For overlays that are trees."""

    def __init__(self, inner: StabiliseLayer, settings: Recovery) -> None:
        super().__init__(inner)
        self._stabilise = inner
        self._settings = settings
        #: Links that have gone and of which the broker does not know, with the hops that were in vain.
        self._gone: dict[Name, int] = {}
        #: How many brokers are behind each neighbour, and what each was told.
        self._sizes: dict[Name, int] = {}
        self._told: dict[Name, int] = {}

    def handle(self, message: Message, now: float) -> list[Action]:
        match message:
            case NeighbourDown(neighbour) if neighbour in self._stabilise.broker.neighbours:
                return self._link_gone(neighbour, now)
            case NeighbourUp(neighbour):
                return self._link_back(neighbour, now)
            case Fired(timer) if timer == TIMER:
                return [action for neighbour in list(self._gone) for action in self._withdraw(neighbour, now)]
            case Arrived(neighbour, Size(brokers)):
                self._sizes[neighbour] = min(max(brokers, 1), MOST)
                return self._tell_sizes()
            case Arrived(neighbour, Idle(hops, packet), age):
                inside = Arrived(neighbour, packet, age)
                return self._pass_on(inside, min(max(hops, 0), MOST) + 1, now)
            case Arrived(_, packet):
                return self._pass_on(message, 0 if carried(packet) is None else 1, now)
        return self._pass_on(message, 0, now)

    # --- links -------------------------------------------------------------------------------------------

    def _link_gone(self, neighbour: Name, now: float) -> list[Action]:
        self._gone[neighbour] = 0
        if self._settings.policy == "strawman":
            return self._withdraw(neighbour, now)
        if self._settings.policy == "static":
            period = self._settings.period
            return [SetTimer(TIMER, period - now % period, background=True)]
        return []

    def _link_back(self, neighbour: Name, now: float) -> list[Action]:
        kept = self._gone.pop(neighbour, None) is not None
        self._sizes.pop(neighbour, None)
        self._told.pop(neighbour, None)
        actions = [] if kept else self._pass_on(NeighbourUp(neighbour), 0, now)
        return [*actions, *self._stabilise.observe(neighbour), *self._tell_sizes()]

    def _withdraw(self, neighbour: Name, now: float) -> list[Action]:
        """Let the broker know that a link has gone."""
        del self._gone[neighbour]
        self._sizes.pop(neighbour, None)
        self._told.pop(neighbour, None)
        actions = self._pass_on(NeighbourDown(neighbour), 0, now)
        return [Record("withdrawals"), *actions, *self._tell_sizes()]

    # --- how large is my side? ---------------------------------------------------------------------------

    def _tell_sizes(self) -> list[Action]:
        """Tell each neighbour how many brokers are on this side, once all others have said so: from the leaves up."""
        if self._settings.policy != "adaptive":
            return []
        neighbours = self._stabilise.broker.neighbours
        missing = [each for each in neighbours if each not in self._sizes]
        total = 1 + sum(self._sizes[each] for each in neighbours if each in self._sizes)
        actions: list[Action] = []
        for each in neighbours:
            size = min(total - self._sizes.get(each, 0), MOST)
            if each not in self._gone and missing in ([], [each]) and self._told.get(each) != size:
                self._told[each] = size
                actions.append(Send(each, Size(size)))
        return actions

    def _threshold(self, neighbour: Name) -> float:
        near = (size for each, size in self._sizes.items() if each not in self._gone)
        cost = 1 + sum(near)
        if self._settings.threshold_mode == "estimated_unsub_cost":
            cost *= len(self._stabilise.broker.held(neighbour))
        return self._settings.threshold_mult * cost

    # --- events in vain ----------------------------------------------------------------------------------

    def _pass_on(self, message: Message, hops: int, now: float) -> list[Action]:
        """Let the broker handle a message; `hops` links were of no use to an event but to bring it here.

        They were of use if a client gets it or it goes on to several neighbours. [FIX] The source asks for two
        matching subscriptions (L1747), but one that is here is enough, and two in one direction are not.
        """
        answered = self.inner.handle(message, now)
        actions: list[Action] = []
        dead: list[Name] = []
        takers = 0
        for action in answered:
            if isinstance(action, Send) and action.neighbour in self._gone:
                if carried(action.packet) is not None:
                    dead.append(action.neighbour)
                continue
            takers += isinstance(action, Deliver) or (isinstance(action, Send) and carried(action.packet) is not None)
            actions.append(action)
        if not hops or takers > 1:
            return actions
        if takers:
            return [_idle(action, hops) for action in actions]
        for neighbour in dead:
            self._gone[neighbour] += hops
            actions.append(Record("in_vain", hops))
            if self._settings.policy == "adaptive" and self._gone[neighbour] > self._threshold(neighbour):
                actions += self._withdraw(neighbour, now)
        return actions


def _idle(action: Action, hops: int) -> Action:
    """Return an event's packet with its hops; a delivery is of use, and everything else stays what it is."""
    if isinstance(action, Send) and carried(action.packet) is not None:
        return Send(action.neighbour, Idle(hops, action.packet))
    return action
