"""Bad input becomes one line on standard error and exit code 2, never a traceback."""

from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from difflib import get_close_matches
from typing import Final

import typer

import tamis

#: The command ran, but what it found is wrong: an engine disagreed with the reference.
EXIT_WRONG: Final = 1
#: The input could not be used; nothing was written.
EXIT_BAD_INPUT: Final = 2

#: How many names a message lists.
LISTED: Final = 20


class InputError(ValueError):
    """What the user gave cannot be used: which file, which row, why, and what would be right."""


@contextmanager
def bad_input_reported() -> Iterator[None]:
    """End the command with exit code 2 and one line on standard error when the input is at fault.

    That is `InputError`, and a subscription that the chosen engine does not take.
    """
    try:
        yield
    except (InputError, tamis.SubscriptionError) as error:
        typer.echo(f"tamis: {one_line(error)}", err=True)
        raise typer.Exit(EXIT_BAD_INPUT) from None


def one_line(error: Exception) -> str:
    """Return an exception's message without line breaks; for system errors, without the number and path."""
    text = error.strerror if isinstance(error, OSError) and error.strerror else str(error)
    return " ".join(text.split())


def unknown(kind: str, name: str, known: Iterable[str]) -> InputError:
    """Return the error for a name that does not exist, with the names that come close."""
    choices = sorted(known)
    close = get_close_matches(name, choices, n=3, cutoff=0.5)
    if close:
        return InputError(f"unknown {kind} {name!r}; did you mean {' or '.join(close)}?")
    rest = f" and {len(choices) - LISTED:,} more" if len(choices) > LISTED else ""
    return InputError(f"unknown {kind} {name!r}; there are {', '.join(choices[:LISTED])}{rest}")
