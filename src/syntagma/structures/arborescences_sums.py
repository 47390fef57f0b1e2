"""Sums over all dependency trees, by eliminating one word after another.

The sum is a determinant (Tutte's matrix-tree theorem; Koo et al. 2007, McDonald and Satta 2007,
Smith and Smith 2007), which Gaussian elimination finds. Nothing is ever subtracted if it is done on
the weights instead of the Laplacian (Grassmann, Taksar and Heyman 1985): without word ``v``, the
weight of an arc from ``h`` to ``m`` grows by that of the way through ``v``,

    weight[m, h] += weight[m, v] * share[v, h],    share[v, h] = weight[v, h] / total[v],

where ``total`` is the weight of all arcs into ``v`` from what is left, and the sum over trees is
the product of the totals. Every number keeps its accuracy, however small.

With a single root, let the weights of its arcs shrink to nothing: what is left in proportion to
them is the sum over trees with one such arc. Totals then leave the root out while there is a word.

The adjoints are the derivatives of the logarithm of the sum, one for each weight as it was when
its word was eliminated. Words go from the last to the first, so the heads left are in front of
the row, the root the first of them.
"""

from __future__ import annotations

import math

from numba import njit

from syntagma.structures.base import FloatArray
from syntagma.structures.eisner import Sentence
from syntagma.structures.eisner_lanes import LANES, add_scaled, aligned, pull_back, row_stride
from syntagma.structures.exponential import exponential

WEIGHTS, SHARES, ADJOINTS = range(3)  # tables of the workspace, with a row for each modifier
TABLES = 3

# An underflow loses less than 1e-300 of a weight, and that times the adjoint of the sum over trees
_LARGEST = 1e280


@njit(cache=True, nogil=True)
def workspace(words: int) -> FloatArray:
    """Allocate the tables for sentences of up to this many words."""
    return aligned(TABLES * (words + 1) * row_stride(words))


@njit(cache=True, nogil=True)
def table_of(space: FloatArray, table: int, words: int) -> FloatArray:
    """View one table as rows and columns."""
    size = (words + 1) * row_stride(words)
    return space[table * size : (table + 1) * size].reshape(words + 1, row_stride(words))


@njit(cache=True, nogil=True)
def _word_shifts(sentence: Sentence, shifts: FloatArray) -> float:
    """Write the largest score of each word; return the sum, -inf if a word has none.

    With a single root its arcs do not count, and have a largest of their own.
    """
    n = sentence.words
    shifts[: n + 1] = -math.inf
    for head in range(1 if sentence.single else 0, n + 1):
        scores = sentence.arcs[head * (n + 1) : (head + 1) * (n + 1)]
        own = shifts[head]
        for m in range(n + 1):
            shifts[m] = scores[m] if scores[m] > shifts[m] else shifts[m]
        shifts[head] = own  # a word does not modify itself
    shifts[0] = 0.0
    if shifts[: n + 1].min() == -math.inf:
        return -math.inf
    if sentence.single:
        shifts[0] = (sentence.arcs[1 : n + 1] - shifts[1 : n + 1]).max()
    return shifts[: n + 1].sum()


@njit(cache=True, nogil=True)
def _weights_from(sentence: Sentence, head: int, shifts: FloatArray, weights: FloatArray) -> None:
    """Write the scaled weights of the arcs from one head."""
    n = sentence.words
    scores = sentence.arcs[head * (n + 1) : (head + 1) * (n + 1)]
    shift = shifts[: n + 1]
    extra = shift[0] if head == 0 and sentence.single else 0.0
    for m in range(n + 1):
        weights[m] = exponential(scores[m] - shift[m] - extra)
    weights[0] = weights[head] = 0.0


@njit(cache=True, nogil=True, fastmath={"contract", "reassoc", "nsz"})
def _sum(values: FloatArray) -> float:
    total = 0.0
    for k in range(values.size):
        total += values[k]
    return total


@njit(cache=True, nogil=True, fastmath={"contract", "reassoc", "nsz"})
def _dot(a: FloatArray, b: FloatArray) -> float:
    total = 0.0
    for k in range(a.size):
        total += a[k] * b[k]
    return total


@njit(cache=True, nogil=True)
def _eliminate(space: FloatArray, words: int, single: bool, totals: FloatArray) -> float:
    """Eliminate all words; return the logarithm of the product of the totals, or NaN."""
    stride = row_stride(words)
    shares = table_of(space, SHARES, words)
    weights = table_of(space, WEIGHTS, words)
    shares[:] = 0.0
    logarithm = 0.0
    for v in range(words, 0, -1):
        total = _sum(weights[v, 1 if single and v > 1 else 0 : v])
        if not 1.0 / _LARGEST < total < _LARGEST:
            return math.nan
        totals[v] = total
        logarithm += math.log(total)
        for h in range(v):
            shares[v, h] = weights[v, h] / total
        # columns from v on, up to the end of the last vector, grow by nothing
        blocks = (v + LANES - 1) // LANES
        source = (SHARES * (words + 1) + v) * stride
        for m in range(1, v):
            add_scaled(space, m * stride, source, blocks, weights[m, v])
    return logarithm


@njit(cache=True, nogil=True)
def _differentiate(space: FloatArray, words: int, single: bool, totals: FloatArray) -> float:
    """Run `_eliminate` backwards; return the sum of all adjoints."""
    stride = row_stride(words)
    weights = table_of(space, WEIGHTS, words)
    shares = table_of(space, SHARES, words)
    adjoints = table_of(space, ADJOINTS, words)
    adjoints[:] = 0.0
    below = adjoints[0]  # the root modifies nothing: its row collects what goes through a word
    everything = 0.0
    for v in range(1, words + 1):
        below[:] = 0.0
        blocks = (v + LANES - 1) // LANES
        for m in range(1, v):
            adjoints[m, v] = pull_back(
                space,
                (ADJOINTS * (words + 1) + m) * stride,
                (SHARES * (words + 1) + v) * stride,
                ADJOINTS * (words + 1) * stride,
                blocks,
                weights[m, v],
            )
        # times its weight this is a difference of numbers below v, which does no harm
        rest = 1.0 - _dot(shares[v, :v], below[:v])
        for h in range(v):
            adjoints[v, h] = (rest + below[h]) / totals[v]
        if single and v > 1:
            adjoints[v, 0] = below[0] / totals[v]
        everything += _sum(adjoints[v, :v]) + _sum(adjoints[1:v, v])
    return everything


@njit(cache=True, nogil=True)
def scaled_sum(
    space: FloatArray, sentence: Sentence, shifts: FloatArray, totals: FloatArray
) -> float:
    """Fill the tables; return the log partition, or NaN if underflow could matter."""
    n = sentence.words
    shift = _word_shifts(sentence, shifts)
    if not math.isfinite(shift):
        return math.nan
    weights = table_of(space, WEIGHTS, n)
    for head in range(n + 1):
        _weights_from(sentence, head, shifts, totals)
        for m in range(1, n + 1):
            weights[m, head] = totals[m]
    weights[:, n + 1 :] = 0.0
    logarithm = _eliminate(space, n, sentence.single, totals)
    if math.isnan(logarithm) or not _differentiate(space, n, sentence.single, totals) < _LARGEST:
        return math.nan
    return logarithm + shift


@njit(cache=True, nogil=True)
def scaled_marginals(
    space: FloatArray,
    sentence: Sentence,
    shifts: FloatArray,
    scratch: FloatArray,
    arcs: FloatArray,
) -> None:
    """Write the probability of every arc, after `scaled_sum`."""
    n = sentence.words
    adjoints = table_of(space, ADJOINTS, n)
    for head in range(n + 1):
        _weights_from(sentence, head, shifts, scratch)
        row = arcs[head * (n + 1) : (head + 1) * (n + 1)]
        for m in range(1, n + 1):
            row[m] = max(0.0, scratch[m] * adjoints[m, head])
        row[head] = 0.0
