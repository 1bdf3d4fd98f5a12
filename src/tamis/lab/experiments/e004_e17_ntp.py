"""Upper bounds or synchronised clocks? Figures 9.29 to 9.32 of the thesis (specs/004 §9, E17)."""

from random import Random
from statistics import median
from typing import Final

from tamis.lab.experiment import Context, Experiment, Figure, Outcome, Row, Scale, Series, Table
from tamis.lab.rings import GLOBAL, LOCAL, PERIOD, RINGS, Ring, travelled

EVENTS: Final = {Scale.QUICK: 150, Scale.FULL: 3_600}
DRAWN: Final = 300
#: [ours] What a host's NTP says of itself: a poll every 1024 s, the default once a clock is stable, of which some fail;
#: a root delay and a root dispersion in seconds; and what the kernel adds every second between polls, 500 ppm.
POLL: Final = 1024.0
FAILED: Final = 0.2
ROOT_DELAY: Final = (0.01, 0.06)
ROOT_DISPERSION: Final = (0.01, 0.05)
TOLERANCE: Final = 500e-6
#: The thesis: errors of the bound in the local ring, and by how much NTP's are larger; both alike in the global one.
PAPER_ERROR: Final = 0.05
PAPER_GAP: Final = 1.0


class Clock:
    """The error that one host's NTP admits to."""

    def __init__(self, random: Random) -> None:
        self._base = random.uniform(*ROOT_DELAY) / 2 + random.uniform(*ROOT_DISPERSION)
        self._polls = [-random.uniform(0, POLL)]
        while self._polls[-1] < 1e5:
            self._polls.append(self._polls[-1] + POLL * (1 + (random.random() < FAILED)))

    def error(self, time: float) -> float:
        """Return it at a time: it grows until the next poll."""
        return self._base + TOLERANCE * (time - max(each for each in self._polls if each <= time))


#: How many clocks' errors add up in a delay. The thesis subtracts the stamps of two processes.
CLOCKS: Final = 2
#: Other readings: the first host is both ends of the ring and has one clock; or every link is measured by two.
READINGS: Final = {1: "one clock", CLOCKS: "two clocks", 8: "two clocks for each of four links"}


def ntp_errors(ring: Ring, events: int, seed: int) -> list[float]:
    """Return the error that a host of a ring admits to when each event is published: the mean of all hosts."""
    random = Random(f"{seed} {ring.name}")  # noqa: S311 - a simulation, to be repeated
    clocks = [Clock(random) for _ in ring.hosts]
    return [sum(clock.error(number * PERIOD) for clock in clocks) / len(clocks) for number in range(events)]


def run(context: Context) -> Outcome:
    """Send events round both rings, and ask what NTP would have known."""
    events = EVENTS[context.scale]
    bounds: dict[str, list[float]] = {}
    ntp: dict[str, list[float]] = {}
    for done, ring in enumerate(RINGS):
        context.progress(done, len(RINGS))
        bounds[ring.name] = [each.error for each in travelled(ring, events, context.seed)]
        ntp[ring.name] = ntp_errors(ring, events, context.seed)
    context.progress(len(RINGS), len(RINGS))
    near, far = LOCAL.name, GLOBAL.name
    error = {ring: median(each) for ring, each in bounds.items()}
    said = {ring: CLOCKS * median(each) for ring, each in ntp.items()}
    return Outcome(
        rows=[
            Row("local: error of the bound, median", 1000 * error[near], 1000 * PAPER_ERROR, "ms", "order"),
            Row(
                "local: error of NTP, median, less that of the bound", said[near] - error[near], PAPER_GAP, "s", "order"
            ),
            Row("global: error of the bound / local", error[far] / error[near]),
            Row("global: error of NTP / error of the bound", said[far] / error[far], 1, good="order"),
            Row(
                "local and global: bounds below the true delay",
                sum(each < 0 for some in bounds.values() for each in some),
                0,
                good="exact",
            ),
        ],
        figure=Figure("event", "error, seconds", _series(bounds, ntp), log_y=True),
        notes=[
            "A simulation on both sides. The rings are those of 004-E16, with delays of our choice; so the size of the "
            "errors says what these delays allow, and only orders of magnitude can be compared. Delays of the global "
            "ring are ten times those of the local one because the thesis says so, and the error follows from that.",
            "NTP is a model of what a host says of itself (ntp_gettime): half of a root delay of "
            f"{_range(ROOT_DELAY)} and a root dispersion of {_range(ROOT_DISPERSION)}, drawn for each host, and "
            f"{1e6 * TOLERANCE:.0f} ppm of the time since the last poll, as the Linux kernel adds; a poll every "
            f"{POLL:g} s, of which {FAILED:.0%} fail.",
            "How many such errors add up the thesis does not say. It speaks of subtracting the stamps of two "
            "processes: two errors, which is what the rows have. We first added two for each of the four links, which "
            "is less kind to NTP; the table has all readings.",
            "The thesis has over a second for NTP in the local ring and about the same as the bound in the global one, "
            "so its German hosts must have been synchronised worse than those abroad. In our model hosts are alike, "
            "and NTP's error depends on the ring by chance alone.",
            "NTP's figure is an estimate that the true error may exceed. The bound is a promise.",
        ],
        tables=[
            Table("Errors, ms", ["", "least", "median", "largest"], _errors(bounds, ntp)),
        ],
    )


def _series(bounds: dict[str, list[float]], ntp: dict[str, list[float]]) -> list[Series]:
    series = []
    for ring in bounds:
        for name, values in (("bound", bounds[ring]), ("NTP", [CLOCKS * each for each in ntp[ring]])):
            drawn = values[:DRAWN]
            series.append(Series(name, [float(number) for number in range(1, len(drawn) + 1)], drawn, ring))
    return series


def _errors(bounds: dict[str, list[float]], ntp: dict[str, list[float]]) -> list[list[str | float | None]]:
    rows: list[list[str | float | None]] = [[f"{ring}, bound", *_spread(some)] for ring, some in bounds.items()]
    for ring, some in ntp.items():
        for count, name in READINGS.items():
            rows.append([f"{ring}, NTP, {name}", *(count * each for each in _spread(some))])
    return rows


def _spread(seconds: list[float]) -> list[float]:
    return [1000 * each for each in (min(seconds), median(seconds), max(seconds))]


def _range(seconds: tuple[float, float]) -> str:
    return f"{1000 * seconds[0]:g} to {1000 * seconds[1]:g} ms"


EXPERIMENT: Final = Experiment(
    id="004-E17",
    title="Upper bounds on delays against NTP",
    source="specs/004 §9 E17, Figures 9.29 to 9.32 of the thesis",
    setup="Events go round rings of four simulated hosts; the error of their bounds is compared with that of NTP.",
    run=run,
)
