"""Where the points of a grid run: here, one after the other, unless somebody knows a better place."""

from collections.abc import Callable, Sequence
from typing import Any, Final

#: Characters of an argument that are shown.
_WIDTH: Final = 200


class Spread:
    """Runs the points in this process, in their order."""

    #: What is added to the command that makes the same again.
    option: str = ""

    def run(
        self,
        work: Callable[..., Any],
        points: Sequence[tuple[Any, ...]],
        progress: Callable[[int, int], None],
    ) -> list[Any]:
        """Return what the work gives at every point, in their order. An error carries a note that names the point."""
        found: list[Any] = []
        for point in points:
            progress(len(found), len(points))
            try:
                found.append(work(*point))
            except Exception as error:
                error.add_note(f"at the point {named(point)}")
                raise
        progress(len(points), len(points))
        return found

    def remarks(self) -> list[str]:
        """Return what a reader of times has to know about where they were taken."""
        return []


def named(point: tuple[Any, ...]) -> str:
    """Return a point as it is told to people."""
    texts = map(repr, point)
    return ", ".join(text if len(text) <= _WIDTH else f"{text[:_WIDTH]}…" for text in texts)
