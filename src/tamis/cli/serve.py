"""`tamis serve`: a broker. `tamis pub` and `tamis sub`: what its clients do, from the command line."""

import asyncio
import datetime as dt
import signal
import sys
from collections.abc import Coroutine, Iterator
from pathlib import Path
from typing import Annotated, Any, Final

import msgspec
import typer
from rich.text import Text

from tamis.cli import options
from tamis.cli.errors import EXIT_WRONG, InputError, bad_input_reported, one_line
from tamis.cli.output import remark, stdout
from tamis.client import ClientError, Event, connect
from tamis.healing import Ages
from tamis.language import ExpressionError
from tamis.server import Server, ServerSettings
from tamis.server.server import run, serve_until
from tamis.server.settings import DEFAULT_STRATEGY
from tamis.wire import DEFAULT_PORT, Slow

#: Events from standard input are published so many at a time.
AT_ONCE: Final = 1_000

Url = Annotated[str, typer.Option("--url", metavar="URL", help="The broker's address.")]
_DEFAULT_URL: Final = f"tamis://localhost:{DEFAULT_PORT}"


def serve(
    host: Annotated[str, typer.Option(help="Address to listen on.")] = "127.0.0.1",
    port: Annotated[int, typer.Option(min=0, max=65535, help="Port to listen on; 0 for any free one.")] = DEFAULT_PORT,
    name: Annotated[
        str | None, typer.Option(help="Unique in the overlay. Default: host name and port.", show_default=False)
    ] = None,
    join: Annotated[
        list[str] | None, typer.Option(metavar="HOST:PORT", help="Have a link to that broker; may be given again.")
    ] = None,
    strategy: Annotated[str, typer.Option(metavar="NAME", help="As in `tamis sim strategies`.")] = DEFAULT_STRATEGY,
    option: Annotated[
        list[str] | None, typer.Option(metavar="KEY=VALUE", help="Of the strategy; the value is JSON or text.")
    ] = None,
    max_age: Annotated[
        float | None,
        typer.Option(min=0, help="Bound the age of events; one is timely up to so many seconds.", show_default=False),
    ] = None,
    insecure: Annotated[
        bool, typer.Option("--insecure", help="Let other machines connect, although nobody is asked who it is.")
    ] = False,
    port_file: Annotated[
        Path | None, typer.Option(metavar="FILE", help="Write the address there once the broker listens.")
    ] = None,
) -> None:
    """Run a broker until it is told to stop (Ctrl-C, SIGTERM).

    Several brokers form an overlay: an event published at one reaches the subscribers of all. They must agree on
    strategy and options.

    `$ tamis serve`

    `$ tamis serve --port 7421 --join localhost:7420`
    """
    with bad_input_reported():
        try:
            settings = ServerSettings(
                host=host,
                port=port,
                name=name,
                join=tuple(join or ()),
                strategy=strategy,
                options=_options(option or []),
                ages=None if max_age is None else Ages(max_age=max_age),
                insecure=insecure,
            )
            server = Server(settings, remark)
        except ValueError as error:
            raise InputError(one_line(error)) from None

        def ready(server: Server) -> None:
            if port_file is not None:
                # Whoever waits for the file must not find half of it.
                part = port_file.with_name(port_file.name + ".part")
                part.write_text(server.url)
                part.replace(port_file)
            remark(f"broker {server.name} listens on {server.url}, strategy {server.strategy.name}")

        try:
            run(_served(server, ready))
        except OSError as error:
            raise InputError(f"{host}:{port}: {one_line(error)}") from None


async def _served(server: Server, ready: Any) -> None:
    loop = asyncio.get_running_loop()
    stop = asyncio.Event()
    for number in (signal.SIGINT, signal.SIGTERM):
        loop.add_signal_handler(number, stop.set)
    await serve_until(server, ready, stop)
    remark(f"broker {server.name} has stopped")


def pub(
    event: Annotated[
        list[str] | None,
        typer.Argument(metavar="EVENT...", help="A JSON object, or NAME=VALUE pairs. Default: JSON lines from stdin."),
    ] = None,
    url: Url = _DEFAULT_URL,
) -> None:
    """Publish events.

    `$ tamis pub symbol=ACME price=12`

    `$ tamis pub '{"symbol": "ACME", "price": 12}'`

    `$ tamis pub < events.jsonl`
    """
    with bad_input_reported():
        given = [_event(event)] if event else _lines()
        _run(_published(url, given))


def sub(
    condition: Annotated[str, typer.Argument(help="A condition, with a notify clause if you like.")] = "true",
    url: Url = _DEFAULT_URL,
    count: Annotated[
        int | None, typer.Option("--count", min=1, help="Leave after so many events.", show_default=False)
    ] = None,
    slow: Annotated[
        str, typer.Option(metavar="POLICY", help="If events come too fast: disconnect, drop-oldest or drop-newest.")
    ] = "disconnect",
    as_json: options.Json = False,
) -> None:
    """Subscribe, and print events as they come, one a line.

    `$ tamis sub "symbol = 'ACME' and price > 10"`
    """
    with bad_input_reported():
        if slow not in ("disconnect", "drop-oldest", "drop-newest"):
            raise InputError(f"--slow {slow}: it is disconnect, drop-oldest or drop-newest")
        _run(_printed(url, condition, count, slow, as_json))  # type: ignore[arg-type]


async def _published(url: str, events: "Iterator[dict[str, Any]] | list[dict[str, Any]]") -> None:
    published = 0
    async with connect(url) as client:
        batch: list[dict[str, Any]] = []
        for event in events:
            batch.append(event)
            if len(batch) == AT_ONCE:
                published += len(await client.publish_many(batch))
                batch.clear()
        published += len(await client.publish_many(batch))
    remark(f"{published:,} published")


async def _printed(url: str, condition: str, count: int | None, slow: Slow, as_json: bool) -> None:
    task = asyncio.current_task()
    assert task is not None
    loop = asyncio.get_running_loop()
    for number in (signal.SIGINT, signal.SIGTERM):
        loop.add_signal_handler(number, task.cancel)
    try:
        async with connect(url, slow=slow) as client, client.subscribe(condition) as events:
            remark(f"subscribed to {condition}")
            seen = 0
            async for event in events:
                _print(event, as_json)
                seen += 1
                if seen == count:
                    break
    except asyncio.CancelledError:
        return


def _print(event: Event, as_json: bool) -> None:
    if as_json:
        line: dict[str, Any] = {"id": event.id, "event": event.content}
        if event.age_bound is not None:
            line |= {"age_bound": event.age_bound, "timely": event.timely}
        typer.echo(msgspec.json.encode(line).decode())
        sys.stdout.flush()
        return
    shown = "  ".join(f"{name}={value}" for name, value in event.items())
    late = " late" if event.timely is False else ""
    now = dt.datetime.now(dt.UTC).strftime("%H:%M:%S")
    stdout().print(Text(f"{now}{late}  {shown}"), soft_wrap=True)


def _run(work: Coroutine[Any, Any, None]) -> None:
    try:
        run(work)
    except ExpressionError as error:
        raise InputError(error.one_line()) from None
    except (ValueError, TypeError) as error:
        raise InputError(one_line(error)) from None
    except ClientError as error:
        remark(f"tamis: {one_line(error)}")
        raise typer.Exit(EXIT_WRONG) from None


def _event(words: list[str]) -> dict[str, Any]:
    if len(words) == 1 and words[0].lstrip().startswith("{"):
        return _object(words[0], "the event")
    return _options(words)


def _lines() -> Iterator[dict[str, Any]]:
    for number, line in enumerate(sys.stdin, 1):
        if line.strip():
            yield _object(line, f"line {number}")


def _object(text: str, place: str) -> dict[str, Any]:
    try:
        return msgspec.json.decode(text, type=dict[str, Any])
    except msgspec.MsgspecError as error:
        raise InputError(f"{place} is no JSON object: {one_line(error)}") from None


def _options(given: list[str]) -> dict[str, Any]:
    found: dict[str, Any] = {}
    for text in given:
        key, equals, value = text.partition("=")
        if not (key and equals):
            raise InputError(f"{text}: it is written NAME=VALUE")
        try:
            found[key] = msgspec.json.decode(value)
        except msgspec.DecodeError:
            found[key] = value
    return found
