import pytest

from tamis.lab.experiment import Context, Scale
from tamis.lab.spread import Spread, named


def test_points_run_in_their_order_and_are_counted() -> None:
    steps: list[tuple[int, int]] = []
    context = Context(Scale.QUICK, 7, lambda done, total: steps.append((done, total)))
    assert context.each(divmod, [(7, 2), (9, 4)]) == [(3, 1), (2, 1)]
    assert steps == [(0, 2), (1, 2), (2, 2)]


def test_what_fails_keeps_its_kind_and_names_its_point() -> None:
    with pytest.raises(ZeroDivisionError) as caught:
        Spread().run(divmod, [(7, 2), (9, 0)], lambda *_: None)
    assert caught.value.__notes__ == ["at the point 9, 0"]


def test_a_long_point_is_named_by_its_beginning() -> None:
    assert named(("x" * 1_000, 5)) == f"'{'x' * 199}…, 5"
