"""Is a packet one that a broker can take? What is on a link may be anything of the right form."""

from itertools import pairwise

from tamis.routing.conditions import is_canonical
from tamis.routing.packets import Adverts, AnyPacket, Filters, KeyedSubscriptions, Ranges, Subscriptions


def is_sound(packet: AnyPacket) -> bool:
    """Say whether a packet says something of which it can be seen what it means, true or not."""
    match packet:
        case Filters(remove, add) | Adverts(remove, add):
            return all(map(is_canonical, (*remove, *add)))
        case Subscriptions(remove, add):
            return all(is_canonical(each.condition) for each in (*remove, *add))
        case KeyedSubscriptions(remove, add):
            return all(is_canonical(each.condition) for each in (*remove, *(keyed.subscription for keyed in add)))
        case Ranges(remove, add):
            return all(_are_runs(pairs) for pairs in (remove, add))
        case _:
            return True


def _are_runs(pairs: tuple[tuple[int, int], ...]) -> bool:
    """Say whether these are runs in ascending order that do not meet."""
    within = all(0 <= first <= last < 1 << 63 for first, last in pairs)
    return within and all(one[1] < other[0] for one, other in pairwise(pairs))
