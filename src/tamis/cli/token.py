"""`tamis token`: tokens for a broker that asks for them."""

import datetime as dt
import re
from typing import Annotated, Final

import msgspec
import typer

from tamis.cli.errors import InputError, bad_input_reported, one_line
from tamis.cli.output import remark
from tamis.server.limits import Limits
from tamis.server.tokens import Entry, hash_of, new_token

app = typer.Typer(no_args_is_help=True, help="Make tokens for `tamis serve --tokens FILE`.")

_UNITS: Final = {"d": "days", "h": "hours", "m": "minutes"}


@app.command()
def new(
    name: Annotated[str, typer.Argument(help="Whose token it is: letters, digits, and any of . @ + - _")],
    publish: Annotated[
        str | None,
        typer.Option(
            metavar="CONDITION", help="May publish events that meet it; **true** for all.", show_default=False
        ),
    ] = None,
    subscribe: Annotated[
        str | None,
        typer.Option(metavar="CONDITION", help="May subscribe within it; **true** for all.", show_default=False),
    ] = None,
    admin: Annotated[bool, typer.Option("--admin", help="May see how the broker is.")] = False,
    link: Annotated[bool, typer.Option("--link", help="May join the overlay as a broker.")] = False,
    expires: Annotated[
        str | None,
        typer.Option(
            metavar="WHEN", help="A time with its zone, a date, or from now: 90d, 12h, 30m.", show_default=False
        ),
    ] = None,
    rate: Annotated[
        float | None, typer.Option(help="Publishes at most so many events in a second.", show_default=False)
    ] = None,
) -> None:
    """Make a token: print its entry for the file on standard output, and the token, once, on standard error.

    Nobody can find out the token from the file. Tell the broker to read the file again by SIGHUP.

    `$ tamis token new acme --subscribe "tenant = 'acme'" --expires 90d >> tokens.toml`
    """
    with bad_input_reported():
        token = new_token()
        given = {
            "subject": name,
            "hash": hash_of(token),
            "publish": publish,
            "subscribe": subscribe,
            "administer": admin,
            "link": link,
            "expires": None if expires is None else _when(expires, dt.datetime.now(dt.UTC)),
            "limits": {} if rate is None else {"rate": rate},
        }
        try:
            entry = msgspec.convert(given, Entry)
            entry.rights(Limits())
        except ValueError as error:
            raise InputError(one_line(error)) from None
        typer.echo(entry.toml())
        remark(f"the token, shown this once: {token}")


def _when(text: str, now: dt.datetime) -> dt.datetime:
    """Return the time that a text states."""
    span = re.fullmatch(r"(\d{1,6})([dhm])", text)
    if span:
        return (now + dt.timedelta(**{_UNITS[span[2]]: int(span[1])})).replace(microsecond=0)
    try:
        found = dt.datetime.fromisoformat(text)
    except ValueError:
        raise InputError(f"--expires {text}: it is written 2027-01-31, 2027-01-31T12:00:00Z or 90d") from None
    return found if found.tzinfo is not None else found.replace(tzinfo=dt.UTC)
