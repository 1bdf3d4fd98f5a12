"""The examples of docs/security.md are what they say."""

import re
import shlex
from pathlib import Path

from typer.testing import CliRunner

from tamis.cli.main import app
from tamis.language import parse
from tamis.server.limits import Limits
from tamis.server.tokens import read_tokens

PAGE = (Path(__file__).parents[2] / "docs" / "security.md").read_text()


def test_the_entry_is_read(tmp_path: Path) -> None:
    file = tmp_path / "tokens.toml"
    (entry,) = re.findall(r"```toml\n(.*?)```", PAGE, re.DOTALL)
    file.write_text(entry)
    (rights,) = read_tokens(file, Limits()).values()
    assert (rights.subject, rights.subscribe) == ("acme", parse("tenant = 'acme'"))
    assert rights.limits == Limits(rate=1000.0, subscriptions=500, condition=4096, connections=10)


def test_the_commands_make_a_file(tmp_path: Path) -> None:
    file = tmp_path / "tokens.toml"
    commands = re.findall(r"^tamis (token new .*) >> tokens.toml$", PAGE, re.MULTILINE)
    for command in commands:
        result = CliRunner().invoke(app, shlex.split(command), catch_exceptions=False)
        assert result.exit_code == 0
        with file.open("a") as out:
            out.write(result.stdout)
    found = {each.subject: each for each in read_tokens(file, Limits()).values()}
    assert list(found) == ["feed", "acme", "ops", "brokers"]
    assert found["ops"].may_administer
    assert found["brokers"].may_link
