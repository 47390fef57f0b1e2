"""Vector instructions spelled out: what the row operations of chains and trees are built from.

A compiled Python loop over one to five vectors spends several times the arithmetic on overlap
checks and on the scalar rest. The operations in `chain_lanes` and `eisner_lanes` say what they mean
in vectors of eight numbers instead; rows are padded to that, so there is no rest.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from llvmlite import ir  # type: ignore[import-untyped]
from numba import extending

# a reader of types sees the arguments of the definition; callers leave out the typing context
intrinsic: Callable[..., Any] = extending.intrinsic

LANES = 8
FAST = ("contract", "reassoc", "nsz")
INT = ir.IntType(64)
DOUBLE = ir.DoubleType()
VECTOR = ir.VectorType(DOUBLE, LANES)
ZERO = ir.Constant(VECTOR, [0.0] * LANES)


def pointer(context: Any, builder: Any, kind: Any, array: Any) -> Any:
    """Point at the first number of an array."""
    return context.make_array(kind)(context, builder, array).data


def vector_at(builder: Any, data: Any, start: Any) -> Any:
    """Point at the vector that starts at an offset."""
    return builder.bitcast(builder.gep(data, [start]), VECTOR.as_pointer())


def load(builder: Any, place: Any) -> Any:
    """Load a vector that need not be aligned."""
    value = builder.load(place)
    value.align = 8
    return value


def store(builder: Any, value: Any, place: Any) -> None:
    """Store a vector where it need not be aligned."""
    builder.store(value, place).align = 8


def add_product(builder: Any, total: Any, a: Any, b: Any) -> Any:
    """Compute ``total + a * b``, as one instruction where there is one."""
    return builder.fadd(total, builder.fmul(a, b, flags=FAST), flags=FAST)


def repeat(builder: Any, number: Any) -> Any:
    """Fill a vector with one number."""
    none = ir.Constant(VECTOR, ir.Undefined)
    index = ir.IntType(32)
    first = builder.insert_element(none, number, ir.Constant(index, 0))
    return builder.shuffle_vector(
        first, none, ir.Constant(ir.VectorType(index, LANES), [0] * LANES)
    )
