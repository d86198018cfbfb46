"""Eight candidates of several words: count the bits that they share with a set, and keep those that share enough."""

from __future__ import annotations

from typing import Any

from llvmlite import ir
from numba import types

from hindsched.offline.kmis.kernels.vectors import (
    INT,
    LANES,
    MASK,
    ZERO,
    compress,
    kept_and_full,
    lanes_below,
    lanes_set,
    load,
    load_one,
    operation,
    popcounts,
    reduce,
    repeat,
    splat,
    store,
    two_counts,
    variable,
)

__all__ = ["count8", "fits8", "pack8", "pick8"]


def ones_shared(context: Any, builder: Any, kinds: Any, args: Any) -> Any:
    """Return how many ones eight candidates share with a set: arguments words, at, stride, depth, common."""
    total = variable(builder, ZERO)
    with repeat(builder, args[3], intp=INT) as loop:
        index = builder.add(args[1], builder.mul(args[2], loop.index))
        word = load(context, builder, kinds[0], args[0], index)
        mask = splat(builder, load_one(context, builder, kinds[4], args[4], loop.index))
        ones = popcounts(builder, builder.and_(word, mask))
        builder.store(builder.add(builder.load(total), ones), total)
    return builder.load(total)


@operation
def count8(
    typing: Any,
    words: Any,
    at: Any,
    stride: Any,
    depth: Any,
    common: Any,
    lanes: Any,
    counts: Any,
    to: Any,
) -> Any:
    """Write the numbers of ones that eight candidates of ``depth`` words share with ``common`` to ``counts[to:]``.

    Word w of the candidates is at ``words[at + w * stride]``.  Returns the largest of the first
    ``lanes`` counts.
    """
    number = types.int64

    def generate(context: Any, builder: Any, signature: Any, args: Any) -> Any:
        result = ones_shared(context, builder, signature.args, args)
        store(context, builder, signature.args[6], args[6], args[7], result)
        live = lanes_below(builder, args[5])
        return reduce(builder, "smax", builder.select(live, result, ZERO))

    sig = number(words, number, number, number, common, number, counts, number)
    return sig, generate


@operation
def fits8(
    typing: Any, words: Any, at: Any, stride: Any, depth: Any, common: Any, lanes: Any, need: Any, size: Any
) -> Any:
    """Of the first ``lanes`` of eight candidates, those with need <= ones < size, as the low bits of a word.

    The candidates stand as for `count8`.
    """
    number = types.int64

    def generate(context: Any, builder: Any, signature: Any, args: Any) -> Any:
        counts = ones_shared(context, builder, signature.args, args)
        kept, _ = kept_and_full(builder, counts, args[6], args[7], args[5])
        return builder.zext(builder.bitcast(kept, ir.IntType(LANES)), INT)

    return types.uint64(words, number, number, number, common, number, number, number), generate


@operation
def pack8(
    typing: Any,
    words: Any,
    at: Any,
    stride: Any,
    depth: Any,
    common: Any,
    lanes: Any,
    counts: Any,
    count_at: Any,
    need: Any,
    size: Any,
    to: Any,
    to_stride: Any,
) -> Any:
    """`sieve8` for candidates of ``depth`` words whose counts are known from `count8`."""
    number = types.int64

    def generate(context: Any, builder: Any, signature: Any, args: Any) -> Any:
        kinds = signature.args
        ones = load(context, builder, kinds[6], args[6], args[7])
        kept, full = kept_and_full(builder, ones, args[8], args[9], args[5])
        with repeat(builder, args[3], intp=INT) as loop:
            index = builder.add(args[1], builder.mul(args[2], loop.index))
            word = load(context, builder, kinds[0], args[0], index)
            mask = splat(builder, load_one(context, builder, kinds[4], args[4], loop.index))
            word = compress(builder, builder.and_(word, mask), kept)
            index = builder.add(args[10], builder.mul(args[11], loop.index))
            store(context, builder, kinds[0], args[0], index, word)
        return two_counts(builder, kept, full)

    n = number
    return n(words, n, n, n, common, n, counts, n, n, n, n, n), generate


@operation
def pick8(typing: Any, numbers: Any, at: Any, mask: Any, to: Any) -> Any:
    """Write those of ``numbers[at : at + 8]`` named by the low 8 bits of the mask to ``to``."""
    number = types.int64

    def generate(context: Any, builder: Any, signature: Any, args: Any) -> Any:
        kind = signature.args[0]
        chosen = builder.bitcast(builder.trunc(args[2], ir.IntType(LANES)), MASK)
        values = load(context, builder, kind, args[0], args[1])
        store(context, builder, kind, args[0], args[3], compress(builder, values, chosen))
        return lanes_set(builder, chosen)

    return number(numbers, number, types.uint64, number), generate
