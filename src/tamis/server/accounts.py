"""Who is here by which token, and what each client uses: rights end with tokens, and limits hold over connections."""

import asyncio
import datetime as dt
from collections import Counter
from typing import Final, Protocol

from tamis.server.limits import Bucket, Limits
from tamis.server.rights import Rights
from tamis.server.tokens import hash_of
from tamis.wire import Code, ProtocolError

#: Tokens are looked at after so many seconds at the latest, should somebody have put the clock forward.
LOOK: Final = 30.0


class Member(Protocol):
    """Somebody who is here by a token: a guest, or a neighbouring broker."""

    @property
    def rights(self) -> Rights:
        """What it may do."""

    def dismiss(self, code: Code, message: str) -> None:
        """Let it go: its rights have ended."""


class Account:
    """What a client uses at the moment."""

    __slots__ = ("bucket", "connections", "subscriptions")

    def __init__(self) -> None:
        self.bucket = Bucket()
        self.connections = 0
        self.subscriptions = 0

    def check_connections(self, limits: Limits) -> None:
        """Raise `ProtocolError` (`too-many`) if there may be no other connection."""
        if limits.connections is not None and self.connections >= limits.connections:
            raise ProtocolError("too-many", f"there are {self.connections:,} connections with this token already")

    def check_publish(self, limits: Limits, now: float) -> None:
        """Count an event that is published now, or raise `ProtocolError` (`rate`) with the time to come back."""
        if limits.rate is None:
            return
        after = self.bucket.take(limits, now)
        if after:
            text = f"more than {limits.rate:g} events in a second: try again in {after:.3f} seconds"
            raise ProtocolError("rate", text, after=after)

    def check_subscribe(self, limits: Limits) -> None:
        """Raise `ProtocolError` (`too-many`) if there may be no other subscription."""
        if self.subscriptions >= limits.subscriptions:
            raise ProtocolError("too-many", f"a client has at most {limits.subscriptions:,} subscriptions")


class Accounts:
    """All who are here. `tokens` gives the rights by the hashes of tokens; None: everybody has all rights."""

    def __init__(self, tokens: dict[str, Rights] | None, limits: Limits) -> None:
        self._tokens = tokens
        self._everything = Rights.everything(limits)
        #: By subject. They stay when connections end, so that coming back does not fill a bucket.
        self._accounts: dict[str, Account] = {}
        self._members: dict[Member, None] = {}
        self._timer: asyncio.TimerHandle | None = None

    @property
    def are_asked(self) -> bool:
        """Whether tokens are asked for."""
        return self._tokens is not None

    def __len__(self) -> int:
        """Return how many are here by tokens."""
        return len(self._members)

    def rights_of(self, token: str | None) -> Rights:
        """Return the rights that a token gives, or raise `ProtocolError` (`unauthorized`, `expired`)."""
        if self._tokens is None:
            return self._everything
        if not token:
            raise ProtocolError("unauthorized", "this broker asks for a token")
        rights = self._tokens.get(hash_of(token))
        if rights is None:
            raise ProtocolError("unauthorized", "the token is not one that this broker knows")
        if rights.has_expired(_now()):
            raise ProtocolError("expired", f"the token has expired on {rights.expires}")
        return rights

    def enter(self, member: Member) -> Account:
        """Somebody comes; return its account. Too many connections are a `ProtocolError`."""
        rights = member.rights
        account = self._accounts.setdefault(rights.subject, Account()) if rights.key else Account()
        account.check_connections(rights.limits)
        account.connections += 1
        if rights.key:
            self._members[member] = None
        if rights.expires is not None:
            self._look_at(rights.expires)
        return account

    def leave(self, member: Member, account: Account) -> None:
        """Somebody goes."""
        self._members.pop(member, None)
        account.connections -= 1

    def replace(self, tokens: dict[str, Rights]) -> None:
        """Let other tokens hold from now on. Who is here by one that is gone, or gives other rights, is dismissed."""
        self._tokens = tokens
        for member in list(self._members):
            rights = tokens.get(member.rights.key)
            if rights is None:
                member.dismiss("unauthorized", "the token was withdrawn")
            elif rights != member.rights:
                member.dismiss("changed", "the rights of the token have changed: connect again")

    def check_invariants(self) -> None:
        """Raise `AssertionError` if something does not fit together."""
        here = Counter(member.rights.subject for member in self._members)
        assert here == {subject: each.connections for subject, each in self._accounts.items() if each.connections}
        assert all(each.subscriptions >= 0 for each in self._accounts.values())
        assert all(self._tokens is None or member.rights.key in self._tokens for member in self._members)
        watched = any(member.rights.expires is not None for member in self._members)
        assert self._timer is not None or not watched

    def stop(self) -> None:
        """Look at no token any more."""
        if self._timer is not None:
            self._timer.cancel()
            self._timer = None

    def _look_at(self, expires: dt.datetime) -> None:
        """Look when a token expires, or before."""
        loop = asyncio.get_running_loop()
        when = loop.time() + max(0.0, min(LOOK, (expires - _now()).total_seconds()))
        if self._timer is None or when < self._timer.when():
            self.stop()
            self._timer = loop.call_at(when, self._look)

    def _look(self) -> None:
        """Dismiss whose token has expired."""
        self._timer = None
        now = _now()
        for member in list(self._members):
            if member.rights.has_expired(now):
                member.dismiss("expired", f"the token has expired on {member.rights.expires}")
        open_ends = [each.rights.expires for each in self._members if each.rights.expires is not None]
        if open_ends:
            self._look_at(min(open_ends))


def _now() -> dt.datetime:
    return dt.datetime.now(dt.UTC)
