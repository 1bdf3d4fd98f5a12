import pytest

from tamis.language.like import BadPatternError, pattern


@pytest.mark.parametrize(
    ("text", "exact", "prefix", "suffix", "substring"),
    [
        ("", True, False, False, None),
        ("abc", True, False, False, None),
        ("abc%", False, True, False, None),
        ("%abc", False, False, True, None),
        ("%abc%", False, False, False, "abc"),
        ("%%abc%%", False, False, False, "abc"),
        ("a%c", False, False, False, None),
        ("_", False, False, False, None),
        ("%_%", False, False, False, None),
        ("a_%", False, False, False, None),
    ],
)
def test_the_fast_shapes_are_recognised(
    text: str, exact: bool, prefix: bool, suffix: bool, substring: str | None
) -> None:
    shape = pattern(text)
    assert (shape.exact, shape.is_prefix, shape.is_suffix, shape.substring) == (exact, prefix, suffix, substring)


def test_percent_alone_fits_everything() -> None:
    assert pattern("%").is_prefix
    assert pattern("%").is_suffix
    assert pattern("%").prefix == ""


def test_escapes() -> None:
    assert pattern("50!%", "!").exact
    assert pattern("50!%", "!").prefix == "50%"
    assert pattern("a!_!!%", "!").prefix == "a_!"
    for bad in ("a!", "a!b"):
        with pytest.raises(BadPatternError):
            pattern(bad, "!")
