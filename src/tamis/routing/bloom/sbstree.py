"""The sbstree (specs/004 §5, thesis §5.3.2): a trie over the bits of filters in ascending order."""

from collections.abc import Iterator

from tamis.routing.bloom.forwarding import ForwardingTable, Places, register


class Node:
    """A beginning that filters have in common."""

    __slots__ = ("children", "slot")

    def __init__(self) -> None:
        self.children: dict[int, Node] = {}
        #: Of the filters that end here.
        self.slot: int | None = None


@register("sbstree")
class SbsTree(ForwardingTable):
    """An event follows the edges whose bits it has. Work grows with the beginnings that lie within its bits."""

    def __init__(self, bits: int) -> None:
        super().__init__(bits)
        self._root = Node()

    def insert(self, slot: int, places: Places) -> None:
        node = self._root
        for place in places:
            if place not in node.children:
                node.children[place] = Node()
            node = node.children[place]
        node.slot = slot

    def delete(self, slot: int, places: Places) -> None:  # noqa: ARG002 - the bits lead to it
        path = [self._root]
        for place in places:
            path.append(path[-1].children[place])
        path[-1].slot = None
        for place in reversed(places):
            node = path.pop()
            if node.children or node.slot is not None:
                return
            del path[-1].children[place]

    def found(self, places: Places) -> Iterator[int]:
        held = frozenset(places)
        waiting = [self._root]
        while waiting:
            node = waiting.pop()
            if node.slot is not None:
                yield node.slot
            # The intersection walks through the smaller of both.
            waiting += [node.children[place] for place in node.children.keys() & held]

    def layout(self) -> object:
        slots = self.slots()

        def seen(node: Node) -> object:
            return slots.get(-1 if node.slot is None else node.slot), {
                place: seen(child) for place, child in node.children.items()
            }

        return seen(self._root)
