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
from tamis.client import Client, ClientError, DurableSubscription, Event, connect
from tamis.client.client import TOKEN
from tamis.healing import Ages
from tamis.language import ExpressionError
from tamis.language.limits import MAX_TEXT_BYTES
from tamis.server import Server, ServerSettings
from tamis.server.limits import MAX_SUBSCRIPTIONS, Limits
from tamis.server.log import to_stderr
from tamis.server.memory import return_large_blocks
from tamis.server.server import run, serve_until
from tamis.server.settings import DEFAULT_STRATEGY, STORE_AGE, STORE_SIZE
from tamis.server.store import StoreError
from tamis.wire import DEFAULT_PORT, DEFAULT_QUEUE, Slow

#: Events from standard input are published so many at a time.
AT_ONCE: Final = 1_000

Url = Annotated[str, typer.Option("--url", metavar="URL", help="The broker's address.")]
Token = Annotated[
    str | None,
    typer.Option("--token", envvar=TOKEN, metavar="TOKEN", help="For brokers that ask for one.", show_default=False),
]
Ca = Annotated[
    Path | None, typer.Option("--ca", metavar="FILE", help="Over TLS, trust the authorities in this file, in PEM.")
]
DEFAULT_URL: Final = f"tamis://localhost:{DEFAULT_PORT}"


def serve(
    host: Annotated[str, typer.Option(help="Address to listen on.")] = "127.0.0.1",
    port: Annotated[int, typer.Option(min=0, max=65535, help="Port to listen on; 0 for any free one.")] = DEFAULT_PORT,
    http: Annotated[
        int | None,
        typer.Option(
            min=0,
            max=65535,
            metavar="PORT",
            help="Serve HTTP and WebSocket too, on that port of the same address; 0 for any free one.",
            show_default=False,
        ),
    ] = None,
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
    tokens: Annotated[
        Path | None, typer.Option(metavar="FILE", help="Let in who has a token of this file (`tamis token new`).")
    ] = None,
    tls_cert: Annotated[
        Path | None, typer.Option(metavar="FILE", help="Speak TLS with this certificate (PEM).")
    ] = None,
    tls_key: Annotated[Path | None, typer.Option(metavar="FILE", help="The key of the certificate.")] = None,
    token: Token = None,
    ca: Ca = None,
    max_rate: Annotated[
        float | None, typer.Option(help="A client publishes at most so many events in a second.", show_default=False)
    ] = None,
    max_subscriptions: Annotated[int, typer.Option(help="A client has at most so many.")] = MAX_SUBSCRIPTIONS,
    max_condition: Annotated[int, typer.Option(help="A condition has at most so many bytes.")] = MAX_TEXT_BYTES,
    max_connections: Annotated[
        int | None, typer.Option(help="With tokens: a subject has at most so many.", show_default=False)
    ] = None,
    store: Annotated[
        Path | None,
        typer.Option(metavar="FILE", help="Keep durable events and subscriptions in this file.", show_default=False),
    ] = None,
    store_size: Annotated[
        int, typer.Option(metavar="BYTES", help="So much of the store is used at most; the oldest events are given up.")
    ] = STORE_SIZE,
    store_age: Annotated[
        float, typer.Option(metavar="SECONDS", help="Durable events that are older are given up.")
    ] = STORE_AGE,
    log_json: Annotated[bool, typer.Option("--log-json", help="Write the log as JSON, one object a line.")] = False,
    port_file: Annotated[
        Path | None, typer.Option(metavar="FILE", help="Write the address there once the broker listens.")
    ] = None,
) -> None:
    """Run a broker until it is told to stop (Ctrl-C, SIGTERM).

    Several brokers form an overlay: an event published at one reaches the subscribers of all. They must agree on
    strategy and options.

    `$ tamis serve`

    `$ tamis serve --port 7421 --join localhost:7420`

    `$ tamis serve --http 7480` and then http://localhost:7480/docs in a browser

    `$ tamis serve --store broker.store`
    """
    with bad_input_reported():
        try:
            settings = ServerSettings(
                host=host,
                port=port,
                http_port=http,
                name=name,
                join=tuple(join or ()),
                strategy=strategy,
                options=_options(option or []),
                ages=None if max_age is None else Ages(max_age=max_age),
                insecure=insecure,
                tokens=tokens,
                tls_cert=tls_cert,
                tls_key=tls_key,
                token=token,
                ca=ca,
                store=store,
                store_size=store_size,
                store_age=store_age,
                limits=Limits(
                    rate=max_rate,
                    subscriptions=max_subscriptions,
                    condition=max_condition,
                    connections=max_connections,
                ),
            )
            server = Server(settings, to_stderr(log_json))
        except ValueError as error:
            raise InputError(one_line(error)) from None

        def ready(server: Server) -> None:
            if port_file is not None:
                # Whoever waits for the file must not find half of it.
                part = port_file.with_name(port_file.name + ".part")
                part.write_text(server.url)
                part.replace(port_file)
            about: dict[str, Any] = {"strategy": server.strategy.name}
            if server.http is not None:
                about["http"] = server.http.url
            server.log.info("broker.listening", broker=server.name, url=server.url, **about)

        try:
            return_large_blocks()
            run(_served(server, ready))
        except StoreError as error:
            raise InputError(one_line(error)) from None
        except OSError as error:
            ports = f"{port}" if http is None else f"{port} and {http}"
            raise InputError(f"{host}:{ports}: {one_line(error)}") from None


async def _served(server: Server, ready: Any) -> None:
    loop = asyncio.get_running_loop()
    stop = asyncio.Event()
    for number in (signal.SIGINT, signal.SIGTERM):
        loop.add_signal_handler(number, stop.set)
    if server.accounts.are_asked or server.tls is not None:
        loop.add_signal_handler(signal.SIGHUP, server.reload)
    await serve_until(server, ready, stop)
    server.log.info("broker.stopped", broker=server.name)


def pub(
    event: Annotated[
        list[str] | None,
        typer.Argument(metavar="EVENT...", help="A JSON object, or NAME=VALUE pairs. Default: JSON lines from stdin."),
    ] = None,
    url: Url = DEFAULT_URL,
    durable: Annotated[
        bool, typer.Option("--durable", help="Wait until they are on disk; they reach every durable subscription.")
    ] = False,
    token: Token = None,
    ca: Ca = None,
) -> None:
    """Publish events.

    `$ tamis pub symbol=ACME price=12`

    `$ tamis pub '{"symbol": "ACME", "price": 12}'`

    `$ tamis pub < events.jsonl`
    """
    with bad_input_reported():
        given = [_event(event)] if event else _lines()
        run_client(_published(client_at(url, token, ca), given, durable))


def sub(
    condition: Annotated[str, typer.Argument(help="A condition, with a notify clause if you like.")] = "true",
    url: Url = DEFAULT_URL,
    count: Annotated[
        int | None, typer.Option("--count", min=1, help="Leave after so many events.", show_default=False)
    ] = None,
    slow: Annotated[
        str, typer.Option(metavar="POLICY", help="If events come too fast: disconnect, drop-oldest or drop-newest.")
    ] = "disconnect",
    durable: Annotated[
        str | None,
        typer.Option(
            metavar="NAME",
            help="Print the durable events that are kept under this name, and keep them while nobody does.",
            show_default=False,
        ),
    ] = None,
    unsubscribe: Annotated[
        bool, typer.Option("--unsubscribe", help="End the durable subscription for good, and print nothing.")
    ] = False,
    token: Token = None,
    ca: Ca = None,
    as_json: options.Json = False,
) -> None:
    """Subscribe, and print events as they come, one a line.

    `$ tamis sub "symbol = 'ACME' and price > 10"`

    `$ tamis sub "price > 10" --durable alerts`
    """
    with bad_input_reported():
        if slow not in ("disconnect", "drop-oldest", "drop-newest"):
            raise InputError(f"--slow {slow}: it is disconnect, drop-oldest or drop-newest")
        if unsubscribe and durable is None:
            raise InputError("--unsubscribe: say which one with --durable NAME")
        client = client_at(url, token, ca, slow)  # type: ignore[arg-type]
        if durable is not None and unsubscribe:
            run_client(_unsubscribed(client, condition, durable))
        else:
            run_client(_printed(client, condition, durable, count, as_json))


def client_at(
    url: str, token: str | None, ca: Path | None, slow: Slow = "disconnect", queue: int = DEFAULT_QUEUE
) -> Client:
    """Return a client; an address or a file that is none is an `InputError`."""
    try:
        return connect(url, token=token, ca=ca, slow=slow, queue=queue)
    except ValueError as error:
        raise InputError(one_line(error)) from None


async def _unsubscribed(at: Client, condition: str, durable: str) -> None:
    async with at as client:
        subscription = await client.subscribe(condition, durable=durable)
        await subscription.unsubscribe()
    remark(f"durable subscription {durable} has ended")


async def _published(to: Client, events: "Iterator[dict[str, Any]] | list[dict[str, Any]]", durable: bool) -> None:
    published = 0
    async with to as client:
        batch: list[dict[str, Any]] = []
        for event in events:
            batch.append(event)
            if len(batch) == AT_ONCE:
                published += len(await client.publish_many(batch, durable=durable))
                batch.clear()
        published += len(await client.publish_many(batch, durable=durable))
    remark(f"{published:,} published")


async def _printed(at: Client, condition: str, durable: str | None, count: int | None, as_json: bool) -> None:
    task = asyncio.current_task()
    assert task is not None
    loop = asyncio.get_running_loop()
    for number in (signal.SIGINT, signal.SIGTERM):
        loop.add_signal_handler(number, task.cancel)
    try:
        async with at as client, client.subscribe(condition, durable=durable, type=Event) as events:
            remark(f"subscribed to {condition}")
            seen = 0
            async for event in events:
                _print(event, as_json)
                if isinstance(events, DurableSubscription):
                    events.ack()
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


def run_client(work: Coroutine[Any, Any, None]) -> None:
    """Do something as a client; what goes wrong is told in one line."""
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
