"""Moving a stretch of an array within it, as C's `memmove` does: a loop in a kernel takes five times as long."""

from collections.abc import Callable
from typing import Any

from numba import types
from numba.core import cgutils
from numba.extending import intrinsic, overload

from tamis.geometry.integers import Longs


def move(row: Longs, source: int, target: int, count: int) -> None:
    """Move so many numbers from one place of a contiguous row to another; the two stretches may overlap."""
    row[target : target + count] = row[source : source + count].copy()


@overload(move)  # type: ignore[untyped-decorator]
def _compiled(row: Any, source: Any, target: Any, count: Any) -> Callable[..., None]:  # noqa: ARG001 - types
    def moved(row: Any, source: Any, target: Any, count: Any) -> None:
        _move(row, source, target, count)

    return moved


@intrinsic  # type: ignore[untyped-decorator]
def _move(_: Any, row: Any, source: Any, target: Any, count: Any) -> Any:  # noqa: ARG001 - types
    def generate(context: Any, builder: Any, signature: Any, values: Any) -> Any:
        array = context.make_array(signature.args[0])(context, builder, values[0])
        ends = [builder.gep(array.data, [place]) for place in (values[2], values[1])]
        size = context.get_abi_sizeof(context.get_data_type(signature.args[0].dtype))
        cgutils.raw_memmove(builder, *ends, values[3], size)
        return context.get_dummy_value()

    return types.void(row, types.intp, types.intp, types.intp), generate
