"""The file of tokens: who may come, and with which rights. It keeps hashes only; docs/security.md has an example.

A token is 256 bits by chance, so that a plain SHA-256 of it can neither be turned round nor guessed, and takes no time.
"""

import datetime as dt
import hashlib
import json
import secrets
from pathlib import Path
from typing import Annotated, Final

import msgspec

from tamis.language import Expression, ExpressionError, parse
from tamis.server.limits import Limits
from tamis.server.rights import ALL, Rights

#: How a token begins, so that people and programs that look for leaked secrets know it.
PREFIX: Final = "tamis_"
_BYTES: Final = 32

Subject = Annotated[str, msgspec.Meta(pattern=r"^[\w.@+-]+\Z", max_length=128)]
Hash = Annotated[str, msgspec.Meta(pattern=r"^sha256:[0-9a-f]{64}\Z")]


class Entry(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True, omit_defaults=True):
    """One `[[token]]` of the file. Rights that are not mentioned are not given; a subject may have several tokens."""

    subject: Subject
    hash: Hash
    #: Conditions; `true` for all events.
    publish: str | None = None
    subscribe: str | None = None
    administer: bool = False
    link: bool = False
    expires: dt.datetime | None = None
    #: What is not mentioned is as for everybody.
    limits: dict[str, int | float] = {}

    def rights(self, limits: Limits) -> Rights:
        """Return what the token allows; what is wrong is a `ValueError` that says where."""
        if self.expires is not None and self.expires.tzinfo is None:
            raise ValueError("expires: it needs a time zone, as in 2027-01-01T00:00:00Z")
        try:
            own = msgspec.convert({**msgspec.structs.asdict(limits), **self.limits}, Limits)
        except msgspec.ValidationError as error:
            raise ValueError(f"limits: {error}") from None
        return Rights(
            subject=self.subject,
            key=self.hash,
            publish=_condition("publish", self.publish),
            subscribe=_condition("subscribe", self.subscribe),
            may_administer=self.administer,
            may_link=self.link,
            expires=self.expires,
            limits=own,
        )

    def toml(self) -> str:
        """Return the entry as it stands in the file."""
        lines = [f"{name} = {_toml(getattr(self, name))}" for name in msgspec.to_builtins(self)]
        return "\n".join(["[[token]]", *lines]) + "\n"


class _File(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    token: tuple[Entry, ...] = ()


def new_token() -> str:
    """Return a token that nobody else has."""
    return PREFIX + secrets.token_urlsafe(_BYTES)


def hash_of(token: str) -> str:
    """Return what the file keeps of a token."""
    return "sha256:" + hashlib.sha256(token.encode(errors="surrogatepass")).hexdigest()


def read_tokens(file: Path, limits: Limits) -> dict[str, Rights]:
    """Return the rights in a file, by the hashes of tokens. What is wrong with it is a `ValueError` that says where."""
    try:
        entries = msgspec.toml.decode(file.read_bytes(), type=_File).token
    except OSError as error:
        raise ValueError(f"{file}: {error.strerror or error}") from None
    except (msgspec.MsgspecError, ValueError) as error:
        raise ValueError(f"{file}: {error}") from None
    found: dict[str, Rights] = {}
    for number, entry in enumerate(entries, 1):
        place = f"{file}: token {number} ({entry.subject})"
        if entry.hash in found:
            raise ValueError(f"{place}: the same hash stands above")
        try:
            found[entry.hash] = entry.rights(limits)
        except ValueError as error:
            raise ValueError(f"{place}: {error}") from None
    return found


def _condition(name: str, text: str | None) -> Expression | None:
    if text is None:
        return None
    try:
        made = parse(text)
    except ExpressionError as error:
        raise ValueError(f"{name}: {error.one_line()}") from None
    return ALL if made == ALL else made


def _toml(value: object) -> str:
    if isinstance(value, dt.datetime):
        return value.isoformat()
    if isinstance(value, dict):
        return "{ " + ", ".join(f"{name} = {_toml(each)}" for name, each in value.items()) + " }"
    # JSON's strings, numbers and Booleans are TOML's, but for one character.
    return json.dumps(value, ensure_ascii=False).replace("\x7f", "\\u007f")
