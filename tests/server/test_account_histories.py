"""Whoever comes and goes, and whatever becomes of tokens: who is here has a right to be, and is counted."""

import asyncio
import datetime as dt
from collections.abc import Callable
from typing import TypeVar

from hypothesis import settings
from hypothesis import strategies as st
from hypothesis.stateful import RuleBasedStateMachine, invariant, precondition, rule

from tamis.server import accounts as module
from tamis.server.accounts import Account, Accounts
from tamis.server.limits import Limits
from tamis.server.rights import ALL, Rights
from tamis.server.tokens import hash_of
from tamis.wire import Code, ProtocolError

T = TypeVar("T")

TOKENS = ("one", "two", "three", "four")
START = dt.datetime(2027, 1, 1, tzinfo=dt.UTC)


def rights(token: str, lasts: int | None, connections: int | None) -> Rights:
    """Two tokens each belong to one subject."""
    return Rights(
        subject="ab"[TOKENS.index(token) // 2],
        key=hash_of(token),
        publish=ALL,
        expires=None if lasts is None else START + dt.timedelta(seconds=lasts),
        limits=Limits(connections=connections),
    )


FILES = st.dictionaries(
    st.sampled_from(TOKENS), st.tuples(st.none() | st.integers(0, 30), st.none() | st.integers(1, 3))
).map(lambda found: {hash_of(token): rights(token, *each) for token, each in found.items()})


class Visitor:
    """Somebody who is here, or was."""

    def __init__(self, rights: Rights, accounts: Accounts) -> None:
        self.rights = rights
        self._accounts = accounts
        self.code: Code | None = None
        self.account: Account = accounts.enter(self)

    def dismiss(self, code: Code, message: str) -> None:  # noqa: ARG002 - for people
        self.code = code
        self._accounts.leave(self, self.account)


class Histories(RuleBasedStateMachine):
    def __init__(self) -> None:
        super().__init__()
        self.loop = asyncio.new_event_loop()
        self.now = START
        self._now = module._now
        module._now = lambda: self.now
        self.tokens = {hash_of(token): rights(token, 20, 2) for token in TOKENS}
        self.accounts = Accounts(self.tokens, Limits())
        self.here: list[Visitor] = []

    def run(self, work: Callable[[], T]) -> T:
        async def run() -> T:
            return work()

        return self.loop.run_until_complete(run())

    @rule(token=st.sampled_from(TOKENS))
    def come(self, token: str) -> None:
        known = self.tokens.get(hash_of(token))
        code = None
        try:
            found = self.accounts.rights_of(token)
            self.here.append(self.run(lambda: Visitor(found, self.accounts)))
        except ProtocolError as error:
            code = error.code
        if known is None:
            assert code == "unauthorized"
        elif known.expires is not None and known.expires <= self.now:
            assert code == "expired"
        else:
            limit = known.limits.connections
            others = sum(each.rights.subject == known.subject for each in self.here) - (code is None)
            assert (code == "too-many") == (limit is not None and others >= limit)

    @precondition(lambda self: self.here)
    @rule(data=st.data())
    def go(self, data: st.DataObject) -> None:
        visitor = data.draw(st.sampled_from(self.here))
        self.accounts.leave(visitor, visitor.account)
        self.here.remove(visitor)

    @rule(file=FILES)
    def read_again(self, file: dict[str, Rights]) -> None:
        self.tokens = file
        self.run(lambda: self.accounts.replace(file))
        for visitor in self.here:
            found = file.get(visitor.rights.key)
            assert visitor.code == ("unauthorized" if found is None else "changed" if found != visitor.rights else None)
        self.here = [each for each in self.here if each.code is None]

    @rule(seconds=st.integers(1, 10))
    def wait(self, seconds: int) -> None:
        self.now += dt.timedelta(seconds=seconds)
        self.run(self.accounts._look)
        for visitor in self.here:
            assert (visitor.code == "expired") == visitor.rights.has_expired(self.now)
        self.here = [each for each in self.here if each.code is None]

    @invariant()
    def fits(self) -> None:
        self.accounts.check_invariants()
        assert len(self.accounts) == len(self.here)

    def teardown(self) -> None:
        module._now = self._now
        self.accounts.stop()
        self.loop.close()


TestHistories = Histories.TestCase
TestHistories.settings = settings(max_examples=40, stateful_step_count=30, deadline=None)
