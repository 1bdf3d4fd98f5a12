import pytest
import typer

from tamis.cli.errors import LISTED, InputError, bad_input_reported, one_line, unknown


def test_bad_input_ends_the_command_with_one_line(capsys: pytest.CaptureFixture[str]) -> None:
    with pytest.raises(typer.Exit) as caught, bad_input_reported():
        raise InputError("a.csv: row 3:\n  why")
    assert caught.value.exit_code == 2
    assert capsys.readouterr().err == "tamis: a.csv: row 3: why\n"


def test_other_errors_are_ours_and_pass_through() -> None:
    with pytest.raises(ZeroDivisionError), bad_input_reported():
        raise ZeroDivisionError


def test_a_system_error_is_told_without_number_and_path() -> None:
    assert one_line(FileNotFoundError(2, "No such file or directory", "x.csv")) == "No such file or directory"


def test_an_unknown_name_gets_close_ones_or_all() -> None:
    assert str(unknown("engine", "sacn", ["scan", "tree"])) == "unknown engine 'sacn'; did you mean scan?"
    assert str(unknown("engine", "x", ["tree", "scan"])) == "unknown engine 'x'; there are scan, tree"


def test_a_long_list_of_names_is_cut() -> None:
    many = [f"{number:05}" for number in range(LISTED + 1_000)]
    assert str(unknown("id", "x", many)).endswith(f"{many[LISTED - 1]} and 1,000 more")
