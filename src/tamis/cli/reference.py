"""Checking what an index answers against the reference meaning of the language."""

from collections.abc import Iterable, Mapping
from typing import Any

import tamis


def missed_or_extra(
    conditions: Mapping[Any, tamis.Expression], event: Mapping[str, Any], found: Iterable[Any]
) -> list[Any]:
    """Return the ids on which an answer differs from evaluating every condition on the event."""
    expected = {id_ for id_, condition in conditions.items() if condition.matches(event)}
    return sorted(expected.symmetric_difference(found))
