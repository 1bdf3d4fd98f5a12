"""Does a durable event survive whatever happens to brokers and links?

    python bench/kills.py [--kills 100] [--brokers 5] [--seed 0]

Brokers with stores, each in a process of its own, are killed (kill -9) and started again under load, links between them
are cut, and subscribers replaced, at random moments. Afterwards no event may be missing that was acknowledged, none be
wrong, and those of each publisher be in order. What is broken is printed, and the exit status is 1.
"""

import argparse
import asyncio
import sys
from pathlib import Path
from tempfile import TemporaryDirectory

from harness.kills import FIVE, THREE, BrokenPromiseError, survive


def main() -> None:
    """Run and print what happened."""
    arguments = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    arguments.add_argument("--kills", type=int, default=100)
    arguments.add_argument("--brokers", type=int, choices=[3, 5], default=5)
    arguments.add_argument("--seed", type=int, default=0)
    chosen = arguments.parse_args()
    with TemporaryDirectory() as folder:
        links = FIVE if chosen.brokers == len(FIVE) else THREE
        try:
            outcome = asyncio.run(survive(Path(folder), links, chosen.kills, chosen.seed))
        except BrokenPromiseError as wrong:
            sys.exit(f"seed {chosen.seed}: {wrong}")
    for name, value in outcome._asdict().items():
        print(f"{name:14} {value:12,.1f}" if isinstance(value, float) else f"{name:14} {value:10,}")


if __name__ == "__main__":
    main()
