"""`tamis explain`: why does a condition match an event, or why not?"""

import sys
from typing import Annotated, Any

import msgspec
import typer

import tamis
from tamis.cli import options
from tamis.cli.errors import InputError, bad_input_reported, one_line, unknown
from tamis.cli.output import print_json, stdout
from tamis.cli.parse import parsed
from tamis.cli.tables.rejects import Rejects
from tamis.cli.tables.source import STANDARD_STREAM, Format, Source
from tamis.cli.tables.subscriptions import read_subscriptions


def explain(
    arguments: Annotated[
        list[str],
        typer.Argument(
            metavar="[CONDITION] EVENT",
            help="A condition, unless --id names one, and the event as a JSON object; - reads the event from "
            "standard input.",
        ),
    ],
    subscriptions: Annotated[
        str | None,
        typer.Option("--subscriptions", "-s", metavar="FILE", help="Take the condition from this table."),
    ] = None,
    subscriptions_format: Annotated[
        Format | None,
        typer.Option(metavar="FORMAT", help="csv, jsonl or parquet. Default: by suffix.", show_default=False),
    ] = None,
    subscription_id: Annotated[
        str | None, typer.Option("--id", metavar="ID", help="The subscription in that table.")
    ] = None,
    as_json: options.Json = False,
) -> None:
    """Explain, predicate by predicate, why an event meets a condition or not.

    The exit code is 0 either way; scripts read `matched` from --json.

    `$ tamis explain "price > 10 and symbol = 'ACME'" '{"price": 12, "symbol": "ACM"}'`

    `$ tamis explain -s rules.csv --id 17 '{"price": 12}'`
    """
    with bad_input_reported():
        if subscription_id is None or subscriptions is None:
            if subscription_id is not None or subscriptions is not None or len(arguments) != 2:
                raise InputError("give a condition and an event, or --subscriptions, --id and an event")
            condition = parsed(arguments[0])
        else:
            if len(arguments) != 1:
                raise InputError("with --id, give the event only")
            condition = _stored(Source.of(subscriptions, subscriptions_format), subscription_id)
        index = tamis.Index()
        index.add("condition", condition)
        explanation = index.explain("condition", _event(arguments[-1]))
    if as_json:
        print_json(explanation.to_dict())
    else:
        stdout().print(str(explanation), markup=False, soft_wrap=True)


class _RejectsButOne(Rejects):
    """Passes over refused subscriptions, except the one asked for: its reason is the answer."""

    def __init__(self, subscription_id: str) -> None:
        super().__init__()
        self._id = subscription_id

    def add(self, source: Source, row: int, reason: str, content: Any) -> None:
        if isinstance(content, dict) and str(content.get("id")) == self._id:
            raise source.bad(reason, row)
        super().add(source, row, reason, content)


def _stored(source: Source, subscription_id: str) -> tamis.Expression:
    rejects = _RejectsButOne(subscription_id)
    subscriptions = read_subscriptions(source, rejects, lambda _done, _total: None)
    by_text = {str(each.id): each.condition for each in subscriptions}
    if subscription_id not in by_text:
        raise unknown(f"id in {source.name}:", subscription_id, by_text)
    return by_text[subscription_id]


def _event(text: str) -> dict[str, Any]:
    try:
        event = msgspec.json.decode(sys.stdin.buffer.read() if text == STANDARD_STREAM else text)
    except (msgspec.DecodeError, UnicodeDecodeError) as error:
        raise InputError(f"the event is not JSON: {one_line(error)}") from None
    if not isinstance(event, dict):
        raise InputError('the event is not a JSON object such as {"price": 12}')
    return event
