"""Identity-based routing: equal conditions are sent over a link once (specs/004 §3)."""

from tamis.routing.broker import Capabilities
from tamis.routing.offers import Everything
from tamis.routing.registry import register
from tamis.routing.strategies.filtering import Filtering


@register(
    "identity",
    Capabilities(
        exact=True,
        general=False,
        advertisements=False,
        summary="as simple, but equal conditions go over a link once",
    ),
)
class Identity(Filtering):
    """Sends a condition over a link if and only if some other side wants it."""

    def pruning(self) -> Everything[str]:
        return Everything()

    def check_invariants(self) -> None:
        super().check_invariants()
        for neighbour, offer in self.offers.items():
            assert set(offer.told) == set(self.items_for(neighbour))
