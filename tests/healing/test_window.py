"""A window against a list."""

from hypothesis import given
from hypothesis import strategies as st

from tamis.healing.window import Window

NUMBERS = st.lists(st.tuples(st.integers(0, 5), st.integers(-9, 9)), min_size=1, max_size=60)


@given(numbers=NUMBERS, seconds=st.none() | st.integers(1, 12), most=st.none() | st.integers(1, 9))
def test_spread_is_that_of_what_is_in_the_window(
    numbers: list[tuple[int, int]], seconds: int | None, most: int | None
) -> None:
    window = Window(seconds, most)
    seen: list[tuple[int, int]] = []
    now = 0
    for pause, number in numbers:
        now += pause
        window.add(number, now)
        seen.append((now, number))
        inside = [each for time, each in seen if seconds is None or time >= now - seconds]
        if most is not None:
            inside = inside[-most:]
        assert len(window) == len(inside)
        assert window.spread == max(inside) - min(inside)
