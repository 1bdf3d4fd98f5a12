"""Unicast: the server tells every subscription by itself (specs/003 §3, seed §2.3)."""

from collections.abc import Sequence

import numpy as np

from tamis.notification.affected import Relabelling
from tamis.notification.circle import Longs
from tamis.notification.structure import Structure
from tamis.simulation.content.forest import SERVER
from tamis.simulation.content.method import TOLD, Members, Method, register


@register("unicast", ("same", "different", "all"))
class Unicast(Method):
    """One message from the server to the broker of each subscription, with its id and the value."""

    def load(self, members: Members) -> None:
        """Nothing is kept outside of the server."""

    def tell(self, old: int, new: int, server: Structure) -> Longs:  # noqa: ARG002
        handles = server.affected()
        self.meter.send_each(SERVER, np.asarray(1 + handles % self._brokers), TOLD)
        return handles

    def _enter(self, member: Members, relabellings: Sequence[Relabelling]) -> None:  # noqa: ARG002
        self.meter.send(SERVER, self.home(int(member.handles[0])), TOLD)

    def _withdraw(self, member: Members) -> None:
        """The server has forgotten it."""

    def check_invariants(self) -> None:
        """Nothing is kept."""
