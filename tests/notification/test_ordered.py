"""Keys in order, against a sorted list."""

import numpy as np
from hypothesis import given, settings
from hypothesis import strategies as st

from support.watching import EXAMPLES
from tamis.notification.ordered import BLOCK, Ordered

steps = st.lists(
    st.tuples(
        st.sampled_from(["add", "remove", "up", "down", "first", "last"]), st.integers(0, 40), st.integers(1, 300)
    ),
    max_size=15,
)


@settings(max_examples=2 * EXAMPLES)
@given(steps=steps)
def test_it_is_a_sorted_list(steps: list[tuple[str, int, int]]) -> None:
    ordered = Ordered()
    pairs: list[tuple[float, int]] = []
    fresh = 0
    for what, key, count in steps:
        if what == "add":
            new = [(float((key + each * 7) % 41), fresh + each) for each in range(count)]
            fresh += count
            ordered.add(np.array([k for k, _ in new]), np.array([h for _, h in new]))
            pairs = sorted(pairs + new)
        elif what == "remove":
            gone = pairs[key :: max(1, len(pairs) // count)]
            ordered.remove(np.array([k for k, _ in gone]), np.array([h for _, h in gone], np.int64))
            pairs = [pair for pair in pairs if pair not in set(gone)]
        elif what == "up":
            assert sorted(ordered.up_to(float(key)).tolist()) == sorted(h for k, h in pairs if k <= key)
            pairs = [pair for pair in pairs if pair[0] > key]
        elif what == "down":
            # Three below the key.
            assert sorted(ordered.down_to(float(key), 0, 3.0).tolist()) == sorted(h for k, h in pairs if k - 3 >= key)
            pairs = [pair for pair in pairs if pair[0] - 3 < key]
        else:
            end = (max(k for k, _ in pairs) + 1 if what == "last" else min(k for k, _ in pairs) - 1) if pairs else 0.0
            ordered.put(end, np.arange(fresh, fresh + count), what == "last")
            pairs = sorted(pairs + [(end, fresh + each) for each in range(count)])
            fresh += count
        ordered.check_invariants()
        keys, handles = ordered.pairs()
        assert list(zip(keys.tolist(), handles.tolist(), strict=True)) == pairs
        assert len(ordered) == len(pairs)
        assert ordered.ends() == ((pairs[0][0], pairs[-1][0]) if pairs else None)


def test_many_blocks_are_split_and_given_back() -> None:
    ordered = Ordered()
    count = 20 * BLOCK
    keys = np.random.default_rng(1).permutation(count).astype(np.float64)
    ordered.add(keys, np.arange(count))
    assert len(ordered.up_to(count / 2)) == count // 2 + 1
    ordered.add(np.arange(count // 2, dtype=np.float64), np.arange(count, count + count // 2))
    ordered.check_invariants()
    assert len(ordered) == count - 1
