"""Vector operations on the rows of a chart, eight numbers at a time.

The inner loops of the inside-outside algorithm run over one to five vectors each. A compiled
Python loop spends several times the arithmetic on overlap checks and on the scalar rest; these
operations are spelled out as vector instructions instead. Rows start at multiples of
`LANES` and are padded to it, so there is no rest.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
from llvmlite import ir  # type: ignore[import-untyped]
from numba import extending, njit, types
from numba.core import cgutils

from syntagma.structures.base import FloatArray

# a reader of types sees the arguments of the definition; callers leave out the typing context
intrinsic: Callable[..., Any] = extending.intrinsic

LANES = 8
_FAST = ("contract", "reassoc", "nsz")
_DOUBLE = ir.DoubleType()
_VECTOR = ir.VectorType(_DOUBLE, LANES)
_ZERO = ir.Constant(_VECTOR, [0.0] * LANES)


def _row(context: Any, builder: Any, signature: Any, array: Any, start: Any) -> Any:
    data = context.make_array(signature.args[0])(context, builder, array).data
    return builder.bitcast(builder.gep(data, [start]), _VECTOR.as_pointer())


def _load(builder: Any, row: Any, block: Any) -> tuple[Any, Any]:
    place = builder.gep(row, [block])
    value = builder.load(place)
    value.align = 8
    return value, place


def _add_product(builder: Any, total: Any, a: Any, b: Any) -> Any:
    return builder.fadd(total, builder.fmul(a, b, flags=_FAST), flags=_FAST)


def _repeat(builder: Any, number: Any) -> Any:
    none = ir.Constant(_VECTOR, ir.Undefined)
    index = ir.IntType(32)
    first = builder.insert_element(none, number, ir.Constant(index, 0))
    return builder.shuffle_vector(
        first, none, ir.Constant(ir.VectorType(index, LANES), [0] * LANES)
    )


@intrinsic
def add_scaled(
    typingctx: Any, chart: Any, target: Any, source: Any, blocks: Any, factor: Any
) -> Any:
    """Add ``factor`` times the row at ``source`` to the row at ``target``."""
    signature = types.void(chart, types.int64, types.int64, types.int64, types.float64)

    def generate(context: Any, builder: Any, signature: Any, arguments: Any) -> Any:
        chart, target, source, blocks, factor = arguments
        to = _row(context, builder, signature, chart, target)
        of = _row(context, builder, signature, chart, source)
        factors = _repeat(builder, factor)
        with cgutils.for_range(builder, blocks, intp=ir.IntType(64)) as loop:
            value, _ = _load(builder, of, loop.index)
            total, place = _load(builder, to, loop.index)
            builder.store(_add_product(builder, total, value, factors), place).align = 8
        return context.get_dummy_value()

    return signature, generate


@intrinsic
def raise_to(typingctx: Any, chart: Any, target: Any, source: Any, blocks: Any, addend: Any) -> Any:
    """Raise the row at ``target`` to ``addend`` plus the row at ``source`` where that is more."""
    signature = types.void(chart, types.int64, types.int64, types.int64, types.float64)

    def generate(context: Any, builder: Any, signature: Any, arguments: Any) -> Any:
        chart, target, source, blocks, addend = arguments
        to = _row(context, builder, signature, chart, target)
        of = _row(context, builder, signature, chart, source)
        addends = _repeat(builder, addend)
        with cgutils.for_range(builder, blocks, intp=ir.IntType(64)) as loop:
            value, _ = _load(builder, of, loop.index)
            best, place = _load(builder, to, loop.index)
            value = builder.fadd(value, addends)
            more = builder.fcmp_ordered(">", value, best)
            builder.store(builder.select(more, value, best), place).align = 8
        return context.get_dummy_value()

    return signature, generate


@intrinsic
def pull_back(
    typingctx: Any, chart: Any, adjoint: Any, value: Any, target: Any, blocks: Any, factor: Any
) -> Any:
    """Undo one `add_scaled`: add ``factor * adjoint`` to ``target``; return ``adjoint . value``."""
    signature = types.float64(
        chart, types.int64, types.int64, types.int64, types.int64, types.float64
    )

    def generate(context: Any, builder: Any, signature: Any, arguments: Any) -> Any:
        chart, adjoint, value, target, blocks, factor = arguments
        rows = [_row(context, builder, signature, chart, at) for at in (adjoint, value, target)]
        factors = _repeat(builder, factor)
        product = cgutils.alloca_once(builder, _VECTOR)
        builder.store(_ZERO, product)
        with cgutils.for_range(builder, blocks, intp=ir.IntType(64)) as loop:
            (a, _), (v, _), (t, place) = (_load(builder, row, loop.index) for row in rows)
            builder.store(_add_product(builder, t, a, factors), place).align = 8
            builder.store(_add_product(builder, builder.load(product), a, v), product)
        add_up = cgutils.get_or_insert_function(
            builder.module,
            ir.FunctionType(_DOUBLE, [_DOUBLE, _VECTOR]),
            f"llvm.vector.reduce.fadd.v{LANES}f64",
        )
        arguments = [ir.Constant(_DOUBLE, -0.0), builder.load(product)]
        return builder.call(add_up, arguments, fastmath=_FAST)

    return signature, generate


@njit(cache=True, nogil=True)
def row_stride(words: int) -> int:
    """Length of a padded row over the positions 0..words."""
    return (words + LANES) // LANES * LANES


@njit(cache=True, nogil=True)
def aligned(size: int) -> FloatArray:
    """Allocate numbers so that rows begin on cache lines."""
    space = np.empty(size + LANES)
    return space[(-(space.ctypes.data // 8)) % LANES :]
