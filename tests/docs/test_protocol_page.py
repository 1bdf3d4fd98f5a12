"""docs/protocol.md lists every code that a broker or a client may say."""

import re
from pathlib import Path
from typing import get_args

from tamis.wire import Code

PAGE = (Path(__file__).parents[2] / "docs" / "protocol.md").read_text()


def test_every_code_is_listed() -> None:
    rows = re.findall(r"^\| (`[a-z-]+`(?:, `[a-z-]+`)*) \|", PAGE.partition("## Codes")[2], re.MULTILINE)
    assert {code for row in rows for code in re.findall("[a-z-]+", row)} == set(get_args(Code))
