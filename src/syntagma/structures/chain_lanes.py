"""Sums over rows of labels that are padded to eight numbers, spelled out as vector instructions.

Compiled Python loops over 10 to 50 labels spend more on overlap checks and on the scalar rest than
on arithmetic. All arrays are flat; offsets and strides count numbers, and a row of labels takes
``blocks`` vectors.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from llvmlite import ir  # type: ignore[import-untyped]
from numba import extending, types
from numba.core import cgutils

# numba's own annotation counts the typing context among the arguments of a call
intrinsic: Callable[..., Any] = extending.intrinsic

LANES = 8
_FAST = ("contract", "reassoc", "nsz")
_INT = ir.IntType(64)
_DOUBLE = ir.DoubleType()
_VECTOR = ir.VectorType(_DOUBLE, LANES)
_ZERO = ir.Constant(_VECTOR, [0.0] * LANES)


def _data(context: Any, builder: Any, kind: Any, array: Any) -> Any:
    return context.make_array(kind)(context, builder, array).data


def _vector(builder: Any, data: Any, start: Any) -> Any:
    """Point at the vector that starts at an offset."""
    return builder.bitcast(builder.gep(data, [start]), _VECTOR.as_pointer())


def _load(builder: Any, pointer: Any) -> Any:
    value = builder.load(pointer)
    value.align = 8
    return value


def _add_product(builder: Any, total: Any, a: Any, b: Any) -> Any:
    return builder.fadd(total, builder.fmul(a, b, flags=_FAST), flags=_FAST)


def _repeat(builder: Any, number: Any) -> Any:
    none = ir.Constant(_VECTOR, ir.Undefined)
    first = builder.insert_element(none, number, ir.Constant(ir.IntType(32), 0))
    order = ir.Constant(ir.VectorType(ir.IntType(32), LANES), [0] * LANES)
    return builder.shuffle_vector(first, none, order)


def _place(builder: Any, start: Any, index: Any, stride: Any) -> Any:
    return builder.add(start, builder.mul(index, stride))


def _in_groups(builder: Any, blocks: Any, body: Callable[[Any, int], None]) -> None:
    """Call ``body(first block, how many)`` for groups of four blocks and then for single ones."""
    four, zero = ir.Constant(_INT, 4), ir.Constant(_INT, 0)
    whole = builder.mul(builder.udiv(blocks, four), four)
    with cgutils.for_range_slice(builder, zero, whole, four, intp=_INT) as (index, _):
        body(index, 4)
    with cgutils.for_range_slice(builder, whole, blocks, ir.Constant(_INT, 1), intp=_INT) as (
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
        x, rows = _data(context, builder, kinds[0], x), _data(context, builder, kinds[3], rows)
        m, out = _data(context, builder, kinds[5], m), _data(context, builder, kinds[8], out)

        def columns(block: Any, several: int) -> None:
            shift = builder.mul(block, ir.Constant(_INT, LANES))
            to = _vector(builder, out, builder.add(o0, shift))
            totals = [cgutils.alloca_once(builder, _VECTOR) for _ in range(several)]
            for q, total in enumerate(totals):
                place = builder.gep(to, [ir.Constant(_INT, q)])
                builder.store(_ZERO, total)
                with builder.if_then(add):
                    builder.store(_load(builder, place), total)
            with cgutils.for_range(builder, count, intp=_INT) as loop:
                i = builder.load(builder.gep(rows, [loop.index]))
                factor = _repeat(
                    builder, builder.load(builder.gep(x, [_place(builder, x0, i, xs)]))
                )
                source = _vector(builder, m, builder.add(_place(builder, m0, i, ms), shift))
                for q, total in enumerate(totals):
                    value = _load(builder, builder.gep(source, [ir.Constant(_INT, q)]))
                    builder.store(_add_product(builder, builder.load(total), value, factor), total)
            for q, total in enumerate(totals):
                place = builder.gep(to, [ir.Constant(_INT, q)])
                builder.store(builder.load(total), place).align = 8

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
        x, rows = _data(context, builder, kinds[0], x), _data(context, builder, kinds[3], rows)
        w, out = _data(context, builder, kinds[5], w), _data(context, builder, kinds[7], out)
        weights = _vector(builder, w, w0)
        with cgutils.for_range(builder, count, intp=_INT) as loop:
            i = builder.load(builder.gep(rows, [loop.index]))
            factor = _repeat(builder, builder.load(builder.gep(x, [_place(builder, x0, i, xs)])))
            target = _vector(builder, out, _place(builder, o0, i, os))
            with cgutils.for_range(builder, blocks, intp=_INT) as inner:
                place = builder.gep(target, [inner.index])
                value = _load(builder, builder.gep(weights, [inner.index]))
                total = _add_product(builder, _load(builder, place), value, factor)
                builder.store(total, place).align = 8
        return context.get_dummy_value()

    return signature, generate


@intrinsic
def extremes(typingctx: Any, values: Any, start: Any, count: Any) -> Any:
    """Return the largest and the smallest of ``count >= 8`` numbers."""
    signature = types.UniTuple(types.float64, 2)(values, types.int64, types.int64)

    def generate(context: Any, builder: Any, signature: Any, arguments: Any) -> Any:
        values, start, count = arguments
        data = _data(context, builder, signature.args[0], values)
        lanes = ir.Constant(_INT, LANES)
        # the last vector may overlap the one before it: counting twice changes no extreme
        final = _load(
            builder, _vector(builder, data, builder.sub(builder.add(start, count), lanes))
        )
        kept = {
            ">": cgutils.alloca_once(builder, _VECTOR),
            "<": cgutils.alloca_once(builder, _VECTOR),
        }
        for slot in kept.values():
            builder.store(final, slot)
        pointer = _vector(builder, data, start)
        with cgutils.for_range(builder, builder.udiv(count, lanes), intp=_INT) as loop:
            value = _load(builder, builder.gep(pointer, [loop.index]))
            for sign, slot in kept.items():
                old = builder.load(slot)
                builder.store(
                    builder.select(builder.fcmp_ordered(sign, value, old), value, old), slot
                )
        found = []
        for name, slot in zip(("fmax", "fmin"), kept.values(), strict=True):
            function = cgutils.get_or_insert_function(
                builder.module,
                ir.FunctionType(_DOUBLE, [_VECTOR]),
                f"llvm.vector.reduce.{name}.v{LANES}f64",
            )
            found.append(builder.call(function, [builder.load(slot)]))
        return context.make_tuple(builder, signature.return_type, found)

    return signature, generate
