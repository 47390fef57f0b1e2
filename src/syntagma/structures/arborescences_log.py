"""Sums over all dependency trees in logarithms, where those of `arborescences_sums` underflow.

The elimination is the same. With a single root and forbidden arcs, a word may be left that only the
root can have as a modifier: it takes the root's place for the words that are left (``top``).
"""

from __future__ import annotations

import math

from numba import njit

from syntagma.structures.base import FloatArray
from syntagma.structures.eisner import Sentence
from syntagma.structures.exponential import exponential

_NEGLIGIBLE = -40.0  # exp of it is lost beside 1
_OVERWHELMING = 300.0  # beside exp of it, every number of words is lost


@njit(cache=True, nogil=True)
def _log_add(a: float, b: float) -> float:
    low, high = (a, b) if a < b else (b, a)
    if low - high > _NEGLIGIBLE:
        return high + math.log1p(math.exp(low - high))
    return high


@njit(cache=True, nogil=True)
def _log_sum(values: FloatArray) -> float:
    """Logarithm of the sum; -inf of nothing."""
    top = -math.inf
    for k in range(values.size):
        top = values[k] if values[k] > top else top
    if top == -math.inf:
        return top
    total = 0.0
    for k in range(values.size):
        total += exponential(values[k] - top)
    return top + math.log(total)


@njit(cache=True, nogil=True)
def log_eliminate(
    sentence: Sentence, weights: FloatArray, shares: FloatArray, totals: FloatArray
) -> tuple[float, int]:
    """Eliminate all words; return the log partition, and the only word below the root.

    If there may be several such words, the number returned is that of the words plus one.
    """
    n = sentence.words
    for m in range(n + 1):
        for h in range(n + 1):
            weights[m, h] = sentence.arcs[h * (n + 1) + m] if h != m else -math.inf
    shares[:] = -math.inf
    top = 0 if sentence.single else n + 1
    log_partition = 0.0
    for v in range(n, 0, -1):
        total = _log_sum(weights[v, 1 if top == 0 else 0 : v])
        if total == -math.inf and top == 0:
            top = v
            weights[1:v, 0] = -math.inf
            total = weights[v, 0]
        if total == -math.inf:
            return total, 0
        totals[v] = total
        log_partition += total
        for h in range(v):
            shares[v, h] = weights[v, h] - total
        for m in range(1, v):
            through = weights[m, v]
            if through > -math.inf:
                for h in range(v):
                    weights[m, h] = _log_add(weights[m, h], through + shares[v, h])
    return log_partition, top


@njit(cache=True, nogil=True)
def _gather(
    v: int, weights: FloatArray, shares: FloatArray, adjoints: FloatArray, below: FloatArray
) -> float:
    """Collect the adjoints of the arcs through a word; return how many are to be expected."""
    scratch = below[1, :v]
    tops = below[2, :v]
    tops[:] = -math.inf
    for m in range(1, v):
        through = weights[m, v]
        for h in range(v):
            scratch[h] = shares[v, h] + adjoints[m, h]
            value = adjoints[m, h] + through
            tops[h] = value if value > tops[h] else tops[h]
        adjoints[m, v] = _log_sum(scratch)
    scratch[:] = 0.0
    for m in range(1, v):
        through = weights[m, v]
        for h in range(v):
            # where the top is -inf the argument is NaN, and its exponential 0
            scratch[h] += exponential(adjoints[m, h] + through - tops[h])
    expected = 0.0
    for h in range(v):
        below[0, h] = tops[h] + math.log(scratch[h]) if scratch[h] > 0.0 else -math.inf
        expected += exponential(shares[v, h] + below[0, h])
    return expected


@njit(cache=True, nogil=True)
def log_adjoints(
    words: int,
    top: int,
    weights: FloatArray,
    shares: FloatArray,
    totals: FloatArray,
    adjoints: FloatArray,
    below: FloatArray,
) -> None:
    """Write the logarithms of the adjoints; ``below`` is scratch of three rows."""
    adjoints[:] = -math.inf
    for v in range(1, words + 1):
        expected = _gather(v, weights, shares, adjoints, below)
        if v == top:
            adjoints[1:v, 0] = -math.inf  # these arcs were dropped
            adjoints[v, 0] = -totals[v]
            continue
        for h in range(v):
            value = below[0, h]
            if (h > 0 or v < top) and value < _OVERWHELMING:
                rest = 1.0 + (math.exp(value) - expected)
                value = math.log(rest) if rest > 0.0 else -math.inf
            adjoints[v, h] = value - totals[v]


@njit(cache=True, nogil=True)
def log_marginals(sentence: Sentence, adjoints: FloatArray, arcs: FloatArray) -> None:
    """Write the probability of every arc."""
    n = sentence.words
    for h in range(n + 1):
        for m in range(1, n + 1):
            if h != m:
                arcs[h * (n + 1) + m] = exponential(sentence.arcs[h * (n + 1) + m] + adjoints[m, h])
