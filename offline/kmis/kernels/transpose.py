"""The transposition of 64 x 64 bits, in three rounds of exchanges between vectors and three within them."""

from __future__ import annotations

from typing import Any

from llvmlite import ir
from numba import types

from hindsched.offline.kmis.kernels.vectors import INT, LANES, VECTOR, load, operation, store

__all__ = ["transpose64"]


def _exchange(builder: Any, rows: list[Any], distance: int, shift: int, mask: int) -> None:
    """Swap bit blocks between rows that are ``distance`` vectors apart."""
    shifts, masks = ir.Constant(VECTOR, [shift] * LANES), ir.Constant(VECTOR, [mask] * LANES)
    for low in range(LANES):
        if low & distance == 0:
            high = low + distance
            moved = builder.xor(builder.lshr(rows[low], shifts), rows[high])
            moved = builder.and_(moved, masks)
            rows[high] = builder.xor(rows[high], moved)
            rows[low] = builder.xor(rows[low], builder.shl(moved, shifts))


def _transpose_lanes(builder: Any, rows: list[Any]) -> None:
    """Transpose 8 vectors of 8 words, as 8 x 8 words."""
    for distance in (4, 2, 1):
        first = [i if i & distance == 0 else 8 + i - distance for i in range(8)]
        second = [i + distance if i & distance == 0 else 8 + i for i in range(8)]
        kind = ir.VectorType(ir.IntType(32), LANES)
        for low in range(LANES):
            if low & distance == 0:
                x, y = rows[low], rows[low + distance]
                rows[low] = builder.shuffle_vector(x, y, ir.Constant(kind, first))
                rows[low + distance] = builder.shuffle_vector(x, y, ir.Constant(kind, second))


@operation
def transpose64(typing: Any, source: Any, target: Any, at: Any) -> Any:
    """Transpose 64 x 64 bits: bit j of ``source[i]`` becomes bit i of ``target[at + j]``."""

    def generate(context: Any, builder: Any, signature: Any, args: Any) -> Any:
        kinds = signature.args
        places = [ir.Constant(INT, 8 * k) for k in range(8)]
        rows = [load(context, builder, kinds[0], args[0], place) for place in places]
        _exchange(builder, rows, 4, 32, 0x00000000FFFFFFFF)
        _exchange(builder, rows, 2, 16, 0x0000FFFF0000FFFF)
        _exchange(builder, rows, 1, 8, 0x00FF00FF00FF00FF)
        _transpose_lanes(builder, rows)
        _exchange(builder, rows, 4, 4, 0x0F0F0F0F0F0F0F0F)
        _exchange(builder, rows, 2, 2, 0x3333333333333333)
        _exchange(builder, rows, 1, 1, 0x5555555555555555)
        _transpose_lanes(builder, rows)
        for place, row in zip(places, rows, strict=True):
            store(context, builder, kinds[1], args[1], builder.add(args[2], place), row)
        return context.get_dummy_value()

    return types.void(source, target, types.int64), generate
