import json

import pytest

from tamis.cli.output import print_json, progress_bars, progress_shown
from tamis.cli.settings import ProgressMode


@pytest.mark.parametrize(("mode", "shown"), [("auto", False), ("always", True), ("never", False)])
def test_progress_goes_to_standard_error_only_when_forced_or_on_a_terminal(
    capsys: pytest.CaptureFixture[str], mode: ProgressMode, shown: bool
) -> None:
    assert progress_shown(mode) is shown
    with progress_bars(mode) as start_bar:
        bar = start_bar("Matching")
        bar(1, 2)
        bar.describe("Matched")
        bar(2, 2)
    captured = capsys.readouterr()
    assert captured.out == ""
    assert ("Matched" in captured.err) is shown


def test_json_goes_to_standard_output(capsys: pytest.CaptureFixture[str]) -> None:
    print_json({"a": [1, "x"]})
    assert json.loads(capsys.readouterr().out) == {"a": [1, "x"]}
