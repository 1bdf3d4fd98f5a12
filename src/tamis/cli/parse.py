"""`tamis parse`: what does a condition, or a whole subscription, mean to Tamis?"""

from collections.abc import Iterator
from contextlib import contextmanager
from typing import Annotated

import msgspec
import typer
from rich.table import Table
from rich.text import Text

import tamis
from tamis.cli import options
from tamis.cli.errors import EXIT_BAD_INPUT
from tamis.cli.output import print_json, remark, stdout


class Parsed(msgspec.Struct, frozen=True):
    """A condition taken apart, with its `notify` clause if it has one."""

    condition: str
    attributes: list[str]
    normal_form: str
    notify: tamis.Notify | None
    warnings: list[str]


def parse(
    text: Annotated[str, typer.Argument(metavar="TEXT", help="A condition in SQL, or one with a notify clause.")],
    as_json: options.Json = False,
) -> None:
    """Check a condition: its canonical text, attributes, normal form and warnings.

    A text that is not a condition shows a caret under the place, with exit code 2.

    `$ tamis parse "price between 10 and 20 and not symbol in ('A', 'B')"`
    """
    with _caret_shown():
        subscription = tamis.parse_subscription(text)
    expression = subscription.condition
    result = Parsed(
        str(expression),
        sorted(expression.attributes),
        str(expression.normalized()),
        subscription.notify,
        _warnings(expression),
    )
    if as_json:
        print_json(result)
        return
    table = Table(show_header=False, box=None, padding=(0, 2, 0, 0))
    table.add_row("condition", Text(result.condition))
    table.add_row("attributes", Text(", ".join(result.attributes) or "none"))
    table.add_row("normal form", Text(result.normal_form))
    if result.notify is not None:
        table.add_row("clause", Text(str(result.notify)))
    for warning in result.warnings:
        table.add_row("[yellow]warning[/]", warning)
    stdout().print(table)


def parsed(text: str) -> tamis.Expression:
    """Parse a condition from the command line; a wrong one ends the command with a caret under the place."""
    with _caret_shown():
        return tamis.parse(text)


@contextmanager
def _caret_shown() -> Iterator[None]:
    try:
        yield
    except tamis.ExpressionError as error:
        remark(f"tamis: {error}")
        raise typer.Exit(EXIT_BAD_INPUT) from None


def _warnings(expression: tamis.Expression) -> list[str]:
    if expression.never:
        return ["this condition can never match"]
    if expression.always:
        return ["this condition matches every event"]
    return []
