import importlib.metadata
from typing import Any

COMMANDS = (
    *("demo", "parse", "explain", "match", "replay", "pipeline", "serve", "pub", "sub", "top", "token", "bench", "sim"),
    *("lab", "config"),
)


def test_help_says_what_it_is_lists_every_command_and_shows_examples(invoke: Any) -> None:
    result = invoke("--help")
    assert result.exit_code == 0
    assert "every event reaches exactly the subscribers whose condition it meets" in " ".join(result.stdout.split())
    for command in COMMANDS:
        assert f" {command} " in result.stdout
    assert "$ tamis demo" in result.stdout
    assert "$ tamis match" in result.stdout
    assert "Exit codes" in result.stdout


def test_every_command_has_help(invoke: Any) -> None:
    more = (
        "sim strategies",
        "sim replay",
        "sim diff",
        "lab run",
        "lab list",
        "config show",
        "token new",
        "pipeline cover",
    )
    for command in (*COMMANDS, *more):
        result = invoke(*command.split(), "-h")
        assert result.exit_code == 0, command
        assert "Usage" in result.stdout, command


def test_version(program: Any) -> None:
    done = program("--version")
    assert (done.returncode, done.stderr) == (0, "")
    assert done.stdout == f"tamis {importlib.metadata.version('tamis')}\n"


def test_an_unknown_command_is_bad_input(invoke: Any) -> None:
    result = invoke("mach")
    assert result.exit_code == 2
    assert "Did you mean 'match'" in result.stderr


def test_no_command_shows_the_help(invoke: Any) -> None:
    assert "Usage: tamis" in invoke().output
