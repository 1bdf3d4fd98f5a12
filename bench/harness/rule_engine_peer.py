"""The package rule-engine put to rules: JSON in, JSON out. It may run in another environment than Tamis.

An attribute that an event has not is null, which rule-engine compares with nothing; hence the first test of a range.
Events are given with their nulls: it takes far longer to find out that something is missing.
"""

import json
import sys
from time import process_time

import rule_engine

PASSES = 3


def main() -> None:
    """Evaluate every rule on every event, the best of three passes."""
    given = json.load(sys.stdin)
    missing = dict.fromkeys(name for rule in given["rules"] for name, _, _ in rule)
    events = [missing | event for event in given["events"]]
    start = process_time()
    rules = [
        rule_engine.Rule(
            " and ".join(
                f"{name} == {low}" if low == high else f"{name} != null and {name} >= {low} and {name} <= {high}"
                for name, low, high in rule
            ),
        )
        for rule in given["rules"]
    ]
    build = process_time() - start
    times, matches = [], 0
    for _ in range(PASSES):
        start = process_time()
        matches = sum(1 for event in events for rule in rules if rule.matches(event))
        times.append(process_time() - start)
    print(json.dumps({"build_seconds": build, "match_seconds": min(times), "matches": matches}))


if __name__ == "__main__":
    main()
