"""Who has to be told of which condition, under random changes."""

from hypothesis import given
from hypothesis import strategies as st

from tamis.routing.conditions import may_meet
from tamis.routing.destinations.demand import Demand, Group, Side
from tamis.routing.packets import Name

CONDITIONS = ("x > 3", "x < 2", "y = 1", "true")
ADVERTS = ("x > 5", "x = 1", "y <> 1")
SIDES: tuple[Side, ...] = (None, "c", "d")
TARGETS: tuple[tuple[Name, Name], ...] = (("c", 1), ("d", 2))
WANT = st.tuples(st.just("want"), st.sampled_from(SIDES), st.sampled_from([1, 2]), st.sampled_from(CONDITIONS))
OTHERS = st.sampled_from([(), (1,), (1, 2)])
OFFER = st.tuples(
    st.just("offer"), st.sampled_from(SIDES), st.sampled_from(ADVERTS), st.tuples(st.sampled_from(TARGETS), OTHERS)
)


@given(st.lists(st.one_of(WANT, OFFER), max_size=30))
def test_the_changes_add_up(history: list[tuple[str, Side, object, object]]) -> None:
    """Every entry is done or undone in turn; what is told must be what a count from scratch says."""
    held: dict[Side, dict[tuple[Name, str], None]] = {side: {} for side in SIDES}
    offered: dict[tuple[Side, str, Group], None] = {}
    demand = Demand(lambda side: list(held[side]))
    told: dict[tuple[Name, Name], set[str]] = {target: set() for target in TARGETS}
    for kind, side, one, two in history:
        if kind == "want":
            pair = (one, two)
            if pair in held[side]:
                del held[side][pair]
                demand.want(side, one, two, -1)  # type: ignore[arg-type]
            else:
                held[side][pair] = None  # type: ignore[index]
                demand.want(side, one, two, 1)  # type: ignore[arg-type]
        elif (side, one, two) in offered:
            del offered[side, one, two]  # type: ignore[arg-type]
            demand.withdraw(side, one, two)  # type: ignore[arg-type]
        else:
            offered[side, one, two] = None  # type: ignore[index]
            demand.announce(side, one, two)  # type: ignore[arg-type]
        demand.check_invariants()
        for target, gone, new in demand.take_changes():
            assert set(gone) <= told[target]
            assert not set(new) & told[target]
            told[target] = (told[target] - set(gone)) | set(new)
        for target in TARGETS:
            expected = {
                condition
                for side_, advert, (goal, others) in offered
                for holder, condition in held[side_]
                if goal == target and holder not in others and may_meet(advert, condition)
            }
            assert told[target] == expected == set(demand.told(target))
