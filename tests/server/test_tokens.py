import datetime as dt
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from support.strategies import expressions
from tamis.language import Expression, parse
from tamis.server.limits import Limits
from tamis.server.rights import ALL, Rights
from tamis.server.tokens import PREFIX, Entry, hash_of, new_token, read_tokens

HASH = hash_of("secret")


def written(folder: Path, text: str) -> Path:
    file = folder / "tokens.toml"
    file.write_text(text)
    return file


def test_a_file_gives_rights_by_the_hashes_of_tokens(tmp_path: Path) -> None:
    file = written(
        tmp_path,
        f"""
        [[token]]
        subject = "acme"
        hash = "{HASH}"
        publish = "tenant = 'acme'"
        subscribe = "true"
        expires = 2027-01-01T00:00:00Z
        limits = {{ rate = 100, connections = 2 }}

        [[token]]
        subject = "acme"
        hash = "{hash_of("other")}"
        administer = true
        link = true
        """,
    )
    found = read_tokens(file, Limits(subscriptions=7, rate=5.0))
    assert found == {
        HASH: Rights(
            subject="acme",
            key=HASH,
            publish=parse("tenant = 'acme'"),
            subscribe=ALL,
            expires=dt.datetime(2027, 1, 1, tzinfo=dt.UTC),
            limits=Limits(rate=100.0, connections=2, subscriptions=7),
        ),
        hash_of("other"): Rights(
            subject="acme",
            key=hash_of("other"),
            may_administer=True,
            may_link=True,
            limits=Limits(subscriptions=7, rate=5.0),
        ),
    }


@pytest.mark.parametrize(
    ("text", "why"),
    [
        ("[[token]\n", "line 1"),
        ("[[tokens]]\n", "tokens"),
        (f'[[token]]\nhash = "{HASH}"', "subject"),
        (f'[[token]]\nsubject = "a/b"\nhash = "{HASH}"', "subject"),
        ('[[token]]\nsubject = "a"\nhash = "secret"', "hash"),
        (f'[[token]]\nsubject = "a"\nhash = "{HASH}"\nsubscribe = true', "subscribe"),
        (
            f'[[token]]\nsubject = "a"\nhash = "{HASH}"\nsubscribe = "x >> 1"',
            r"token 1 \(a\): subscribe: .*character 4",
        ),
        (f'[[token]]\nsubject = "a"\nhash = "{HASH}"\nsubscribe = "x > 1 notify x moves 1"', "token 1"),
        (f'[[token]]\nsubject = "a"\nhash = "{HASH}"\nadmin = true', "admin"),
        (f'[[token]]\nsubject = "a"\nhash = "{HASH}"\nexpires = 2027-01-01T00:00:00', "time zone"),
        (f'[[token]]\nsubject = "a"\nhash = "{HASH}"\nlimits = {{ rate = 0 }}', r"token 1 \(a\): limits: .*rate"),
        (f'[[token]]\nsubject = "a"\nhash = "{HASH}"\nlimits = {{ speed = 1 }}', "speed"),
        (f'[[token]]\nsubject = "a"\nhash = "{HASH}"\n' * 2, r"token 2 \(a\): the same hash"),
    ],
)
def test_what_is_wrong_with_a_file_is_told_with_its_place(tmp_path: Path, text: str, why: str) -> None:
    file = written(tmp_path, text)
    with pytest.raises(ValueError, match=why) as caught:
        read_tokens(file, Limits())
    assert str(file) in str(caught.value)


def test_a_file_that_is_not_there_is_named(tmp_path: Path) -> None:
    with pytest.raises(ValueError, match=r"none\.toml: No such file"):
        read_tokens(tmp_path / "none.toml", Limits())


def test_tokens_are_long_and_unlike_and_only_their_hashes_are_kept() -> None:
    made = {new_token() for _ in range(100)}
    assert len(made) == 100
    assert all(token.startswith(PREFIX) and len(token) >= len(PREFIX) + 43 for token in made)
    token = made.pop()
    assert token not in Entry(subject="a", hash=hash_of(token)).toml()


@given(
    publish=expressions() | st.none(),
    subscribe=expressions() | st.none(),
    text=st.text(max_size=5),
    administer=st.booleans(),
    rate=st.floats(0.001, 1e9) | st.none(),
    expires=st.datetimes(timezones=st.just(dt.UTC)) | st.none(),
)
def test_an_entry_that_is_written_is_read_as_it_was(
    tmp_path_factory: pytest.TempPathFactory,
    publish: Expression | None,
    subscribe: Expression | None,
    text: str,
    administer: bool,
    rate: float | None,
    expires: dt.datetime | None,
) -> None:
    odd = None if subscribe is None else f"{subscribe} or x = '{text.replace(chr(39), chr(39) * 2)}'"
    entry = Entry(
        subject="a",
        hash=HASH,
        publish=None if publish is None else str(publish),
        subscribe=odd,
        administer=administer,
        expires=expires,
        limits={} if rate is None else {"rate": rate},
    )
    try:
        rights = entry.rights(Limits())
    except ValueError:
        return  # the text is part of no condition
    file = tmp_path_factory.mktemp("tokens") / "tokens.toml"
    file.write_text(entry.toml(), encoding="utf-8", newline="")
    assert read_tokens(file, Limits()) == {HASH: rights}
