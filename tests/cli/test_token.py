import datetime as dt
from pathlib import Path
from typing import Any

import pytest

from tamis.language import parse
from tamis.server.limits import Limits
from tamis.server.rights import ALL
from tamis.server.tokens import hash_of, read_tokens


def test_entries_that_are_printed_make_a_file_and_only_who_made_them_saw_the_tokens(
    invoke: Any, tmp_path: Path
) -> None:
    file = tmp_path / "tokens.toml"
    tokens = []
    for arguments in (
        ["feed", "--publish", "true", "--rate", "100"],
        ["acme", "--subscribe", "tenant = 'acme' or name = \"\\\"".partition(" or")[0], "--expires", "90d"],
        ["ops", "--admin", "--link", "--expires", "2030-01-31"],
    ):
        result = invoke("token", "new", *arguments)
        assert result.exit_code == 0, result.stderr
        token = result.stderr.strip().rpartition(" ")[2]
        assert token not in result.stdout
        tokens.append(token)
        with file.open("a") as out:
            out.write(result.stdout)
    found = read_tokens(file, Limits())
    feed, acme, ops = (found[hash_of(token)] for token in tokens)
    assert (feed.subject, feed.publish, feed.subscribe, feed.limits.rate) == ("feed", ALL, None, 100.0)
    assert acme.subscribe == parse("tenant = 'acme'")
    assert acme.expires is not None
    assert abs(acme.expires - dt.datetime.now(dt.UTC) - dt.timedelta(days=90)) < dt.timedelta(minutes=5)
    assert (ops.may_administer, ops.may_link, ops.publish) == (True, True, None)
    assert ops.expires == dt.datetime(2030, 1, 31, tzinfo=dt.UTC)


@pytest.mark.parametrize(
    ("arguments", "why"),
    [
        (["a b"], "subject"),
        (["a", "--subscribe", "x >> 1"], "subscribe: expected a value"),
        (["a", "--expires", "tomorrow"], "90d"),
        (["a", "--rate", "0"], "rate"),
    ],
)
def test_what_is_wrong_is_told_and_no_token_made(invoke: Any, arguments: list[str], why: str) -> None:
    result = invoke("token", "new", *arguments)
    assert (result.exit_code, result.stdout) == (2, "")
    assert why in result.stderr
