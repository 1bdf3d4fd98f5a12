"""How long do the leading engines take to build, how large do they get, and what does a second core give?

    python bench/engines.py [--subscriptions 1000000] [--engines pstbloom psthash] [--workloads be-gen-dense …]
    python bench/engines.py --engines atree --workloads abe-gen

Building starts from parsed expressions and is one thread; bytes are what `stats()` counts, all arrays and tables
of the engine. Matching runs on encoded events, on one thread and on all cores, in the same run.
"""

import argparse
import gc
import time

import msgspec

import tamis
from tamis.lab.workloads import generate, workloads
from tamis.matching.engine import make_engine
from tamis.matching.ranks import rank_engine
from tamis.matching.ranks.encoding import Encoded, encode
from tamis.matching.ranks.rank_engine import RankEngine

#: The bounds for a million subscriptions: seconds and gibibytes.
BOUNDS = {"be-gen-dense": (120, 2), "be-gen-sparse": (120, 2), "abe-gen": (180, 4)}
PASSES = 3


def matching_seconds(engine: RankEngine, events: Encoded, rows_per_thread: int) -> float:
    """Return the best wall time of a few passes, each thread getting at least so many rows."""
    rank_engine.ROWS_PER_THREAD, before = rows_per_thread, rank_engine.ROWS_PER_THREAD
    times = []
    for _ in range(PASSES):
        start = time.perf_counter()
        engine.match_encoded(events)
        times.append(time.perf_counter() - start)
    rank_engine.ROWS_PER_THREAD = before
    return min(times)


def main() -> None:
    """Measure and print one line per engine and workload."""
    arguments = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    arguments.add_argument("--subscriptions", type=int, default=1_000_000)
    arguments.add_argument("--events", type=int, default=2_000)
    arguments.add_argument("--engines", nargs="+", default=["pstbloom", "psthash"])
    arguments.add_argument("--workloads", nargs="+", default=["be-gen-dense", "be-gen-sparse"])
    chosen = arguments.parse_args()
    heads = f"{'build s':>9}{'µs each':>9}{'GiB':>7}{'bytes each':>12}{'µs/event':>10}{'all cores':>11}{'gain':>6}"
    print(f"{'workload':16}{'engine':12}{heads}")
    for name in chosen.workloads:
        spec = msgspec.structs.replace(workloads()[name], subscriptions=chosen.subscriptions, events=chosen.events)
        workload = generate(spec)
        rows = list(workload.events.rows())
        for engine_name in chosen.engines:
            expressions = [tamis.parse(text) for text in workload.conditions.texts().to_pylist()]
            engine = make_engine(engine_name)
            if not isinstance(engine, RankEngine):
                raise SystemExit(f"{engine_name} does not work on rank space")
            gc.disable()
            start = time.process_time()
            engine.add_many(range(len(expressions)), expressions)
            build = time.process_time() - start
            gc.enable()
            del expressions
            events = encode(engine.space, rows)
            engine.match_encoded(events)
            one = matching_seconds(engine, events, len(rows) + 1)
            all_cores = matching_seconds(engine, events, 1)
            size = engine.stats()["bytes"]
            count = chosen.subscriptions
            built = f"{build:9.1f}{build / count * 1e6:9.1f}{size / 2**30:7.2f}{size / count:12.0f}"
            matched = f"{one / len(rows) * 1e6:10.1f}{all_cores / len(rows) * 1e6:11.1f}{one / all_cores:6.2f}"
            print(f"{name:16}{engine_name:12}{built}{matched}", flush=True)
        if name in BOUNDS:
            seconds, gibibytes = (bound * chosen.subscriptions / 1_000_000 for bound in BOUNDS[name])
            print(f"{name:16}{'allowed':12}{seconds:9.1f}{'':9}{gibibytes:7.2f}", flush=True)


if __name__ == "__main__":
    main()
