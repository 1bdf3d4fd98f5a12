"""Masks of eight words, each a line of the cache and a vector of the machine."""

from typing import Any, Final

import numpy as np
from llvmlite import ir
from numba import config, types
from numba.extending import intrinsic

from tamis.matching.segments.cuts import Words

#: Words of a mask.
WORDS: Final = 8


def aligned(masks: int) -> Words:
    """Return so many masks without any bit. They begin with a line of the cache, so that each is in one of them."""
    room = np.zeros((masks + 1) * WORDS, np.uint64)
    first = -room.ctypes.data // room.itemsize % WORDS
    return room[first : first + masks * WORDS]


if config.DISABLE_JIT:

    def narrow(asked: Any, at: Any, masks: Any, lower: Any, upper: Any, out: Any, to: Any) -> int:
        """Write those bits of a mask that are in `upper` and not in `lower`; return a bit for each word with any.

        Masks are told by the places of their first words.
        """
        words = 0
        for word in range(WORDS):
            left = asked[int(at) + word] & masks[int(upper) + word] & ~masks[int(lower) + word]
            out[int(to) + word] = left
            words |= int(left != 0) << word
        return words

else:
    _WORD: Final = ir.IntType(64)
    _MASK: Final = ir.VectorType(_WORD, WORDS)

    @intrinsic  # type: ignore[untyped-decorator]
    def narrow(typing: Any, asked: Any, at: Any, masks: Any, lower: Any, upper: Any, out: Any, to: Any) -> Any:  # noqa: ARG001 - the signature of an intrinsic
        """Write those bits of a mask that are in `upper` and not in `lower`; return a bit for each word with any.

        Masks are told by the places of their first words.
        """

        def generate(context: Any, builder: Any, signature: Any, arguments: Any) -> Any:
            def mask(array: int, place: int) -> Any:
                words = context.make_array(signature.args[array])(context, builder, arguments[array])
                return builder.bitcast(builder.gep(words.data, [arguments[place]]), _MASK.as_pointer())

            among, below, above = (builder.load(mask(*each), align=8) for each in ((0, 1), (2, 3), (2, 4)))
            left = builder.and_(builder.and_(among, above), builder.not_(below))
            builder.store(left, mask(5, 6), align=8)
            some = builder.icmp_unsigned("!=", left, ir.Constant(_MASK, [0] * WORDS))
            return builder.zext(builder.bitcast(some, ir.IntType(WORDS)), _WORD)

        place = types.uint64
        return types.uint64(asked, place, masks, place, place, out, place), generate
