"""Operations on eight 64-bit words at once, in LLVM's own portable vector types.

Numba has no vector types. These intrinsics are written in LLVM's, which compile for any processor: to AVX-512 where it
has them (eight popcounts in an instruction), to shorter vectors elsewhere.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from llvmlite import ir
from numba import types
from numba.core import cgutils
from numba.extending import intrinsic

LANES = 8
INT = ir.IntType(64)
VECTOR = ir.VectorType(INT, LANES)
MASK = ir.VectorType(ir.IntType(1), LANES)
ZERO = ir.Constant(VECTOR, [0] * LANES)


def operation(implementation: Callable[..., Any]) -> Any:
    """Return `numba.extending.intrinsic`, whose own types hide the arguments from type checkers."""
    return intrinsic(implementation)


variable: Any = cgutils.alloca_once_value
repeat: Any = cgutils.for_range


def function(builder: Any, name: str, result: Any, arguments: list[Any]) -> Any:
    """Return the declaration of an LLVM function."""
    module = builder.module
    known = module.globals.get(name)
    return known or ir.Function(module, ir.FunctionType(result, arguments), name)


def splat(builder: Any, scalar: Any) -> Any:
    """Return a vector with the scalar in every lane."""
    undefined = ir.Constant(VECTOR, ir.Undefined)
    first = builder.insert_element(undefined, scalar, ir.Constant(ir.IntType(32), 0))
    pattern = ir.Constant(ir.VectorType(ir.IntType(32), LANES), [0] * LANES)
    return builder.shuffle_vector(first, undefined, pattern)


def address(context: Any, builder: Any, kind: Any, array: Any, index: Any) -> Any:
    """Return the address of an element."""
    data = context.make_array(kind)(context, builder, array).data
    return builder.gep(data, [index])


def load(context: Any, builder: Any, kind: Any, array: Any, index: Any) -> Any:
    """Return eight consecutive elements."""
    pointer = address(context, builder, kind, array, index)
    return builder.load(builder.bitcast(pointer, VECTOR.as_pointer()), align=8)


def load_one(context: Any, builder: Any, kind: Any, array: Any, index: Any) -> Any:
    """Return one element."""
    return builder.load(address(context, builder, kind, array, index))


def store(context: Any, builder: Any, kind: Any, array: Any, index: Any, vector: Any) -> None:
    """Store eight consecutive elements."""
    pointer = address(context, builder, kind, array, index)
    builder.store(vector, builder.bitcast(pointer, VECTOR.as_pointer()), align=8)


def popcounts(builder: Any, vector: Any) -> Any:
    """Return the number of ones of each lane."""
    return builder.call(function(builder, "llvm.ctpop.v8i64", VECTOR, [VECTOR]), [vector])


def compress(builder: Any, vector: Any, mask: Any) -> Any:
    """Return the lanes named by the mask, moved to the front."""
    name = "llvm.experimental.vector.compress.v8i64"
    compress = function(builder, name, VECTOR, [VECTOR, MASK, VECTOR])
    return builder.call(compress, [vector, mask, ir.Constant(VECTOR, ir.Undefined)])


def lanes_below(builder: Any, count: Any) -> Any:
    """Return the mask of the first ``count`` lanes."""
    return builder.icmp_signed("<", ir.Constant(VECTOR, list(range(LANES))), splat(builder, count))


def lanes_set(builder: Any, mask: Any) -> Any:
    """Return how many lanes a mask names."""
    wide = builder.zext(builder.bitcast(mask, ir.IntType(LANES)), INT)
    return builder.call(function(builder, "llvm.ctpop.i64", INT, [INT]), [wide])


def reduce(builder: Any, operation: str, vector: Any) -> Any:
    """Combine the lanes to one number."""
    name = f"llvm.vector.reduce.{operation}.v8i64"
    return builder.call(function(builder, name, INT, [VECTOR]), [vector])


def kept_and_full(builder: Any, counts: Any, need: Any, size: Any, lanes: Any) -> Any:
    """Return two masks of the live lanes: need <= count < size, and count = size."""
    live = lanes_below(builder, lanes)
    whole = splat(builder, size)
    enough = builder.icmp_signed(">=", counts, splat(builder, need))
    part = builder.icmp_signed("<", counts, whole)
    kept = builder.and_(builder.and_(enough, part), live)
    full = builder.and_(builder.icmp_signed("==", counts, whole), live)
    return kept, full


def two_counts(builder: Any, kept: Any, full: Any) -> Any:
    """Return how many are kept, plus 256 times how many are full."""
    shifted = builder.shl(lanes_set(builder, full), ir.Constant(INT, 8))
    return builder.or_(lanes_set(builder, kept), shifted)


@operation
def popcount(typing: Any, word: Any) -> Any:
    """Return the number of ones of one word."""

    def generate(context: Any, builder: Any, signature: Any, args: Any) -> Any:
        return builder.call(function(builder, "llvm.ctpop.i64", INT, [INT]), [args[0]])

    return types.int64(types.uint64), generate


@operation
def lowest(typing: Any, word: Any) -> Any:
    """Return the index of the lowest one of a word that is not 0."""

    def generate(context: Any, builder: Any, signature: Any, args: Any) -> Any:
        count = function(builder, "llvm.cttz.i64", INT, [INT, ir.IntType(1)])
        return builder.call(count, [args[0], ir.Constant(ir.IntType(1), 0)])

    return types.int64(types.uint64), generate


@operation
def tally(typing: Any, words: Any, at: Any, blocks: Any, common: Any, need: Any) -> Any:
    """Return how many of ``words[at : at + 8 * blocks] & common`` have at least ``need`` ones."""
    number = types.int64

    def generate(context: Any, builder: Any, signature: Any, args: Any) -> Any:
        kind = signature.args[0]
        total = variable(builder, ZERO)
        common_, need_ = splat(builder, args[3]), splat(builder, args[4])
        with repeat(builder, args[2], intp=INT) as loop:
            index = builder.add(args[1], builder.shl(loop.index, ir.Constant(INT, 3)))
            word = builder.and_(load(context, builder, kind, args[0], index), common_)
            enough = builder.icmp_signed(">=", popcounts(builder, word), need_)
            builder.store(builder.sub(builder.load(total), builder.sext(enough, VECTOR)), total)
        return reduce(builder, "add", builder.load(total))

    return number(words, number, number, types.uint64, number), generate


@operation
def peak(typing: Any, words: Any, at: Any, blocks: Any, common: Any) -> Any:
    """Return the largest number of ones among ``words[at : at + 8 * blocks] & common``."""
    number = types.int64

    def generate(context: Any, builder: Any, signature: Any, args: Any) -> Any:
        kind = signature.args[0]
        best = variable(builder, ZERO)
        common_ = splat(builder, args[3])
        larger = function(builder, "llvm.smax.v8i64", VECTOR, [VECTOR, VECTOR])
        with repeat(builder, args[2], intp=INT) as loop:
            index = builder.add(args[1], builder.shl(loop.index, ir.Constant(INT, 3)))
            word = builder.and_(load(context, builder, kind, args[0], index), common_)
            now = builder.call(larger, [builder.load(best), popcounts(builder, word)])
            builder.store(now, best)
        return reduce(builder, "smax", builder.load(best))

    return number(words, number, number, types.uint64), generate


@operation
def sieve8(typing: Any, words: Any, at: Any, to: Any, common: Any, need: Any, size: Any, lanes: Any) -> Any:
    """Write those of ``words[at : at + lanes] & common`` with need <= ones < size to ``to``.

    Returns the number written, plus 256 times the number with exactly ``size`` ones.  Eight
    words are written in any case; those past the number returned mean nothing.
    """
    number = types.int64

    def generate(context: Any, builder: Any, signature: Any, args: Any) -> Any:
        kind = signature.args[0]
        word = load(context, builder, kind, args[0], args[1])
        word = builder.and_(word, splat(builder, args[3]))
        counts = popcounts(builder, word)
        kept, full = kept_and_full(builder, counts, args[4], args[5], args[6])
        store(context, builder, kind, args[0], args[2], compress(builder, word, kept))
        return two_counts(builder, kept, full)

    return number(words, number, number, types.uint64, number, number, number), generate


@operation
def zero8(typing: Any, words: Any, at: Any) -> Any:
    """Set ``words[at : at + 8]`` to 0."""

    def generate(context: Any, builder: Any, signature: Any, args: Any) -> Any:
        store(context, builder, signature.args[0], args[0], args[1], ZERO)
        return context.get_dummy_value()

    return types.void(words, types.int64), generate


@operation
def gather64(typing: Any, flags: Any, at: Any) -> Any:
    """Return 64 consecutive booleans as the bits of a word, the first as the lowest."""

    def generate(context: Any, builder: Any, signature: Any, args: Any) -> Any:
        octets = ir.VectorType(ir.IntType(8), 64)
        pointer = address(context, builder, signature.args[0], args[0], args[1])
        loaded = builder.load(builder.bitcast(pointer, octets.as_pointer()), align=1)
        is_true = builder.icmp_unsigned("!=", loaded, ir.Constant(octets, [0] * 64))
        return builder.bitcast(is_true, INT)

    return types.uint64(flags, types.int64), generate
