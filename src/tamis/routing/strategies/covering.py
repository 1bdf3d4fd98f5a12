"""Covering-based routing: a condition that another one covers is not sent (specs/004 §3, specs/000 §5)."""

from collections.abc import Collection

from tamis.covering import CoverTable
from tamis.routing.broker import Capabilities, Options
from tamis.routing.offers import Uncovered, suffice
from tamis.routing.packets import Name
from tamis.routing.registry import register
from tamis.routing.strategies.filtering import Filtering


class CoveringOptions(Options, frozen=True, kw_only=True):
    """The table that finds coverers: see `tamis.CoverTable`."""

    graph: str = "flat"
    k: int = 1
    detector: str = "kdtree"

    def __post_init__(self) -> None:
        CoverTable(self.graph, self.k, self.detector)


@register(
    "covering",
    Capabilities(
        exact=True,
        general=False,
        advertisements=False,
        summary="conditions that others cover stay behind; any tamis.CoverTable",
    ),
)
class Covering(Filtering):
    """Has a cover table for each neighbour, over everything that is offered to it."""

    Settings = CoveringOptions

    def __init__(self, name: Name, options: CoveringOptions) -> None:
        super().__init__(name, options)
        self._options = options

    def pruning(self) -> Uncovered:
        return Uncovered(self._options.graph, self._options.k, self._options.detector)

    def agrees(self, held: Collection[str], there: Collection[str], here: Collection[str]) -> bool:  # noqa: ARG002
        return set(held) <= set(there) and self._suffice(held, there)

    def _suffice(self, told: Collection[str], conditions: Collection[str]) -> bool:
        # In `ranges` several conditions cover one together.
        return self._options.graph == "ranges" or suffice(told, conditions)

    def check_invariants(self) -> None:
        super().check_invariants()
        for neighbour, offer in self.offers.items():
            assert self._suffice(offer.told, self.items_for(neighbour))
