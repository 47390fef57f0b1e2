"""Operations on the rows of a chart, as vector instructions (see `lanes`).

Rows start at multiples of `LANES` and are padded to it.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from llvmlite import ir  # type: ignore[import-untyped]
from numba import njit, types
from numba.core import cgutils

from syntagma.structures.base import FloatArray
from syntagma.structures.lanes import (
    DOUBLE,
    FAST,
    INT,
    LANES,
    VECTOR,
    ZERO,
    add_product,
    intrinsic,
    load,
    pointer,
    repeat,
    store,
    vector_at,
)


def _row(context: Any, builder: Any, signature: Any, array: Any, start: Any) -> Any:
    return vector_at(builder, pointer(context, builder, signature.args[0], array), start)


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
        factors = repeat(builder, factor)
        with cgutils.for_range(builder, blocks, intp=INT) as loop:
            place = builder.gep(to, [loop.index])
            value = load(builder, builder.gep(of, [loop.index]))
            store(builder, add_product(builder, load(builder, place), value, factors), place)
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
        addends = repeat(builder, addend)
        with cgutils.for_range(builder, blocks, intp=INT) as loop:
            place = builder.gep(to, [loop.index])
            best = load(builder, place)
            value = builder.fadd(load(builder, builder.gep(of, [loop.index])), addends)
            more = builder.fcmp_ordered(">", value, best)
            store(builder, builder.select(more, value, best), place)
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
        factors = repeat(builder, factor)
        product = cgutils.alloca_once(builder, VECTOR)
        builder.store(ZERO, product)
        with cgutils.for_range(builder, blocks, intp=INT) as loop:
            places = [builder.gep(row, [loop.index]) for row in rows]
            a, v, t = (load(builder, place) for place in places)
            store(builder, add_product(builder, t, a, factors), places[2])
            builder.store(add_product(builder, builder.load(product), a, v), product)
        add_up = cgutils.get_or_insert_function(
            builder.module,
            ir.FunctionType(DOUBLE, [DOUBLE, VECTOR]),
            f"llvm.vector.reduce.fadd.v{LANES}f64",
        )
        arguments = [ir.Constant(DOUBLE, -0.0), builder.load(product)]
        return builder.call(add_up, arguments, fastmath=FAST)

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
