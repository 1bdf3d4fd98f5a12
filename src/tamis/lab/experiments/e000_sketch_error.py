"""How often do Bloom filters say that different sets are equal? Figure 5.1 and Theorem 6 of Shen's thesis."""

from typing import Final

import numpy as np
import numpy.typing as npt

from tamis.lab.experiment import Context, Experiment, Figure, Outcome, Row, Scale, Series, Table
from tamis.sketches import dense_bytes, false_equality, pessimistic_false_equality

#: Items that both sets have, bits for each of them, and how many bits an item sets: the thesis' L1707.
ITEMS: Final = 1_000
BITS: Final = 4 * ITEMS
HASHES: Final = 2
#: So many items are in one set alone, or in each.
DIFFERENCES: Final = tuple(range(1, 11))
TRIALS: Final = {Scale.QUICK: 2_000, Scale.FULL: 100_000}
#: Bytes of an entry in a table (L1636).
ENTRY: Final = 50


def run(context: Context) -> Outcome:
    """Draw filters by chance, and compare how often they are equal with both estimates."""
    trials = TRIALS[context.scale]
    one_sided, two_sided = _drawn(trials, context)
    pessimistic = [pessimistic_false_equality(BITS, HASHES, ITEMS, each, 0) for each in DIFFERENCES]
    dependent = [false_equality(BITS, HASHES, ITEMS, each, 0) for each in DIFFERENCES]
    both = [pessimistic_false_equality(BITS, HASHES, ITEMS, each, each) for each in DIFFERENCES]
    three = DIFFERENCES.index(3)
    x = [float(each) for each in DIFFERENCES]
    return Outcome(
        rows=[
            Row("3 items in one set alone: Theorem 6", pessimistic[three], 0.001),
            Row("3 items in one set alone: bits that depend", dependent[three], 0.001),
            Row("3 items in one set alone: trials", one_sided[three], 0.001),
            Row("3 items in each set alone: Theorem 6", both[three], 0.001, tolerance=0.5),
            Row("3 items in each set alone: trials", two_sided[three], 0.001),
            Row("1 item in one set alone: trials", one_sided[0]),
            Row("1,000 entries as bits", dense_bytes(BITS), 4_000, "bytes", "smaller"),
            Row("1,000 entries of 50 bytes / as bits", ITEMS * ENTRY / dense_bytes(BITS), 100),
        ],
        figure=Figure(
            "items in one set alone",
            "share of false “equal”",
            [
                Series("Theorem 6", x, pessimistic),
                Series("bits that depend", x, dependent),
                Series("trials", x, one_sided),
                Series("trials, as many in each set", x, two_sided),
            ],
            log_y=True,
        ),
        tables=[
            Table(
                "Different sets that look equal",
                ["differences", "Theorem 6", "bits that depend", "trials", "trials, both sides"],
                [
                    [number, *figures]
                    for number, *figures in zip(DIFFERENCES, pessimistic, dependent, one_sided, two_sided, strict=True)
                ],
            )
        ],
        notes=[
            "The thesis' .001 for 3 differences is not what its own Theorem 6 gives for one side; with 3 private items "
            "on each side it comes near (specs/000 §8). Theorem 6 takes bits as independent, which is pessimistic.",
            "“4 times 10³” bytes for 1,000 entries (L1636) are bits: 500 bytes, a hundredth of the entries.",
            "At 4 bits for each item a single difference is missed in 15 of 100 rounds. So our exchange sends a digest "
            "of 8 bytes beside the bits: it decides, and the bits tell which items differ (`healing/summary.py`).",
            f"{trials:,} trials with bits drawn uniformly; items in common: {ITEMS:,}.",
        ],
    )


def _drawn(trials: int, context: Context) -> tuple[list[float], list[float]]:
    """Return how often sets with more and more differences look equal: on one side, and on both."""
    rng = np.random.default_rng(context.seed)
    most = DIFFERENCES[-1]
    one = np.zeros(most, np.int64)
    two = np.zeros(most, np.int64)
    for trial in range(trials):
        if trial % 1_000 == 0:
            context.progress(trial, trials)
        common = np.zeros(BITS, np.bool_)
        common[rng.integers(0, BITS, ITEMS * HASHES)] = True
        ours = rng.integers(0, BITS, (most, HASHES))
        theirs = rng.integers(0, BITS, (most, HASHES))
        one += np.logical_and.accumulate(common[ours].all(axis=1))
        two += [_equal(common, ours[:number], theirs[:number]) for number in DIFFERENCES]
    context.progress(trials, trials)
    return (one / trials).tolist(), (two / trials).tolist()


def _equal(common: npt.NDArray[np.bool_], ours: npt.NDArray[np.int64], theirs: npt.NDArray[np.int64]) -> bool:
    """Say whether two filters are equal that have some bits in common."""
    a = set(ours[~common[ours]].tolist())
    return a == set(theirs[~common[theirs]].tolist())


EXPERIMENT: Final = Experiment(
    id="000-sketch-error",
    title="Different sets that look equal",
    source="specs/000 §8, Theorem 6 and Figure 5.1 of the thesis (L1618-1707)",
    setup="Two Bloom filters of sets that differ in few items are compared bit for bit, again and again.",
    run=run,
)
