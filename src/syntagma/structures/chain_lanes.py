"""Sums over rows of labels, as vector instructions (see `lanes`).

All arrays are flat; offsets and strides count numbers. A row of labels takes ``blocks`` vectors.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from llvmlite import ir  # type: ignore[import-untyped]
from numba import types
from numba.core import cgutils

from syntagma.structures.lanes import (
    DOUBLE,
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


def _place(builder: Any, start: Any, index: Any, stride: Any) -> Any:
    return builder.add(start, builder.mul(index, stride))


def _in_groups(builder: Any, blocks: Any, body: Callable[[Any, int], None]) -> None:
    """Call ``body(first block, how many)`` for groups of four blocks and then for single ones."""
    four, zero = ir.Constant(INT, 4), ir.Constant(INT, 0)
    whole = builder.mul(builder.udiv(blocks, four), four)
    with cgutils.for_range_slice(builder, zero, whole, four, intp=INT) as (index, _):
        body(index, 4)
    with cgutils.for_range_slice(builder, whole, blocks, ir.Constant(INT, 1), intp=INT) as (
        index,
        _,
    ):
        body(index, 1)


@intrinsic
def combine(
    typingctx: Any, x: Any, x0: Any, xs: Any, rows: Any, count: Any,
    m: Any, m0: Any, ms: Any, out: Any, o0: Any, blocks: Any, add: Any,
) -> Any:  # fmt: skip
    """Write ``out[k] = sum over i in rows of x[i] * m[i, k]``, on top of ``out`` with ``add``."""
    n = types.int64
    signature = types.void(x, n, n, rows, n, m, n, n, out, n, n, types.boolean)

    def generate(context: Any, builder: Any, signature: Any, arguments: Any) -> Any:
        x, x0, xs, rows, count, m, m0, ms, out, o0, blocks, add = arguments
        kinds = signature.args
        x, rows = pointer(context, builder, kinds[0], x), pointer(context, builder, kinds[3], rows)
        m, out = pointer(context, builder, kinds[5], m), pointer(context, builder, kinds[8], out)

        def columns(block: Any, several: int) -> None:
            shift = builder.mul(block, ir.Constant(INT, LANES))
            to = vector_at(builder, out, builder.add(o0, shift))
            totals = [cgutils.alloca_once(builder, VECTOR) for _ in range(several)]
            for q, total in enumerate(totals):
                place = builder.gep(to, [ir.Constant(INT, q)])
                builder.store(ZERO, total)
                with builder.if_then(add):
                    builder.store(load(builder, place), total)
            with cgutils.for_range(builder, count, intp=INT) as loop:
                i = builder.load(builder.gep(rows, [loop.index]))
                factor = repeat(builder, builder.load(builder.gep(x, [_place(builder, x0, i, xs)])))
                source = vector_at(builder, m, builder.add(_place(builder, m0, i, ms), shift))
                for q, total in enumerate(totals):
                    value = load(builder, builder.gep(source, [ir.Constant(INT, q)]))
                    builder.store(add_product(builder, builder.load(total), value, factor), total)
            for q, total in enumerate(totals):
                place = builder.gep(to, [ir.Constant(INT, q)])
                store(builder, builder.load(total), place)

        _in_groups(builder, blocks, columns)
        return context.get_dummy_value()

    return signature, generate


@intrinsic
def spread(
    typingctx: Any, x: Any, x0: Any, xs: Any, rows: Any, count: Any,
    w: Any, w0: Any, out: Any, o0: Any, os: Any, blocks: Any,
) -> Any:  # fmt: skip
    """Add ``out[i, k] += x[i] * w[k]`` for i in rows."""
    n = types.int64
    signature = types.void(x, n, n, rows, n, w, n, out, n, n, n)

    def generate(context: Any, builder: Any, signature: Any, arguments: Any) -> Any:
        x, x0, xs, rows, count, w, w0, out, o0, os, blocks = arguments
        kinds = signature.args
        x, rows = pointer(context, builder, kinds[0], x), pointer(context, builder, kinds[3], rows)
        w, out = pointer(context, builder, kinds[5], w), pointer(context, builder, kinds[7], out)
        weights = vector_at(builder, w, w0)
        with cgutils.for_range(builder, count, intp=INT) as loop:
            i = builder.load(builder.gep(rows, [loop.index]))
            factor = repeat(builder, builder.load(builder.gep(x, [_place(builder, x0, i, xs)])))
            target = vector_at(builder, out, _place(builder, o0, i, os))
            with cgutils.for_range(builder, blocks, intp=INT) as inner:
                place = builder.gep(target, [inner.index])
                value = load(builder, builder.gep(weights, [inner.index]))
                total = add_product(builder, load(builder, place), value, factor)
                store(builder, total, place)
        return context.get_dummy_value()

    return signature, generate


@intrinsic
def extremes(typingctx: Any, values: Any, start: Any, count: Any) -> Any:
    """Return the largest and the smallest of ``count >= 8`` numbers."""
    signature = types.UniTuple(types.float64, 2)(values, types.int64, types.int64)

    def generate(context: Any, builder: Any, signature: Any, arguments: Any) -> Any:
        values, start, count = arguments
        data = pointer(context, builder, signature.args[0], values)
        lanes = ir.Constant(INT, LANES)
        # the last vector may overlap the one before it: counting twice changes no extreme
        final = load(
            builder, vector_at(builder, data, builder.sub(builder.add(start, count), lanes))
        )
        kept = {
            ">": cgutils.alloca_once(builder, VECTOR),
            "<": cgutils.alloca_once(builder, VECTOR),
        }
        for slot in kept.values():
            builder.store(final, slot)
        first = vector_at(builder, data, start)
        with cgutils.for_range(builder, builder.udiv(count, lanes), intp=INT) as loop:
            value = load(builder, builder.gep(first, [loop.index]))
            for sign, slot in kept.items():
                old = builder.load(slot)
                builder.store(
                    builder.select(builder.fcmp_ordered(sign, value, old), value, old), slot
                )
        found = []
        for name, slot in zip(("fmax", "fmin"), kept.values(), strict=True):
            function = cgutils.get_or_insert_function(
                builder.module,
                ir.FunctionType(DOUBLE, [VECTOR]),
                f"llvm.vector.reduce.{name}.v{LANES}f64",
            )
            found.append(builder.call(function, [builder.load(slot)]))
        return context.make_tuple(builder, signature.return_type, found)

    return signature, generate
