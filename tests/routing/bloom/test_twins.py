"""The kernel of the counting table runs as plain Python too, with the same answers."""

from pathlib import Path

from support.twins import passes_as_plain_python


def test_histories_without_compilation() -> None:
    suite = Path(__file__).parent / "test_forwarding.py"
    passes_as_plain_python(suite, chosen="test_histories and counting", examples=2)
