"""`tamis sim`: a network of brokers in virtual time."""

import importlib.util
from pathlib import Path
from typing import Annotated, Any, Final

import msgspec
import typer
from rich.table import Table
from rich.text import Text

from tamis.cli import options
from tamis.cli.errors import EXIT_WRONG, InputError, bad_input_reported
from tamis.cli.output import print_json, progress_bars, remark, stdout
from tamis.cli.settings import load
from tamis.cli.sim_chaos import Asked, print_chaos
from tamis.cli.sim_chaos import chaos as run_chaos
from tamis.cli.sim_chaos import shrink as shrink_chaos
from tamis.cli.sim_run import Plan, SimResult, Simulation, refusals_are_bad_input
from tamis.lab.experiment import DEFAULT_SEED
from tamis.routing.registry import strategies
from tamis.simulation import Faults, Link
from tamis.simulation.picture import FORMATS, draw
from tamis.simulation.replay import Difference, diff, replay

_DEFAULT_LINK: Final = Link()

app = typer.Typer(
    invoke_without_command=True,
    help="Simulate a network of brokers: topology, strategy, workload, faults.",
)


@app.callback()
def sim(
    context: typer.Context,
    topology: Annotated[
        str,
        typer.Option(
            metavar="NAME|FILE",
            help="line, heap, random-tree, degree, power-law, transit-stub; or a file: .json, .graphml, an edge list.",
        ),
    ] = "heap",
    brokers: Annotated[int, typer.Option(min=1, help="Brokers, unless the topology is a file.")] = 31,
    parameter: Annotated[
        list[str] | None, typer.Option(metavar="KEY=VALUE", help="Of the topology, such as degree=6.")
    ] = None,
    strategy: Annotated[str, typer.Option(metavar="NAME", help="As in `tamis sim strategies`.")] = "simple",
    option: Annotated[
        list[str] | None, typer.Option(metavar="KEY=VALUE", help="Of the strategy; the value is JSON or text.")
    ] = None,
    workload: Annotated[str, typer.Option(metavar="NAME", help="A workload of the lab.")] = "market",
    subscriptions: Annotated[int, typer.Option(min=1, help="Subscriptions at each broker.")] = 10,
    publishers: Annotated[
        int | None, typer.Option(min=1, help="Brokers with a publisher. Default: all.", show_default=False)
    ] = None,
    events: Annotated[int, typer.Option(min=1, help="Events published.")] = 1_000,
    rate: Annotated[float, typer.Option(min=1e-9, help="Events published in a second of virtual time.")] = 1_000,
    latency: Annotated[float, typer.Option(min=0, help="Seconds on a link.")] = _DEFAULT_LINK.latency,
    jitter: Annotated[float, typer.Option(min=0, help="Seconds added on a link by chance, at most.")] = 0,
    bandwidth: Annotated[
        float | None, typer.Option(min=1e-9, help="Bytes a second on a link. Default: no limit.", show_default=False)
    ] = None,
    loss: Annotated[float, typer.Option(min=0, max=1, help="Share of packets that get lost.")] = 0,
    reorder: Annotated[bool, typer.Option("--reorder", help="Let packets overtake each other on a link.")] = False,
    service: Annotated[float, typer.Option(min=0, help="Seconds a broker is busy with matching an event.")] = 0,
    drift: Annotated[float, typer.Option(min=0, max=0.5, help="By how much clocks go wrong, at most.")] = 0,
    faults: Annotated[
        Path | None, typer.Option(metavar="FILE", help="What goes wrong after the first event: .toml or .json.")
    ] = None,
    chaos: Annotated[
        str | None,
        typer.Option(
            metavar="PROFILE|FILE",
            help="Let everything go wrong and check what is promised: crashes, network, corruption, all; or a plan.",
        ),
    ] = None,
    cast: Annotated[
        str | None,
        typer.Option(metavar="NAME", help="With --chaos: who has to withstand it. Default: each in turn."),
    ] = None,
    hours: Annotated[float, typer.Option(min=0.01, help="With --chaos: hours of virtual time for each seed.")] = 1.0,
    seeds: Annotated[int, typer.Option(min=1, help="With --chaos: so many seeds, from --seed on.")] = 1,
    shrink: Annotated[
        Path | None,
        typer.Option(metavar="FILE", help="With --chaos: write the shortest plan that breaks the same promise."),
    ] = None,
    seed: Annotated[int, typer.Option(min=0, help="The same seed gives the same history.")] = DEFAULT_SEED,
    trace: Annotated[
        Path | None, typer.Option(metavar="FILE", help="Write everything that happens there, as JSON lines.")
    ] = None,
    picture: Annotated[
        Path | None, typer.Option(metavar="FILE", help="Draw the overlay with its traffic: .svg or .png.")
    ] = None,
    progress: options.Progress = None,
    as_json: options.Json = False,
) -> None:
    """Run a network of brokers in virtual time and count everything: deliveries, packets, matches, hops, latency.

    Every delivery is checked against the reference; a strategy that breaks its promise, with no faults and no
    loss to excuse it, makes the exit code 1.

    `$ tamis sim --topology degree --parameter degree=4 --brokers 100 --strategy advertisement --picture net.svg`

    With --chaos, overlays, clients and faults come from the seed; a promise that is broken makes the exit code 1.

    `$ tamis sim --chaos all --seeds 20`
    """
    if context.invoked_subcommand is not None:
        return
    if chaos is not None:
        asked = Asked(chaos=chaos, cast=cast, seed=seed, seeds=seeds, hours=hours)
        _run_chaos(asked, shrink, options.progress_mode(progress), as_json)
        return
    with bad_input_reported():
        settings = load(progress=options.progress_mode(progress))
        _check_picture(picture)
        with refusals_are_bad_input():
            plan = Plan(
                topology=topology,
                brokers=brokers,
                parameters=_pairs(parameter, "--parameter"),
                strategy=strategy,
                options=_pairs(option, "--option"),
                workload=workload,
                subscriptions=subscriptions,
                publishers=publishers,
                events=events,
                rate=rate,
                link=Link(latency=latency, jitter=jitter, bandwidth=bandwidth, loss=loss, ordered=not reorder),
                service=service,
                drift=drift,
                faults=Faults() if faults is None else Faults.load(faults),
                seed=seed,
            )
        simulation = Simulation(plan)
        result = simulation.run(trace, settings.progress)
        if picture is not None:
            with refusals_are_bad_input():
                draw(simulation.net, picture)
    if as_json:
        print_json(result)
    else:
        _print(result)
    for written in filter(None, (trace, picture)):
        remark(f"written: {written}")
    if result.kept_promises is False:
        remark(f"tamis: strategy {strategy!r} broke its promise: {_complaints(result)}")
        raise typer.Exit(EXIT_WRONG)


def _run_chaos(asked: Asked, shortest: Path | None, progress: str | None, as_json: bool) -> None:
    with bad_input_reported():
        settings = load(progress=progress)
        result = run_chaos(asked, settings.progress)
        if as_json:
            print_json(result)
        else:
            print_chaos(result)
        if shortest is not None:
            shrink_chaos(asked, shortest, settings.progress)
    if not result.kept_promises:
        raise typer.Exit(EXIT_WRONG)


@app.command("strategies")
def list_strategies(as_json: options.Json = False) -> None:
    """List the strategies and what they promise."""
    if as_json:
        print_json(strategies())
        return
    table = Table("strategy", "delivers", "overlay", "advertisements", "how")
    for name, promised in sorted(strategies().items()):
        table.add_row(
            name,
            "exactly" if promised.exact else "at least",
            "any" if promised.general else "tree",
            "needed" if promised.advertisements else "",
            promised.summary,
        )
    stdout().print(table)


@app.command("replay")
def replay_trace(
    trace: Annotated[Path, typer.Argument(metavar="FILE", help="Written with `tamis sim --trace`.")],
    progress: options.Progress = None,
    as_json: options.Json = False,
) -> None:
    """Tell fresh brokers what the brokers of a trace were told, and check that they answer the same.

    The exit code is 1 if they do not.
    """
    with bad_input_reported():
        settings = load(progress=options.progress_mode(progress))
        with progress_bars(settings.progress) as start_bar, refusals_are_bad_input():
            start_bar("Replaying")
            result = replay(trace)
    if as_json:
        print_json(result)
    elif result.difference is None:
        stdout().print(f"{result.records:,} records, {result.told:,} messages told: the same answers.")
    else:
        _print_difference(result.difference, "trace", "brokers")
    if result.difference is not None:
        raise typer.Exit(EXIT_WRONG)


@app.command("diff")
def diff_traces(
    one: Annotated[Path, typer.Argument(metavar="FILE", help="A trace.")],
    other: Annotated[Path, typer.Argument(metavar="FILE", help="Another.")],
    as_json: options.Json = False,
) -> None:
    """Show where two traces part; the exit code is 1 if they do."""
    with bad_input_reported(), refusals_are_bad_input():
        found = diff(one, other)
    if as_json:
        print_json(found)
    elif found is None:
        stdout().print("The traces are the same.")
    else:
        _print_difference(found, str(one), str(other))
    if found is not None:
        raise typer.Exit(EXIT_WRONG)


def _check_picture(path: Path | None) -> None:
    """Refuse before the run what cannot be drawn after it."""
    if path is None:
        return
    if path.suffix not in FORMATS:
        raise InputError(f"{path}: a picture is a file {' or '.join(FORMATS)}")
    if importlib.util.find_spec("matplotlib") is None:
        raise InputError("the picture needs matplotlib: pip install 'tamis[lab]'")


def _pairs(given: list[str] | None, flag: str) -> dict[str, Any]:
    pairs: dict[str, Any] = {}
    for text in given or []:
        key, equals, value = text.partition("=")
        if not (key and equals):
            raise InputError(f"{flag} {text}: it is written KEY=VALUE")
        try:
            pairs[key] = msgspec.json.decode(value)
        except msgspec.DecodeError:
            pairs[key] = value
    return pairs


def _complaints(result: SimResult) -> str:
    metrics = result.metrics
    return f"{metrics.missed} missed, {metrics.false_positives} unwanted, {metrics.duplicates} twice"


def _print_difference(found: Difference, one: str, other: str) -> None:
    console = stdout()
    console.print(f"The first difference is in line {found.line:,}.")
    lines = [(" ", line) for line in found.before]
    lines += [(one, found.one or "(the end)"), (other, found.other or "(the end)")]
    for label, line in lines:
        console.print(f"{label}: {line}" if label.strip() else f"  {line}", markup=False, soft_wrap=True)


def _print(result: SimResult) -> None:
    metrics = result.metrics
    title = f"{result.strategy} on {result.brokers:,} brokers, {result.links:,} links ({result.topology})"
    table = Table(title=title, show_header=False)
    table.add_column()
    table.add_column(justify="right")
    rows: list[tuple[str, str]] = [
        ("subscriptions", f"{result.subscriptions:,}"),
        ("events", f"{metrics.published:,}"),
        ("deliveries", f"{metrics.deliveries:,} of {metrics.expected:,} expected"),
        ("missed", f"{metrics.missed:,}"),
        ("false positives", f"{metrics.false_positives:,}"),
        ("duplicates", f"{metrics.duplicates:,}"),
        ("packets", f"{metrics.packets:,}"),
        *((f"  {kind}", f"{count:,}") for kind, count in metrics.packets_by_kind.items()),
        ("matches per event", f"{metrics.matches_per_event:.2f}"),
        ("brokers reached per event", f"{metrics.brokers_per_event:.2f}"),
        ("stored subscriptions per broker", f"{metrics.stored_mean:,.1f} (at most {metrics.stored_max:,})"),
    ]
    if metrics.accuracy is not None:
        rows.append(("routing accuracy", f"{metrics.accuracy:.1%}"))
    if metrics.destinations is not None:
        rows.append(("destinations named", f"{metrics.destinations.mean:.2f} (at most {metrics.destinations.max})"))
    if metrics.hops is not None:
        rows.append(("hops", f"{metrics.hops.mean:.2f} (at most {metrics.hops.max})"))
    if metrics.latency is not None:
        taken = (metrics.latency.mean, metrics.latency.p50, metrics.latency.p99, metrics.latency.max)
        mean, p50, p99, most = (f"{seconds * 1_000:,.2f}" for seconds in taken)
        rows.append(("latency", f"{mean} ms (half {p50}, 99 % {p99}, at most {most})"))
    if result.faults or metrics.lost:
        rows.append(("faults", f"{result.faults:,}"))
        rows.append(("packets lost", f"{metrics.lost:,}"))
        rows.append(("events not published, broker down", f"{result.unpublished:,}"))
    for name, value in rows:
        table.add_row(Text(name), value)
    console = stdout()
    console.print(table)
    console.print(f"{result.virtual_seconds:,.2f} s of virtual time in {result.seconds:.1f} s.", markup=False)
