"""How much do clocks drift, and can it be measured over a network? Figures 3.3, 9.24 and 9.25 (specs/004 §9, E15)."""

from statistics import median, pstdev
from typing import Final

from tamis.lab.drifting import Host, Measured, Server, measured
from tamis.lab.experiment import Context, Experiment, Figure, Outcome, Row, Scale, Series, Table

#: The thesis: ten days, once an hour.
HOURS: Final = {Scale.QUICK: 48, Scale.FULL: 240}
#: No commodity clock is worse (thesis §3.2).
BOUND: Final = 100.0
#: [ours] The thesis says of the first two that they are stable, of the third that it fluctuates.
HOSTS: Final = (
    Host("ssvl.kth.se", 12.0, 0.2, 0.1),
    Host("iit-tech.net", -31.0, 0.3, 0.15),
    Host("uba.ar", 8.0, 1.0, 0.5, jumps=0.1, jump=25.0),
)
NEAR: Final = Server("a server near by", 0.01, 0.002)
PRINCETON: Final = Host("cs.princeton.edu", 21.0, 0.3, 0.15)
#: [ours] Ways from Princeton to Pennsylvania, California and Zurich.
SERVERS: Final = (
    Server("t1.timegps.net", 0.008, 0.002),
    Server("nist1.symmetricom.com", 0.035, 0.004),
    Server("swisstime.ethz.ch", 0.05, 0.005),
)


def run(context: Context) -> Outcome:
    """Let three hosts ask one server, and one host three servers."""
    hours, seed = HOURS[context.scale], context.seed
    points = [
        *((host, NEAR, hours, seed) for host in HOSTS),
        *((PRINCETON, server, hours, seed) for server in SERVERS),
    ]
    found = context.each(measured, points)
    hosts: dict[str, Measured] = {host.name: each for host, each in zip(HOSTS, found, strict=False)}
    servers = {server.name: each for server, each in zip(SERVERS, found[len(HOSTS) :], strict=True)}
    apart = [
        max(each.ppm for each in said) - min(each.ppm for each in said)
        for said in zip(*(each.found for each in servers.values()), strict=True)
    ]
    all_found = [*hosts.values(), *servers.values()]
    beyond = sum(
        abs(each.ppm - true) > each.error for one in all_found for each, true in zip(one.found, one.true, strict=True)
    )
    return Outcome(
        rows=[
            *(
                Row(f"{name}: standard deviation of the drift", pstdev(_ppm(found)), None, "ppm")
                for name, found in hosts.items()
            ),
            Row(
                f"drift and its error, largest of all hosts (thesis: at most {BOUND:g})",
                max(each.bound for one in hosts.values() for each in one.found) * 1e6,
                None,
                "ppm",
            ),
            Row("three servers: how far their drifts are apart, median", median(apart), None, "ppm"),
            Row("three servers: how far their drifts are apart, largest", max(apart), None, "ppm"),
            Row("true drifts that are farther from the estimate than its error", beyond),
        ],
        figure=Figure(
            "hours",
            "drift, ppm",
            [
                Series(name, [float(hour) for hour in range(1, hours + 1)], _ppm(found), panel)
                for panel, group in (("three hosts", hosts), ("one host, three servers", servers))
                for name, found in group.items()
            ],
        ),
        notes=[
            "A simulation. PlanetLab, of March 2009 or any other time, cannot be had: how the clocks drift is chosen "
            "here, two stable and one that jumps, because the thesis saw that. So are the delays. What is tested is "
            "the estimate: does it see what is there, through delays that differ between the way to a server and back?",
            "A clock drifts by a constant, a little more by day than by night, and wanders by chance; that of uba.ar "
            "besides jumps by up to 25 ppm, every ten hours on average. A server is asked once an hour, as by SNTP. "
            "The answer is taken to be from the middle of the round trip, so it is wrong by at most half of that, and "
            "the drift of an hour by the sum of two such errors: "
            f"{2 * (NEAR.way + NEAR.queue) / 3600e-6:.1f} ppm for a server near by, "
            f"{2 * (SERVERS[-1].way + SERVERS[-1].queue) / 3600e-6:.0f} ppm for one across the sea.",
            "The thesis says that three servers agree within a few ppm; its curves are lost. Ours agree as well, much "
            "better than their errors promise: only what differs between the ways there and back counts, and delays "
            "that are the same both ways, however long, do not.",
        ],
        tables=[
            Table(
                f"Drift over {hours} hours, ppm",
                ["clock, server", "mean", "true mean", "standard deviation", "least", "largest", "error, median"],
                [
                    [name, *_figures(found)]
                    for name, found in (
                        *((f"{name}, {NEAR.name}", found) for name, found in hosts.items()),
                        *((f"{PRINCETON.name}, {name}", found) for name, found in servers.items()),
                    )
                ],
            )
        ],
    )


def _ppm(found: Measured) -> list[float]:
    return [each.ppm for each in found.found]


def _figures(found: Measured) -> list[float]:
    ppm = _ppm(found)
    mean, true = sum(ppm) / len(ppm), sum(found.true) / len(found.true)
    return [mean, true, pstdev(ppm), min(ppm), max(ppm), median(each.error for each in found.found)]


EXPERIMENT: Final = Experiment(
    id="004-E15",
    title="Drift of clocks, measured over a network",
    source="specs/004 §9 E15, Figures 3.3, 9.24 and 9.25 of the thesis",
    setup="Simulated hosts ask simulated servers for the time once an hour, for ten days.",
    run=run,
    grid="counted",
)
