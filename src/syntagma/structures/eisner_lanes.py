"""Vector operations on the rows of a chart, eight numbers at a time.

The inner loops of the inside-outside algorithm run over one to five vectors each. A compiled
Python loop spends several times the arithmetic on overlap checks and on the scalar rest; these
two operations are spelled out as vector instructions instead. Rows start at multiples of
`LANES` and are padded to it, so there is no rest.
"""

from __future__ import annotations

from typing import Any

from llvmlite import ir
from numba import types
from numba.core import cgutils
from numba.extending import intrinsic

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
