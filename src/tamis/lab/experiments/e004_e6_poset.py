"""Does an event travel faster by its prefix than by its content? Figures 9.11 to 9.13 (specs/004 §9, E5 and E6)."""

from collections.abc import Callable, Mapping, Sequence
from statistics import fmean
from typing import Any, Final, TypeAlias

import msgspec

from tamis.covering.graphs.poset import Poset
from tamis.lab.content import best_seconds
from tamis.lab.experiment import Context, Experiment, Figure, Outcome, Row, Scale, Series, Table
from tamis.lab.prefix import Load, load
from tamis.lab.text_poset import Texts, Walk
from tamis.lab.workloads.search_log import ATTRIBUTE, SearchLog
from tamis.routing.prefix import Filter, ForwardingTree, RoutingTree, Snapshot, Tags, extract
from tamis.routing.prefix.places import meeting, place

#: [ours] How many filters; the numbers of the figures are lost.
SIZES: Final = {Scale.QUICK: (200, 500), Scale.FULL: (1_000, 2_000, 5_000, 10_000)}
EVENTS: Final = {Scale.QUICK: 50, Scale.FULL: 300}
#: The mean probability that a query is in an event.
SHARES: Final = {Scale.QUICK: 0.01, Scale.FULL: SearchLog().mean_share}
#: So many more filters are inserted, and removed again, to see how long it takes.
MORE: Final = {Scale.QUICK: 20, Scale.FULL: 100}
#: Whose filters they are: as in the thesis' sets A (28 users with many queries) and B (users with ten queries each).
USERS: Final[Mapping[str, Callable[[int], int]]] = {
    "28 users": lambda number: number % 28,
    "ten queries each": lambda number: number // 10,
}
POSET, FORWARD, EXTRACT = "poset, match", "prefix, forward", "routing tree, match"
POSET_INSERT, TREE_INSERT = "poset, insert", "routing tree, insert"
#: The thesis: two orders of magnitude. Ours: at least so many times at the largest size.
PAPER_FASTER: Final = 100
AIM: Final = 20
#: The size of a forwarding tree is about 1 per mille of the number of filters (Figure 9.10).
PAPER_SHARE: Final = 1.0


# --- both sides -----------------------------------------------------------------------------------------


class Heat(msgspec.Struct, frozen=True):
    """What one size took: microseconds for an event or a filter, and the work for one."""

    #: By the users, then by the work.
    by_users: Mapping[str, Mapping[str, float]]
    insert: Mapping[str, float]
    #: Filters that the poset tests for an event; children that a routing tree without an index would test; nodes of the
    #: forwarding tree; filters that the event meets.
    poset_tests: float
    tree_tests: float
    prefix: float
    met: float
    #: The same for inserting a filter: pairs compared by the poset, children that there are on the way down the
    #: tree, and children that the tree's index of texts leaves to be compared.
    poset_pairs: float
    tree_children: float
    tree_pairs: float
    top: int
    height: int
    characters: float
    #: Pairs of event and user on which forwarding or the poset is wrong.
    wrong: int


Heats: TypeAlias = Mapping[int, Heat]


class Sides:
    """The same filters in a poset and in a routing tree."""

    def __init__(self, given: Load) -> None:
        self.given = given
        self.texts = [_text(each) for each in given.filters]
        self.relation = Texts()
        self.poset = Poset(self.relation)
        self.tree = RoutingTree()
        self.size = 0

    def grow(self, size: int) -> None:
        """Insert filters until there are so many."""
        for number in range(self.size, size):
            self.into_poset(number)
            self.tree.insert(self.given.filters[number])
        self.size = size

    def into_poset(self, number: int) -> None:
        """Insert one filter into the poset alone."""
        self.relation.texts[number] = self.texts[number]
        self.poset.add(number)

    def out_of_poset(self, number: int) -> None:
        """Remove it again."""
        del self.relation.texts[number]
        self.poset.remove(number)


def _text(wanted: Filter) -> str:
    needle = wanted[0].needle
    assert needle is not None
    return needle


def run(context: Context) -> Outcome:
    """Let both sides grow, and let them match, forward and insert in turns."""
    sizes, events, more = SIZES[context.scale], EVENTS[context.scale], MORE[context.scale]
    spec = SearchLog(subscriptions=max(sizes) + more, events=events, mean_share=SHARES[context.scale])
    sides = Sides(load(spec, context.seed))
    heats: dict[int, Heat] = {}
    for done, size in enumerate(sizes):
        context.progress(done, len(sizes))
        sides.grow(size)
        heats[size] = _heat(sides, size, more)
    context.progress(len(sizes), len(sizes))
    return Outcome(
        rows=_rows(heats),
        figure=Figure("filters", "time, µs", _series(heats), log=True),
        notes=_notes(heats, spec, more),
        tables=[_times(heats), _works(heats)],
    )


def _heat(sides: Sides, size: int, more: int) -> Heat:
    events = sides.given.events
    pages = [str(event[ATTRIBUTE]) for event in events]
    snapshot = sides.tree.snapshot()
    prefixes = [extract(snapshot, event) for event in events]
    held = {number: sides.texts[number] for number in range(size)}
    met = [[number for number, text in held.items() if text in page] for page in pages]
    by_users: dict[str, dict[str, float]] = {}
    wrong = tests = 0
    for users, user in USERS.items():
        walk, tags = Walk(sides.poset, held, user), _tagged(snapshot, sides.given.filters[:size], user)
        seconds = best_seconds(_works_of(walk, tags, snapshot, pages, prefixes, events))
        by_users[users] = {name: 1e6 * each / len(events) for name, each in seconds.items()}
        for page, prefix, numbers in zip(pages, prefixes, met, strict=True):
            right = {user(number) for number in numbers}
            wrong += len(right ^ walk.match(page)) + len(right ^ tags.forward(prefix))
        tests = sum(walk.tests(page) for page in pages)
    added = range(size, size + more)
    compared = sides.relation.compared
    for number in added:
        sides.into_poset(number)
    compared = sides.relation.compared - compared
    for number in added:
        sides.out_of_poset(number)
    ways = [_way(sides.tree, sides.given.filters[number]) for number in added]
    return Heat(
        by_users=by_users,
        insert={name: 1e6 * each / more for name, each in _insert_seconds(sides, added).items()},
        poset_tests=tests / len(events),
        tree_tests=fmean(_children(snapshot, each) for each in prefixes),
        prefix=fmean(map(len, prefixes)),
        met=fmean(map(len, met)),
        poset_pairs=compared / more,
        tree_children=fmean(children for children, _ in ways),
        tree_pairs=fmean(pairs for _, pairs in ways),
        top=len(sides.poset.forwarded()),
        height=sides.tree.height,
        characters=fmean(map(len, pages)),
        wrong=wrong,
    )


def _works_of(
    walk: Walk,
    tags: Tags[int],
    snapshot: Snapshot,
    pages: list[str],
    prefixes: list[ForwardingTree],
    events: list[dict[str, Any]],
) -> dict[str, Callable[[], object]]:
    return {
        POSET: lambda: [walk.match(page) for page in pages],
        FORWARD: lambda: [tags.forward(prefix) for prefix in prefixes],
        EXTRACT: lambda: [extract(snapshot, event) for event in events],
    }


def _insert_seconds(sides: Sides, added: range) -> dict[str, float]:
    filters = [sides.given.filters[number] for number in added]
    return best_seconds(
        {
            POSET_INSERT: lambda: [sides.into_poset(number) for number in added],  # type: ignore[func-returns-value]
            TREE_INSERT: lambda: [sides.tree.insert(wanted) for wanted in filters],
        },
        {
            POSET_INSERT: lambda: [sides.out_of_poset(number) for number in added],  # type: ignore[func-returns-value]
            TREE_INSERT: lambda: [sides.tree.remove(wanted) for wanted in filters],
        },
    )


def _tagged(snapshot: Snapshot, filters: Sequence[Filter], user: Callable[[int], int]) -> Tags[int]:
    tags: Tags[int] = Tags(snapshot)
    for number, wanted in enumerate(filters):
        tags.add(user(number), wanted)
    return tags


def _children(snapshot: Snapshot, prefix: ForwardingTree) -> int:
    """Return how many children the nodes of a prefix have: all are tested where they are not looked up."""
    count = len(snapshot.root.children)
    for path in prefix.paths():
        spot = snapshot.root
        for step in path:
            spot = spot.children[step]
        count += len(spot.children)
    return count


def _way(tree: RoutingTree, wanted: Filter) -> tuple[int, int]:
    """Return how many children a filter goes by on its way down, and with how many of them it is compared."""
    region, node = wanted[0], tree.root
    children = pairs = 0
    while True:
        children += sum(1 for odd in node.odd.values() for _ in odd)
        pairs += len(meeting(node, region))
        into = place(node, region).into
        if into is None or into.region == region:
            return children, pairs
        node = into


# --- what is told ---------------------------------------------------------------------------------------


def _rows(heats: Heats) -> list[Row]:
    rows: list[Row] = []
    for size, heat in heats.items():
        rows += [
            Row(
                f"{size:,} filters, {users}: poset / forwarding by the prefix, time",
                times[POSET] / times[FORWARD],
                PAPER_FASTER,
                good="order",
            )
            for users, times in heat.by_users.items()
        ]
    size, last = max(heats), heats[max(heats)]
    rows += [
        Row(
            f"{size:,} filters, {users}: forwarding by the prefix is {AIM} times faster (1 = yes)",
            float(times[POSET] >= AIM * times[FORWARD]),
            1.0,
            good="exact",
        )
        for users, times in last.by_users.items()
    ]
    for size, heat in heats.items():
        times = next(iter(heat.by_users.values()))
        rows += [
            Row(f"{size:,} filters: poset / routing tree, time to insert", _quotient(heat.insert)),
            Row(
                f"{size:,} filters: poset / routing tree, pairs compared to insert", heat.poset_pairs / heat.tree_pairs
            ),
            Row(f"{size:,} filters: poset / routing tree, time to match by content", times[POSET] / times[EXTRACT]),
            Row(
                f"{size:,} filters: poset / routing tree without an index, filters tested to match by content",
                heat.poset_tests / heat.tree_tests,
            ),
            Row(f"{size:,} filters: match by content / forward, both with the routing tree, time", _gain(heat)),
            Row(f"{size:,} filters: forwarding tree / filters", 1e3 * heat.prefix / size, PAPER_SHARE, "‰", "order"),
        ]
    rows.append(
        Row("pairs of event and user that are wrong on either side", sum(each.wrong for each in heats.values()))
    )
    return rows


def _quotient(insert: Mapping[str, float]) -> float:
    return insert[POSET_INSERT] / insert[TREE_INSERT]


def _gain(heat: Heat) -> float:
    times = next(iter(heat.by_users.values()))
    return times[EXTRACT] / times[FORWARD]


def _series(heats: Heats) -> list[Series]:
    x = [float(size) for size in heats]
    series = [
        Series(name, x, [heat.by_users[users][name] for heat in heats.values()], f"for an event, {users}")
        for users in USERS
        for name in (POSET, FORWARD, EXTRACT)
    ]
    series += [
        Series(name, x, [heat.insert[name] for heat in heats.values()], "for a filter")
        for name in (POSET_INSERT, TREE_INSERT)
    ]
    return series


def _notes(heats: Heats, spec: SearchLog, more: int) -> list[str]:
    size, last = max(heats), heats[max(heats)]
    each_test = 1e3 * next(iter(last.by_users.values()))[POSET] / last.poset_tests
    return [
        f"A synthetic log: queries of {spec.mean_words:g} words on average out of {spec.vocabulary:,}, whose "
        f"popularity is Zipf's with exponent {spec.exponent:g}; every query is a filter `query like '%...%'`. Each of "
        f"{spec.events:,} events is the text of some queries, each there with a probability of its own, "
        f"{spec.mean_share:g} on average. At {size:,} filters an event has {last.characters:,.0f} characters and meets "
        f"{last.met:,.1f} filters. The log of the thesis is personal and was not used. The mean probability was chosen "
        "so that forwarding trees have about 1 ‰ of the filters: that they have is no confirmation.",
        "Both sides are Python. The poset is Siena's Hasse diagram as Tamis has it, on a relation that does nothing "
        "but search one text in another. For matching it is laid out beforehand, and all filters below one that is met "
        "are tested by one call: a test is a search for a substring, and neither an evaluation of a condition nor a "
        f"step of the interpreter. It takes {each_test:,.0f} ns. "
        "Both sides return the users that get the event, and end early when all are found. Processor times, the "
        f"fastest of some passes in turns. To insert is timed on {more} filters that are removed again; what the tags "
        "of a broker take is not in it, nor is what the snapshot takes that the optimiser publishes.",
        f"The poset has {last.top:,} of {size:,} filters at the top and tests them all for every event. To forward is "
        f"to follow the {last.prefix:,.1f} numbers of the prefix, whatever the filters are. Its advantage grows with "
        "the filters, so a quotient without their number says little.",
        "The routing tree of Tamis finds children with texts by pieces of three letters; that of the thesis goes "
        "through all of them. So the times to insert and to match by content are those of the index as much as those "
        "of the tree. Without it, a tree tests nearly the filters that the poset tests (table): that matching by "
        "content is 'only marginally faster' follows from the counts. A poset with such an index would gain as much.",
        f"Against the tree's own matching with its index, the prefix is {_gain(last):,.1f} times faster at {size:,} "
        "filters; that is what it saves at each broker after the first, if all have the better index.",
    ]


def _times(heats: Heats) -> Table:
    names = (POSET, FORWARD, EXTRACT)
    return Table(
        "Time, µs",
        [
            "filters",
            *(f"{name}, {users}" for users in USERS for name in names),
            POSET_INSERT,
            TREE_INSERT,
        ],
        [
            [
                f"{size:,}",
                *(heat.by_users[users][name] for users in USERS for name in names),
                heat.insert[POSET_INSERT],
                heat.insert[TREE_INSERT],
            ]
            for size, heat in heats.items()
        ],
    )


def _works(heats: Heats) -> Table:
    return Table(
        "Work for an event, and for a filter to insert",
        [
            "filters",
            "event: filters met",
            "poset: filters tested",
            "tree without an index: children tested",
            "nodes of the forwarding tree",
            "filter: poset, pairs compared",
            "tree without an index: children on the way",
            "tree: pairs compared",
            "filters at the top of the poset",
            "height of the tree",
        ],
        [
            [
                f"{size:,}",
                heat.met,
                heat.poset_tests,
                heat.tree_tests,
                heat.prefix,
                heat.poset_pairs,
                heat.tree_children,
                heat.tree_pairs,
                heat.top,
                heat.height,
            ]
            for size, heat in heats.items()
        ],
    )


EXPERIMENT: Final = Experiment(
    id="004-E6",
    title="Forwarding by the prefix against matching a poset",
    source="specs/004 §9 E5 and E6, Figures 9.10 to 9.13 (thesis L4967-5110)",
    setup="Queries of a synthetic search log go into a routing tree and into Siena's poset; an event is forwarded by "
    "its prefix on the one side, and matched by its content on the other.",
    run=run,
)
