"""A branch-free exponential that the compiler can turn into vector instructions.

``math.exp`` inside a compiled loop is one library call per number. The scalar function here has
no branch and no call, so a loop over it becomes AVX code: range reduction by multiples of log 2,
a polynomial on the rest (|r| <= log(2)/2), and the power of two put into the exponent bits.
"""

from __future__ import annotations

import numpy as np
from numba import njit

from syntagma.structures.base import FloatArray

LOWEST = -708.0
"""Arguments below this give exactly 0: the result would not be a normal number."""

_LOG2_E = 1.4426950408889634
_LOG_2_HIGH = 6.93147180369123816490e-01  # 33 bits: times a small integer it is exact
_LOG_2_LOW = 1.90821492927058770002e-10
_ROUND = 6755399441055744.0  # 1.5 * 2^52: adding it rounds to an integer, held in the low bits
_BIAS = np.int64(1023)
_MANTISSA = np.int64(52)


@njit(cache=True, nogil=True, fastmath={"contract"})
def exponential(x: float) -> float:
    """Return e**x to about one unit in the last place, for ``x <= 709``; 0 below -708."""
    bounded = x if x > LOWEST else LOWEST
    shifted = bounded * _LOG2_E + _ROUND
    k = shifted - _ROUND
    r = (bounded - k * _LOG_2_HIGH) - k * _LOG_2_LOW
    # Taylor's series to degree 13: the first term left out is below 5e-18 of the result
    p = 1.0 / 6227020800.0
    p = p * r + 1.0 / 479001600.0
    p = p * r + 1.0 / 39916800.0
    p = p * r + 1.0 / 3628800.0
    p = p * r + 1.0 / 362880.0
    p = p * r + 1.0 / 40320.0
    p = p * r + 1.0 / 5040.0
    p = p * r + 1.0 / 720.0
    p = p * r + 1.0 / 120.0
    p = p * r + 1.0 / 24.0
    p = p * r + 1.0 / 6.0
    p = p * r + 0.5
    p = p * r * r + r + 1.0
    bits = (np.float64(shifted).view(np.int64) + _BIAS) << _MANTISSA
    power = np.int64(bits).view(np.float64)
    return p * power if x >= LOWEST else 0.0


@njit(cache=True, nogil=True)
def exponentiate(values: FloatArray, out: FloatArray) -> None:
    """Write e**x of every number of a flat array into ``out``."""
    for i in range(len(values)):
        out[i] = exponential(values[i])
