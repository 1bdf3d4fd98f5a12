"""Shen's G_k (specs/000 §5, Algorithms 4.1 and 4.2): every subscription knows at most k that cover it."""

from collections.abc import Collection, Iterable

from tamis.covering.graphs.crowd import Crowd
from tamis.covering.graphs.graph import UNCHANGED, Change, Graph, Relation, register


@register("flat")
class Flat(Graph):
    """Nothing is kept but enough reasons not to forward a subscription.

    A subscription without a known coverer is forwarded. Whoever comes later and covers it changes nothing, so more may
    be forwarded than is needed; and whoever lost some of its coverers gets new ones only when it has none left.
    In exchange an addition asks for coverers once, and with k = 1 a removal about once on average (Lemma 1).

    `strict` makes true what the source says of these graphs (its Property 1), namely that a subscription always knows
    k coverers, or all if they are fewer. That costs a comparison with everybody for each addition: an experiment.

    The source prints the withdrawal inside the loop over the children; it comes after it (specs/000 §5).
    """

    asks = True

    def __init__(self, relation: Relation, k: int = 1, strict: bool = False) -> None:
        super().__init__(relation)
        if k < 1:
            raise ValueError(f"k is {k}, but a subscription must know at least 1 coverer")
        self.k = k
        self.strict = strict
        #: Who covers one, and whom one covers: only if there is anybody.
        self._coverers: dict[int, set[int]] = {}
        self._covered: dict[int, set[int]] = {}
        self._forwarded: set[int] = set()
        self._everybody = Crowd()

    def add(self, handle: int) -> Change:
        for each in self.relation.coverers(handle, self.k):
            self._link(each, handle)
        withdraw = self._offer(handle) if self.strict else ()
        if handle in self._coverers:
            return Change((), withdraw) if withdraw else UNCHANGED
        self._forwarded.add(handle)
        return Change((handle,), withdraw)

    def _link(self, high: int, low: int) -> None:
        self._coverers.setdefault(low, set()).add(high)
        self._covered.setdefault(high, set()).add(low)

    def _offer(self, handle: int) -> tuple[int, ...]:
        """Make a newcomer a coverer of those that know too few; return who need not be forwarded any more."""
        withdraw: list[int] = []
        for each in self.relation.covered(self._everybody.array(), handle):
            if len(self._coverers.get(each, ())) < self.k:
                self._link(handle, each)
                if each in self._forwarded:
                    self._forwarded.remove(each)
                    withdraw.append(each)
        self._everybody.add(handle)
        return tuple(withdraw)

    def remove(self, handle: int) -> Change:
        if self.strict:
            self._everybody.remove(handle)
        for each in self._coverers.pop(handle, ()):
            self._covered[each].remove(handle)
            if not self._covered[each]:
                del self._covered[each]
        forward: list[int] = []
        for each in self._covered.pop(handle, ()):
            known = self._coverers[each]
            known.remove(handle)
            if known and not self.strict:
                continue
            for other in self.relation.coverers(each, self.k):
                if len(known) < self.k:
                    self._link(other, each)
            if not known:
                del self._coverers[each]
                self._forwarded.add(each)
                forward.append(each)
        if handle not in self._forwarded:
            return Change(tuple(forward)) if forward else UNCHANGED
        self._forwarded.remove(handle)
        return Change(tuple(forward), (handle,))

    def forwarded(self) -> Collection[int]:
        return self._forwarded

    def above(self, handle: int) -> Iterable[int]:
        return self._coverers.get(handle, ())

    def check_invariants(self) -> None:
        assert self._forwarded.isdisjoint(self._coverers)
        assert all(self._coverers.values())
        assert all(self._covered.values())
        edges = {(high, low) for low, known in self._coverers.items() for high in known}
        assert edges == {(high, low) for high, lows in self._covered.items() for low in lows}
        for high, low in edges:
            assert high != low
            assert high in self._forwarded or high in self._coverers
            assert self.relation.covers(high, low)
        everybody = self._forwarded | self._coverers.keys()
        for each in everybody:
            known = self._coverers.get(each, ())
            assert len(known) <= self.k
            if self.strict:
                there = [other for other in everybody if other != each and self.relation.covers(other, each)]
                assert len(known) == min(self.k, len(there))
