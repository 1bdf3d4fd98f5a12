"""How long brokers are busy: queues form before those that have much to do."""

from tamis.routing.messages import Action, Message, Record
from tamis.simulation.world import Service


def busy(per_message: float = 0.0, per_match: float = 0.0) -> Service:
    """Return service times: so many seconds for every message, and more each time an event is matched by content."""
    if per_message < 0 or per_match < 0:
        raise ValueError(f"service times are not negative: {per_message}, {per_match}")

    def seconds(message: Message, actions: list[Action]) -> float:  # noqa: ARG001
        matches = sum(action.value for action in actions if isinstance(action, Record) and action.metric == "matches")
        return per_message + per_match * matches

    return seconds
