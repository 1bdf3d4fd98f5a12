"""B-tree(c): all centres in order, for one radius (specs/003 F3, seed §4.1)."""

from collections.abc import Sequence

import numpy as np

from tamis.notification.circle import Doubles, Longs
from tamis.notification.ordered import Ordered
from tamis.notification.structure import Case, Row, Structure, register


@register(
    "centres",
    Case(
        radii="same",
        ranges=False,
        loose=False,
        laws=("absolute", "factor"),
        summary="all centres in order, moved in blocks (B-tree(c), specs/003 F3, seed §4.1)",
    ),
)
class Centres(Structure):
    """Centres in order. Those affected are the first or the last ones; they are taken out and put back as one block.

    The seed looks centres up in `(d_old - r, d_new - r]`. Here they are compared by the ends of their intervals, which
    are in the same order, because the sum rounds otherwise than the difference.
    """

    def __init__(self, *args: object, **options: object) -> None:
        super().__init__(*args, **options)  # type: ignore[arg-type] # the same ones
        self._ordered = Ordered()
        #: By handle.
        self._centres: Doubles = np.empty(0)
        self._told: Longs = np.empty(0, np.int64)

    def affected(self) -> Longs:
        return self._told

    def row(self, handle: int) -> Row:
        assert self._only is not None
        return Row(handle, *self._only, float(self._centres[handle]), 0, 0)

    def rows(self) -> list[Row]:
        return [self.row(handle) for handle in self._ordered.pairs()[1].tolist()]

    def __len__(self) -> int:
        return len(self._ordered) + len(self._pending)

    def check_invariants(self) -> None:
        super().check_invariants()
        self._ordered.check_invariants()
        keys, handles = self._ordered.pairs()
        assert np.array_equal(keys, self._centres[handles])

    def _restore(self, rows: Sequence[Row]) -> None:
        self._put(np.array([row.handle for row in rows], np.int64), np.array([row.centre for row in rows]))

    def _insert(self, handles: Longs, mays: Doubles, musts: Doubles, value: float) -> list[float]:  # noqa: ARG002
        if self.relaxed and len(self._ordered):
            value = float(self._ordered.pairs()[0][0])
        self._put(handles, np.full(len(mays), value))
        return [value] * len(handles)

    def _put(self, handles: Longs, centres: Doubles) -> None:
        size = int(handles.max(initial=-1)) + 1
        if size > len(self._centres):
            self._centres = np.pad(self._centres, (0, max(size, 2 * len(self._centres)) - len(self._centres)))
        self._centres[handles] = centres
        self._ordered.add(centres, handles)

    def _delete(self, handle: int) -> None:
        one = np.array([handle])
        self._ordered.remove(self._centres[one], one)

    def _move(self, value: float | None) -> None:
        self._told = self._told[:0]
        if value is None or self._only is None:
            return
        radius = self._only[0]
        up = self._ordered.up_to(value, self.code, radius)
        down = self._ordered.down_to(value, self.code, radius)
        self._told = np.sort(np.append(up, down))
        self._centres[self._told] = value
        if len(up):
            self._rejoin(value, True)
        elif len(down):
            self._rejoin(value, False)
        self.affected_count = len(self._told)

    def _rejoin(self, value: float, last: bool) -> None:
        # Blocks need distinct keys round them; where the end has this centre already, one by one keeps the order.
        ends = self._ordered.ends()
        if ends is not None and value == ends[last]:
            self._ordered.add(np.full(len(self._told), value), self._told)
        else:
            self._ordered.put(value, self._told, last)

    def _first(self) -> None:
        self._told = self._ordered.pairs()[1]
        self.affected_count = len(self._told)
