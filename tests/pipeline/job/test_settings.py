"""A file that cannot be used is refused by name and line; one that can has its paths below its folder."""

from pathlib import Path

import pytest

from tamis.pipeline.job.sample import write_sample
from tamis.pipeline.job.settings import SettingsError, load

GOOD = """\
[job]
name = "alerts"

[subscriptions]
format = "csv"
path = "subscriptions.csv"

[events]
format = "json"
path = "events"
schema = "x long"

[sink]
format = "json"
path = "/elsewhere"
"""


def loaded(folder: Path, text: str) -> str:
    (folder / "pipeline.toml").write_text(text)
    with pytest.raises(SettingsError) as caught:
        load(folder / "pipeline.toml")
    return str(caught.value).removeprefix(f"{folder}/")


def test_paths_are_below_the_folder_of_the_file(tmp_path: Path) -> None:
    (tmp_path / "pipeline.toml").write_text(GOOD)
    settings = load(tmp_path / "pipeline.toml")
    assert settings.events.path == str(tmp_path / "events")
    assert settings.sink.path == "/elsewhere"
    assert settings.store == tmp_path / "state" / "subscriptions"
    assert settings.match.output == "pairs"
    assert load(tmp_path) == settings


@pytest.mark.parametrize(
    ("old", "new", "said"),
    [
        ('path = "events"', 'pth = "e"', "pipeline.toml, line 10: there is no setting events.pth; did you mean path?"),
        ("[sink]", "[snk]", "pipeline.toml, line 13: there is no setting snk; did you mean sink?"),
        ('name = "alerts"', "", "pipeline.toml, line 1: [job] lacks name"),
        ('name = "alerts"', "name = 3", "pipeline.toml, line 2: job.name: Expected `str`, got `int`"),
        ('schema = "x long"', "", "pipeline.toml, line 8: [events] lacks a schema: json does not tell the types"),
        ('format = "csv"', 'format "csv"', "pipeline.toml: Expected '=' after a key in a key/value pair (at line 5"),
        ('path = "events"', "", "pipeline.toml, line 8: [events] lacks a path"),
        (
            'format = "csv"',
            'format = "tamis"',
            "line 4: [subscriptions.options] lacks a 'url', the address of a broker's",
        ),
        ("[sink]\nformat", "[sink]\nfrmat", "pipeline.toml, line 14: there is no setting sink.frmat; did you mean"),
        ("[sink]", "[spark]\nmaster='a'\nremote='b'\n[sink]", "line 15: [spark] has a master or a remote, not both"),
        (
            "[sink]",
            "[match]\noutput='list'\n[sink]",
            "line 14: match.output: Invalid enum value 'list'; it is lists or",
        ),
        ('name = "alerts"', 'name = "a b"', "line 2: job.name: Expected `str` matching regex"),
    ],
)
def test_what_is_wrong_is_told_by_name_and_line(tmp_path: Path, old: str, new: str, said: str) -> None:
    assert said in loaded(tmp_path, GOOD.replace(old, new))


@pytest.mark.parametrize(
    ("section", "lacks"),
    [
        ('[events]\nformat = "kafka"\nschema = "x long"\n', "[events.options] lacks 'kafka.bootstrap.servers'"),
        ('[events]\nformat = "tamis"\nschema = "x long"\npath = "log"\n', "a broker has no table of events"),
        ('[events]\nformat = "log"\n', "[events] lacks a path"),
    ],
)
def test_sources_need_their_options(tmp_path: Path, section: str, lacks: str) -> None:
    head, tail = GOOD.split("[events]")[0], "[sink]" + GOOD.split("[sink]")[1]
    assert lacks in loaded(tmp_path, head + section + tail)


def test_sinks_need_their_options(tmp_path: Path) -> None:
    head = GOOD.split("[sink]")[0]
    assert "[sink.options] lacks 'dsn'" in loaded(tmp_path, head + '[sink]\nformat = "postgres"\n')
    text = head + '[match]\noutput = "lists"\n[sink]\nformat = "csv"\npath = "out"\n'
    assert "csv knows no lists: output is pairs" in loaded(tmp_path, text)


def test_a_file_that_is_not_there_is_told_with_what_writes_one(tmp_path: Path) -> None:
    with pytest.raises(SettingsError, match="No such file or directory; `tamis pipeline init` writes an example"):
        load(tmp_path / "pipeline.toml")


def test_the_sample_can_be_loaded_and_is_not_overwritten(tmp_path: Path) -> None:
    write_sample(tmp_path)
    settings = load(tmp_path / "pipeline.toml")
    assert (settings.job.name, settings.job.mode, settings.events.most) == ("alerts", "catch-up", 1)
    with pytest.raises(FileExistsError, match="nothing was written"):
        write_sample(tmp_path)


def test_all_that_the_sample_shows_in_comments_is_known(tmp_path: Path) -> None:
    write_sample(tmp_path)
    file = tmp_path / "pipeline.toml"
    shown = file.read_text()
    for line in ("every = 5.0", "refresh = 10.0", "[subscriptions.changes]", 'format = "json"', 'path = "changes"'):
        shown = shown.replace(f"# {line}", line, 1)
    for line in ("strategy", "[notify]", "sequence", "lateness", "ttl", "key"):
        shown = shown.replace(f"# {line}", line, 1)
    file.write_text(shown)
    settings = load(file)
    assert settings.subscriptions.changes is not None
    assert settings.notify is not None
    assert (settings.notify.ttl, settings.sink.key, settings.job.every) == (86400, ["n"], 5.0)
