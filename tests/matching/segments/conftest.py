"""For the tests of segments: events in them are small, and are to go the way of large ones too."""

from collections.abc import Iterator

import pytest

from tamis.matching.segments import values


@pytest.fixture(autouse=True, scope="module")
def _few_numbers_are_many() -> Iterator[None]:
    """Search for the numbers of every event by kernels. Tests of the index as a whole leave a few of them apart."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(values, "FEW", 1)
        yield
