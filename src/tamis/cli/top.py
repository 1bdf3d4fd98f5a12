"""`tamis top`: how a broker is, now and now."""

import asyncio
from contextlib import ExitStack
from typing import Annotated, Any, Final

import msgspec
import typer
from rich.console import Group, RenderableType
from rich.filesize import decimal
from rich.live import Live
from rich.table import Table
from rich.text import Text

from tamis.cli import options
from tamis.cli.errors import bad_input_reported
from tamis.cli.output import stdout
from tamis.cli.serve import DEFAULT_URL, Ca, Token, Url, client_at, run_client
from tamis.client import Client
from tamis.wire import Stats

#: Counters in the order in which they are shown, with what people call them.
COUNTS: Final = {
    "published": "events published",
    "matchings": "events compared",
    "delivered": "events delivered",
    "dropped": "events dropped",
    "refused": "requests refused",
}


def top(
    url: Url = DEFAULT_URL,
    every: Annotated[float, typer.Option(min=0.05, max=3600, help="Seconds between two looks.")] = 1.0,
    once: Annotated[bool, typer.Option("--once", help="Look twice, print once, and leave.")] = False,
    token: Token = None,
    ca: Ca = None,
    as_json: options.Json = False,
) -> None:
    """Watch a broker: rates, clients, links, subscriptions, and who is slow. Leave with Ctrl-C.

    Rates are those between two looks. With **--json** every look is one line. A broker that asks for tokens shows
    this to those who may administer it.

    `$ tamis top`

    `$ tamis top --once --json | jq .rates.delivered`
    """
    with bad_input_reported():
        client = client_at(url, token, ca)
        try:
            run_client(_watched(client, every, once, as_json))
        except KeyboardInterrupt:
            return


async def _watched(at: Client, every: float, once: bool, as_json: bool) -> None:
    console = stdout()
    async with at as client:
        before = await client.stats()
        with ExitStack() as stack:
            live = None
            if console.is_terminal and not once and not as_json:
                live = stack.enter_context(Live(Look(before, before).drawn(), console=console, screen=True))
            while True:
                await asyncio.sleep(every)
                now = await client.stats()
                look, before = Look(before, now), now
                if live is not None:
                    live.update(look.drawn(), refresh=True)
                elif as_json:
                    typer.echo(msgspec.json.encode(look.summary()).decode())
                elif once:
                    console.print(look.drawn())
                else:
                    console.print(look.line(), markup=False, soft_wrap=True)
                if once:
                    return


class Look:
    """What two answers of a broker tell: how it is, and what went on between them."""

    def __init__(self, before: Stats, now: Stats) -> None:
        self.now = now
        seconds = max(now.uptime - before.uptime, 1e-9)
        # A broker that has started anew counts from nothing.
        again = now.uptime < before.uptime or now.broker != before.broker
        self.rates = {
            name: 0.0 if again else (count - before.counts.get(name, 0)) / seconds for name, count in now.counts.items()
        }
        self.cpu = 0.0 if again else (now.cpu_seconds - before.cpu_seconds) / seconds

    def summary(self) -> dict[str, Any]:
        """Return all figures, for programs."""
        told = {name: value for name, value in msgspec.structs.asdict(self.now).items() if name != "number"}
        for name in ("links", "slow"):
            told[name] = [msgspec.structs.asdict(each) for each in told[name]]
        return {**told, "rates": self.rates, "cpu": self.cpu}

    def line(self) -> str:
        """Return the most important figures in one line."""
        now = self.now
        return (
            f"{now.broker}: {self.rates['published']:,.0f} published/s, {self.rates['delivered']:,.0f} delivered/s, "
            f"{now.clients:,} clients, {now.subscriptions:,} subscriptions, {len(now.links)} links, "
            f"{len(now.slow)} slow, {self.cpu:.0%} CPU"
        )

    def drawn(self) -> RenderableType:
        """Return all figures, for people."""
        now = self.now
        memory = "" if now.memory is None else f", {decimal(now.memory)} of memory"
        head = Text(
            f"broker {now.broker}, strategy {now.strategy}, up {_lasting(now.uptime)}, {self.cpu:.0%} CPU{memory}"
        )
        counts = Table("", title=f"{now.clients:,} clients, {now.subscriptions:,} subscriptions", title_justify="left")
        counts.add_column("a second", justify="right")
        counts.add_column("since the start", justify="right")
        for name, text in COUNTS.items():
            counts.add_row(text, f"{self.rates.get(name, 0.0):,.1f}", f"{now.counts.get(name, 0):,}")
        links = Table("broker", title=f"{len(now.links)} links", title_justify="left")
        links.add_column("waits", justify="right")
        for link in now.links:
            links.add_row(Text(link.broker), decimal(link.waiting_bytes))
        slow = Table("client", title="Slow subscribers", title_justify="left")
        for column in ("events wait", "bytes", "dropped"):
            slow.add_column(column, justify="right")
        for each in now.slow:
            slow.add_row(Text(each.client), f"{each.waiting:,}", decimal(each.waiting_bytes), f"{each.dropped:,}")
        return Group(head, counts, *([links] if now.links else []), *([slow] if now.slow else []))


def _lasting(seconds: float) -> str:
    minutes, rest = divmod(int(seconds), 60)
    hours, minutes = divmod(minutes, 60)
    return f"{hours}:{minutes:02}:{rest:02}"
