"""Single bits of 64-bit words, as the machine counts them."""

from typing import Any

import numpy as np
from numba import config, types
from numba.extending import intrinsic

if config.DISABLE_JIT:

    def ones(word: Any) -> int:
        """Return how many bits are set."""
        return int(word).bit_count()

    def lowest(word: Any) -> int:
        """Return the number of the lowest set bit, or 64 if there is none."""
        return (int(word) & -int(word)).bit_length() - 1 if word else 64

    def without_lowest(word: Any) -> Any:
        """Return a word without its lowest set bit."""
        return np.uint64(int(word) & (int(word) - 1)) if word else word

else:

    @intrinsic  # type: ignore[untyped-decorator]
    def ones(typing: Any, word: Any) -> Any:  # noqa: ARG001 - the signature of an intrinsic
        """Return how many bits are set."""
        return types.int64(types.uint64), lambda _, builder, __, words: builder.ctpop(words[0])

    @intrinsic  # type: ignore[untyped-decorator]
    def lowest(typing: Any, word: Any) -> Any:  # noqa: ARG001
        """Return the number of the lowest set bit, or 64 if there is none."""
        return types.int64(types.uint64), lambda context, builder, _, words: builder.cttz(
            words[0], context.get_constant(types.boolean, False)
        )

    @intrinsic  # type: ignore[untyped-decorator]
    def without_lowest(typing: Any, word: Any) -> Any:  # noqa: ARG001
        """Return a word without its lowest set bit."""
        return types.uint64(types.uint64), lambda context, builder, _, words: builder.and_(
            words[0], builder.sub(words[0], context.get_constant(types.uint64, 1))
        )
