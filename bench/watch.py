"""How much faster is a watch than asking everybody, and than two B-trees of interval ends?

    python bench/watch.py [--different 100000] [--same 50000] [--all 20000] [--watches 1000000] [--events 2000]
                          [--json FILE]

Workloads of specs/003 §4. Different radii: a truncated normal law on a grid of quarters, all told the same value first,
AR1(400, 1, 1000), after 20,000 events; Scan(r) is one NumPy pass over sorted arrays of interval ends, with run
detection. Same radius: 51,000, with centres round the first value, AR1(500, 1, 800). All radii: a tenth on whole cents
up to $100, the rest on whole dollars, a thousand ticks to the dollar, half of them arriving in between. CPU time of
all events, one structure after another on chunks of the same events; the B-trees are compiled as ours are. A set:
watches and updates by Zipf's law over 10,000 items, wall time on two cores, the best of three. Answers are compared;
a wrong one ends the run with an error.
"""

import argparse
from collections.abc import Callable, Iterator, Mapping
from pathlib import Path
from time import perf_counter, process_time
from typing import Any, Final

import numpy as np
import numpy.typing as npt
import pyarrow as pa

from harness.clock import on_cores
from harness.figures import Bar, Figure, at_least, at_most
from harness.report import tell
from tamis.notification import Structure, WatchSet, structure_class
from tamis.notification.structure import Row

Doubles = npt.NDArray[np.float64]

SEED: Final = 7
CORES: Final = 2
ITEMS: Final = 10_000
UPDATES: Final = 100_000
#: Events before the clock runs, and events that are timed at a time: long enough for a structure to find its data in
#: the caches again after the others had their turn.
SETTLED: Final = 20_000
CHUNK: Final = 500
PASSES: Final = 3
#: What is asked for: ranges against Scan(r), lists and a single radius against B-tree(lr), and seconds for a batch.
RANGES: Final = 20
LISTS: Final = 3
SAME: Final = 100
SECONDS: Final = 10.0

#: What is timed after each update.
Asked = Callable[[Any], object]


def main() -> None:
    """Measure, print a table for each question, and say whether the bars are reached."""
    arguments = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    arguments.add_argument("--different", type=int, default=100_000, help="subscriptions with different radii")
    arguments.add_argument("--same", type=int, default=50_000, help="subscriptions with one radius")
    arguments.add_argument("--all", type=int, default=20_000, help="subscriptions with any radii")
    arguments.add_argument("--watches", type=int, default=1_000_000, help="watches in the set")
    arguments.add_argument("--events", type=int, default=2_000, help="events that are timed")
    arguments.add_argument("--json", type=Path, metavar="FILE", help="write all figures there")
    chosen = arguments.parse_args()
    with on_cores(CORES) as enough:
        sections = {
            "different radii": different(chosen.different, chosen.events),
            "same radius": same(chosen.same, chosen.events),
            "all radii": all_radii(chosen.all, chosen.events),
            "set": watch_set(chosen.watches),
        }
        tell(sections, chosen.json, "" if enough else f"; there are no {CORES} cores")


def different(count: int, events: int) -> Iterator[Figure]:
    """A hundred thousand radii: ranges, and lists."""
    source = np.random.default_rng(SEED)
    drawn = source.normal(25_000, 50_000, 4 * count)
    radii = np.unique(np.round(drawn[(drawn >= 1) & (drawn <= 200_000)] * 4) / 4)
    radii = np.sort(source.choice(radii, min(count, len(radii)), replace=False))
    values = walk(source, SETTLED + events, 400, 1_000)
    first = make("radius-runs", [Row(number, r, r, 0.0, 0, 0) for number, r in enumerate(radii.tolist())], 0.0)
    for value in values[:SETTLED].tolist():
        first.update(value)
    rows = first.rows()
    names = ("radius-runs", "radius-tree", "two-level", "scan", "endpoints")
    judged = {name: make(name, rows, float(values[SETTLED - 1])) for name in names}
    yield from agreed("different radii", judged, values[SETTLED : SETTLED + events // 4])
    asked: dict[str, tuple[str, Asked]] = {
        "Scan(r), ranges": ("scan", lambda each: each.radius_ranges()),
        "B^A-tree(r), ranges": ("radius-tree", lambda each: each.radius_ranges()),
        "runs by centre, ranges": ("radius-runs", lambda each: each.radius_ranges()),
        "B-tree(lr), lists": ("endpoints", lambda each: each.affected()),
        "B^A-tree(r), lists": ("radius-tree", lambda each: each.affected()),
        "B²-tree(r,lid), lists": ("two-level", lambda each: each.affected()),
        "runs by centre, lists": ("radius-runs", lambda each: each.affected()),
    }
    made = {title: make(name, rows, float(values[SETTLED - 1])) for title, (name, _) in asked.items()}
    bars: dict[tuple[str, str], Bar | None] = {
        ("Scan(r), ranges", "B^A-tree(r), ranges"): None,
        ("Scan(r), ranges", "runs by centre, ranges"): at_least(RANGES),
        ("B-tree(lr), lists", "B^A-tree(r), lists"): at_least(LISTS),
        ("B-tree(lr), lists", "B²-tree(r,lid), lists"): at_least(LISTS),
        ("B-tree(lr), lists", "runs by centre, lists"): at_least(LISTS),
    }
    questions = {title: question for title, (_, question) in asked.items()}
    yield from raced("different radii", made, questions, values[SETTLED:], bars)


def same(count: int, events: int) -> Iterator[Figure]:
    """Fifty thousand subscriptions of one radius."""
    source = np.random.default_rng(SEED)
    radius = 51_000.0
    values = walk(source, events, 500, 800)
    centres = np.sort(np.clip(source.normal(0, 5_000, count), -radius / 2 + 1, radius / 2 - 1))
    rows = [Row(number, radius, radius, centre, number << 20, 0) for number, centre in enumerate(centres.tolist())]
    names = {"B-tree(lr), lists": "endpoints", "B-tree(c), lists": "centres"}
    names |= {"B^W-tree(lid), lists": "label-tree", "B^W-tree(lid), ranges": "label-tree"}
    judged = {name: make(name, rows, 0.0) for name in ("endpoints", "centres", "label-tree")}
    yield from agreed("same radius", judged, values)
    made = {title: make(name, rows, 0.0) for title, name in names.items()}
    questions: dict[str, Asked] = {title: lambda each: each.affected() for title in names}
    questions["B^W-tree(lid), ranges"] = lambda each: each.ranges()
    bars: dict[tuple[str, str], Bar | None] = {
        ("B-tree(lr), lists", "B^W-tree(lid), ranges"): at_least(SAME),
        ("B-tree(lr), lists", "B^W-tree(lid), lists"): None,
        ("B-tree(c), lists", "B^W-tree(lid), lists"): None,
    }
    yield from raced("same radius", made, questions, values, bars)


def all_radii(count: int, events: int) -> Iterator[Figure]:
    """Any radii, each subscription with its own centre."""
    source = np.random.default_rng(SEED)
    ticks = 1_000
    cents = source.integers(1, 10_000, count // 10) * ticks / 100
    dollars = np.clip(np.round(source.normal(20, 20, 4 * count)), 0, None)
    radii = np.append(cents, dollars[dollars >= 1][: count - len(cents)] * ticks)
    source.shuffle(radii)
    values = walk(source, SETTLED // 4 + events, 500, 800)
    ours = structure_class("two-level")()
    half = len(radii) // 2
    ours.add_many(range(half), radii[:half], radii[:half])
    late = np.array_split(np.arange(half, len(radii)), SETTLED // 4)
    for value, handles in zip(values[: SETTLED // 4].tolist(), late, strict=True):
        ours.update(value)
        ours.add_many(handles.tolist(), radii[handles], radii[handles])
    start, rows = float(values[SETTLED // 4 - 1]), ours.rows()
    names = {"B-tree(lr), lists": "endpoints", "B²-tree(r,lid), lists": "two-level", "B²-tree(r,lid)": "two-level"}
    judged = {name: make(name, rows, start) for name in ("endpoints", "two-level")}
    yield from agreed("all radii", judged, values[SETTLED // 4 :][: events // 4])
    made = {title: make(name, rows, start) for title, name in names.items()}
    questions: dict[str, Asked] = {title: lambda each: each.affected() for title in names}
    questions["B²-tree(r,lid)"] = lambda each: each.radius_ranges()
    bars: dict[tuple[str, str], Bar | None] = {
        ("B-tree(lr), lists", "B²-tree(r,lid), lists"): None,
        ("B-tree(lr), lists", "B²-tree(r,lid)"): None,
    }
    yield from raced("all radii", made, questions, values[SETTLED // 4 :], bars)


def raced(
    section: str,
    made: Mapping[str, Structure],
    questions: Mapping[str, Asked],
    values: Doubles,
    bars: Mapping[tuple[str, str], Bar | None],
) -> Iterator[Figure]:
    """Yield the time for an event of each structure, and how often one fits into another."""
    spent = dict.fromkeys(made, 0.0)
    # Compiled before the clock runs.
    for title, structure in made.items():
        structure.update(float(values[0]))
        questions[title](structure)
    size, events = len(next(iter(made.values()))), len(values) - 1
    for chunk in np.array_split(values[1:], max(1, events // CHUNK)):
        for title, structure in made.items():
            listed, question = chunk.tolist(), questions[title]
            start = process_time()
            for value in listed:
                structure.update(value)
                question(structure)
            spent[title] += process_time() - start
    for title, seconds in spent.items():
        yield Figure(section, "an event", size, title, seconds / events * 1e6, "µs")
    for (theirs, ours), bar in bars.items():
        yield Figure(section, f"{theirs} to {ours}", size, "peer to ours", spent[theirs] / spent[ours], "x", bar)


def watch_set(count: int) -> Iterator[Figure]:
    """Many watches over many items, and a batch of updates."""
    source = np.random.default_rng(SEED)
    weights = 1 / np.arange(1, ITEMS + 1)
    keys = np.array([f"item {number}" for number in range(ITEMS)])
    popular = source.choice(ITEMS, count, p=weights / weights.sum())
    radii = np.round(np.exp(source.normal(0.5, 1, count)), 2) + 0.01
    watches = WatchSet(by="symbol", on="price")
    start = perf_counter()
    watches.subscribe_many(range(count), keys[popular], radii)
    yield Figure("set", "Zipf", count, "bulk load", perf_counter() - start, "s")
    watches.update_many(pa.table({"symbol": keys, "price": np.full(ITEMS, 100.0)}))
    prices = np.full(ITEMS, 100.0)
    times, told = [], 0
    for number in range(PASSES):
        rows = source.choice(ITEMS, UPDATES, p=weights / weights.sum())
        values = np.empty(UPDATES)
        for row, (item, step) in enumerate(zip(rows.tolist(), source.normal(0, 0.2, UPDATES).tolist(), strict=True)):
            prices[item] = values[row] = round(max(1.0, prices[item] + step), 2)
        batch = pa.table({"symbol": keys[rows], "price": values})
        twin = WatchSet.restore(watches.snapshot()) if number == 0 and count <= UPDATES else None
        start = perf_counter()
        found = watches.update_many(batch)
        times.append(perf_counter() - start)
        told = len(found)
        if twin is not None and not np.array_equal(twin.update_many(batch).positions, found.positions):
            raise SystemExit("a set that was restored tells others than the one it was taken from")
    yield Figure("set", "Zipf", count, "notifications for an update", told / UPDATES)
    yield Figure("set", "Zipf", count, f"{UPDATES:,} updates", min(times), "s", at_most(SECONDS))
    yield Figure("set", "Zipf", count, "bytes for a watch", watches.stats()["bytes"] / count)


def walk(source: np.random.Generator, events: int, drift: float, deviation: float) -> Doubles:
    """Return a drifting random walk from 0 on: AR1(drift, 1, deviation)."""
    steps: Doubles = np.cumsum(drift + source.normal(0, deviation, events))
    return np.round(steps * 4) / 4


def make(name: str, rows: list[Row], value: float) -> Structure:
    """Return a structure in a state."""
    structure = structure_class(name)()
    structure.load(rows, value)
    return structure


def agreed(section: str, structures: Mapping[str, Structure], values: Doubles) -> Iterator[Figure]:
    """Yield how many an event affects, and in how many ranges; end the run if the structures do not agree."""
    affected = ranges = 0
    for value in values.tolist():
        answers = {}
        for name, structure in structures.items():
            structure.update(value)
            answers[name] = np.sort(structure.affected())
        expected = next(iter(answers.values()))
        for name, answer in answers.items():
            if not np.array_equal(answer, expected):
                raise SystemExit(f"{name} finds {len(answer)} affected by {value}, others {len(expected)}")
        affected += len(expected)
        ranges += max(structure.range_count for structure in structures.values())
    size = len(next(iter(structures.values())))
    yield Figure(section, "an event", size, "affected", affected / len(values))
    yield Figure(section, "an event", size, "ranges", ranges / len(values))


if __name__ == "__main__":
    main()
