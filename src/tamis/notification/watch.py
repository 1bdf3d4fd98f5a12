"""`tamis.Watch`: one value in, those who want to know out."""

from collections.abc import Iterable, Iterator
from typing import Any

from tamis.notification.affected import AffectedRange, Place, Relabelling
from tamis.notification.law import Law, checked_value
from tamis.notification.snapshot import Held, WatchState, decode, encode
from tamis.notification.structure import Structure, structure_class
from tamis.notification.wanted import Id, checked_id, checked_law, wanted, wanted_many


class Watch:
    """Subscriptions to one value. Each is told when the value is a radius away from what it was told last.

    Reaching the radius exactly is enough; a value that does not change is told to nobody. Who subscribes before there
    is a value is told the first one. Values and radii are doubles, and ends of intervals are rounded like any sum of
    doubles: count in whole ticks (cents, not euros) where decimal fractions have to be hit exactly.

    Every method either does what it says or raises and changes nothing. A watch is for one thread at a time.
    """

    def __init__(self, engine: str = "auto", relaxed: bool = False, trim: bool = False) -> None:
        """Make a watch without subscriptions.

        `engine`: one of `tamis.notification.structures()`. `relaxed`: a new subscription takes over what those with its
        radius were told last, so that radii alone describe who is affected. `trim`: of those that may be told, only
        such are as stand between two that must be.
        """
        self._engine, self._relaxed, self._trim = engine, relaxed, trim
        self._class = structure_class("two-level" if engine == "auto" else engine)
        self._value: float | None = None
        self._held: dict[tuple[Law, bool], Structure] = {}
        self._handles: dict[Id, tuple[Structure, int]] = {}
        self._ids: list[Id | None] = []
        self._free: list[int] = []
        self._ranges: list[AffectedRange] | None = []

    # --- subscriptions ------------------------------------------------------------------------------

    def subscribe(
        self,
        id: Id,
        radius: float | None = None,
        *,
        relative: float | None = None,
        factor: float | None = None,
        may: float | None = None,
    ) -> float | None:
        """Add a subscription; return the value that it is told at once, None if there is none yet.

        The radius is absolute, or `relative`, a share of what was told last (0.05 for 5 %), or a `factor` above 1, for
        which doubling is as far as halving. With `may`, which is measured like it, one may be told from there on if
        that spares the network a range, and must be at the radius.
        """
        asked = wanted(radius, relative, factor, may)
        self._check_new(checked_id(id))
        held = self._structure(asked.law, asked.loose)
        self._freeze()
        handle = self._free[-1] if self._free else len(self._ids)
        told = held.add(handle, asked.may, asked.must)
        self._enter([id], [handle], held)
        return told

    def subscribe_many(
        self, ids: Iterable[Id], radii: Any, *, law: Law = "absolute", mays: Any = None
    ) -> list[float | None]:
        """Add many subscriptions of one law, all or none; return what each is told at once."""
        listed = [checked_id(id) for id in ids]
        may, must = wanted_many(radii, checked_law(law), mays)
        if len(listed) != len(must):
            raise ValueError(f"{len(listed)} ids but {len(must)} radii")
        seen: set[Id] = set()
        for id in listed:
            self._check_new(id)
            if id in seen:
                raise ValueError(f"subscription {id!r} occurs twice")
            seen.add(id)
        held = self._structure(law, bool((may < must).any()))
        self._freeze()
        fresh = len(self._ids)
        reused = self._free[-1 : -len(listed) - 1 : -1]
        handles = [*reused, *range(fresh, fresh + len(listed) - len(reused))]
        told = held.add_many(handles, may, must)
        self._enter(listed, handles, held)
        return told

    def unsubscribe(self, id: Id) -> None:
        """Remove a subscription."""
        held, handle = self._known(id)
        self._freeze()
        held.remove(handle)
        del self._handles[id]
        self._ids[handle] = None
        self._free.append(handle)

    # --- values -------------------------------------------------------------------------------------

    def update(self, value: float) -> list[Id]:
        """Take a new value; return the ids of those who are told of it, in any order."""
        number = self._checked(value)
        self._value, self._ranges = number, None
        told: list[Id] = []
        for held in self._held.values():
            held.update(number)
            told += [self._ids[handle] for handle in held.affected().tolist()]
        return told

    def update_many(self, values: Iterable[float]) -> list[list[Id]]:
        """Take values one after another, all or none; return for each the ids of those who are told of it."""
        return [self.update(number) for number in [self._checked(value) for value in values]]

    def affected_ranges(self) -> list[AffectedRange]:
        """Return those whom the last update affected as ranges, for a content-driven network.

        `place` tells for each subscription where it stands; exactly those are affected whose place one of the ranges
        meets. Not every engine makes ranges: `TypeError`.
        """
        if self._ranges is None:
            self._ranges = [each for held in self._held.values() for each in held.ranges()]
        return list(self._ranges)

    def relabellings(self) -> list[Relabelling]:
        """Return how labels have changed since this was asked last: to be sent before any later ranges.

        Only a new subscription makes labels change, and only for those with its radius. Nothing is noted down for those
        who never ask: the first answer, and for each law the first after somebody asked for it, is empty.
        """
        return [each for held in self._held.values() for each in held.relabellings()]

    @property
    def value(self) -> float | None:
        """The last value; None if there was none."""
        return self._value

    def last_told(self, id: Id) -> float | None:
        """Return what a subscription was told last; None if it waits for the first value."""
        held, handle = self._known(id)
        return None if self._value is None else held.row(handle).centre

    def place(self, id: Id) -> Place:
        """Return where a subscription stands, in the terms of `affected_ranges`; not before the first value."""
        held, handle = self._known(id)
        if self._value is None:
            raise ValueError(f"subscription {id!r} has no place before the first value")
        return held.place(handle)

    def stats(self) -> dict[str, int]:
        """Return figures: `subscriptions`, and of the last update `affected`, `ranges` and `visits` of nodes."""
        held = self._held.values()
        return {
            "subscriptions": len(self),
            "affected": sum(each.affected_count for each in held),
            "ranges": sum(each.range_count for each in held),
            "visits": sum(each.visits for each in held),
        }

    # --- state --------------------------------------------------------------------------------------

    def snapshot(self) -> bytes:
        """Return everything that there is to know, so that `restore` goes on exactly from here."""
        kept = [
            Held(law, loose, held.serial, held.rows(), [(handle, *pair) for handle, pair in held.pending().items()])
            for (law, loose), held in self._held.items()
        ]
        state = WatchState(self._engine, self._relaxed, self._trim, self._value, self._ids, self._free, kept)
        return encode(state)

    @classmethod
    def restore(cls, snapshot: bytes) -> "Watch":
        """Return a watch as it was when a snapshot of it was taken."""
        state = decode(snapshot, WatchState)
        watch = cls(state.engine, state.relaxed, state.trim)
        watch._value, watch._ids, watch._free = state.value, list(state.ids), list(state.free)
        for kept in state.held:
            held = watch._make(kept.law, kept.loose)
            if state.value is not None:
                held.load(kept.rows, state.value)
            else:
                for handle, may, must in kept.pending:
                    held.add(handle, may, must)
            held.serial = kept.serial
            watch._held[kept.law, kept.loose] = held
            for handle in [row.handle for row in kept.rows] + [handle for handle, _, _ in kept.pending]:
                id = watch._ids[handle]
                assert id is not None
                watch._handles[id] = held, handle
        return watch

    def __len__(self) -> int:
        return len(self._handles)

    def __contains__(self, id: object) -> bool:
        return not isinstance(id, bool) and id in self._handles

    def __iter__(self) -> Iterator[Id]:
        return iter(self._handles)

    def check_invariants(self) -> None:
        """Raise `AssertionError` if something does not fit together."""
        assert sum(map(len, self._held.values())) == len(self)
        assert {self._ids[handle] for _, handle in self._handles.values()} == set(self._handles)
        for held in self._held.values():
            held.check_invariants()
            assert held.value == self._value

    # --- inside -------------------------------------------------------------------------------------

    def _structure(self, law: Law, loose: bool) -> Structure:
        held = self._held.get((law, loose))
        if held is None:
            held = self._make(law, loose)
            if self._value is not None:
                checked_value(self._value, law)
                held.load([], self._value)
            self._held[law, loose] = held
        elif law != "absolute" and self._value is not None:
            checked_value(self._value, law)
        return held

    def _make(self, law: Law, loose: bool) -> Structure:
        return self._class(law=law, relaxed=self._relaxed, loose=loose, trim=self._trim)

    def _checked(self, value: object) -> float:
        laws = [law for (law, _), held in self._held.items() if law != "absolute" and len(held)]
        number = checked_value(value, laws[0] if laws else "absolute")
        for held in self._held.values():
            held.check_value(number)
        return number

    def _freeze(self) -> None:
        """Keep the ranges of the last update, before the structures change."""
        if self._ranges is None and self._class.case.ranges:
            self.affected_ranges()

    def _check_new(self, id: Id) -> None:
        if id in self._handles:
            raise ValueError(f"subscription {id!r} is there already; unsubscribe it to change its radius")

    def _known(self, id: Id) -> tuple[Structure, int]:
        if id not in self:
            raise KeyError(f"there is no subscription {id!r}")
        return self._handles[id]

    def _enter(self, ids: list[Id], handles: list[int], held: Structure) -> None:
        for id, handle in zip(ids, handles, strict=True):
            if handle == len(self._ids):
                self._ids.append(id)
            else:
                self._ids[self._free.pop()] = id
            self._handles[id] = held, handle
