"""Inside and outside in scaled probabilities: the fast way to sum over projective trees.

`eisner_weights` says how the weights are scaled, and below which sum over trees the result is not
to be trusted; `eisner_log` then does the sentence again.

The recursions run along rows of the chart, from the last word's row upwards. Each step adds a
multiple of one row to another, from column j to the end; rows are padded, and the step begins at
the multiple of `LANES` below j, because a row holds zeros left of its diagonal.
"""

from __future__ import annotations

from numba import njit

from syntagma.structures.base import FloatArray
from syntagma.structures.eisner import (
    KINDS,
    LEFT,
    OPEN_LEFT,
    OPEN_LEFT_ACROSS,
    OPEN_RIGHT,
    RIGHT,
    SPLIT,
    SPLIT_ACROSS,
    TABLES,
    Sentence,
)
from syntagma.structures.eisner_lanes import LANES, add_scaled, aligned, pull_back, row_stride
from syntagma.structures.eisner_weights import sibling_weights

ADJOINT = TABLES  # tables from here on hold the adjoints, in the same order


@njit(cache=True, nogil=True)
def workspace(words: int) -> FloatArray:
    """Allocate charts and adjoints for sentences of up to this many words."""
    return aligned(2 * TABLES * (words + 1) * row_stride(words))


@njit(cache=True, nogil=True, fastmath={"contract", "reassoc", "nsz"})
def _weighted_dot(weights: FloatArray, a: FloatArray, b: FloatArray) -> float:
    total = 0.0
    for k in range(a.size):
        total += weights[k] * a[k] * b[k]
    return total


@njit(cache=True, nogil=True, fastmath={"contract", "reassoc", "nsz"})
def _pull_back_weighted(
    adjoint: float,
    scale: float,
    weights: FloatArray,
    a: FloatArray,
    b: FloatArray,
    adjoint_a: FloatArray,
    adjoint_b: FloatArray,
) -> None:
    """Undo one `_weighted_dot`; the weights become the probabilities of their parts."""
    for k in range(a.size):
        flow = adjoint * weights[k]
        adjoint_a[k] += flow * b[k]
        adjoint_b[k] += flow * a[k]
        weights[k] = flow * a[k] * b[k] * scale


@njit(cache=True, nogil=True)
def scaled_inside(
    chart: FloatArray, sentence: Sentence, weights: FloatArray, shifts: FloatArray
) -> float:
    """Sum the weights of every item's derivations; return the sum over trees.

    First order: ``weights`` holds the weight of every arc. Second order: it receives those of the
    siblings, a row for every arc, or all in one row if it is that short.
    """
    n = sentence.words
    stride = row_stride(n)
    table = (n + 1) * stride
    split, opened, closed = SPLIT * table, OPEN_RIGHT * table, OPEN_LEFT * table
    right, left = RIGHT * table, LEFT * table
    split_across, closed_across = SPLIT_ACROSS * table, OPEN_LEFT_ACROSS * table
    chart[: (TABLES if sentence.second else KINDS) * table] = 0.0
    kept = n + 1 if weights.size > n + 1 else 0
    for i in range(n + 1):
        chart[right + i * stride + i] = 1.0
        chart[left + i * stride + i] = 1.0
    for i in range(n - 1, -1, -1):
        row = i * stride
        for q in range(i, n):
            j = q + 1
            below = j * stride
            start = j // LANES * LANES
            blocks = (stride - start) // LANES
            only_child = i == 0 and sentence.single
            if q == i or not only_child:
                add_scaled(
                    chart, split + row + start, left + below + start, blocks, chart[right + row + q]
                )
            parts = chart[split + row + j]
            if not sentence.second:
                to_right = weights[i * (n + 1) + j] * parts
                to_left = weights[j * (n + 1) + i] * parts
            else:
                arc = (i * (n + 1) + j) * kept
                g = weights[arc : arc + n + 1]
                sibling_weights(sentence, i, j, shifts[j], g)
                to_right = g[i] * chart[left + row + stride + j]
                if not only_child:
                    to_right += _weighted_dot(
                        g[i + 1 : j],
                        chart[opened + row + i + 1 : opened + row + j],
                        chart[split_across + below + i + 1 : split_across + below + j],
                    )
                to_left = 0.0
                if i > 0:
                    arc = (j * (n + 1) + i) * kept
                    g = weights[arc : arc + n + 1]
                    sibling_weights(sentence, j, i, shifts[i], g)
                    to_left = g[j] * chart[right + row + q] + _weighted_dot(
                        g[i + 1 : j],
                        chart[split + row + i + 1 : split + row + j],
                        chart[closed_across + below + i + 1 : closed_across + below + j],
                    )
                chart[split_across + below + i] = parts
                chart[closed_across + below + i] = to_left
            chart[opened + row + j] = to_right
            add_scaled(chart, right + row + start, right + below + start, blocks, to_right)
            if i > 0:
                chart[closed + row + j] = to_left
                if q > i:
                    add_scaled(
                        chart,
                        left + row + start,
                        closed + q * stride + start,
                        blocks,
                        chart[left + row + q],
                    )
                chart[left + row + j] += to_left
    return chart[right + n]


@njit(cache=True, nogil=True)
def scaled_outside(
    chart: FloatArray,
    sentence: Sentence,
    weights: FloatArray,
    arcs: FloatArray,
) -> None:
    """Run `scaled_inside` backwards: write the probability of every arc into ``arcs``.

    In second order ``weights`` holds a row for every arc, and the probabilities of the siblings
    take the place of their weights.
    """
    n = sentence.words
    stride = row_stride(n)
    table = (n + 1) * stride
    split, opened, closed = SPLIT * table, OPEN_RIGHT * table, OPEN_LEFT * table
    right, left = RIGHT * table, LEFT * table
    split_across, closed_across = SPLIT_ACROSS * table, OPEN_LEFT_ACROSS * table
    up = ADJOINT * table  # from an item to its adjoint
    chart[up : up + (TABLES if sentence.second else KINDS) * table] = 0.0
    chart[up + right + n] = 1.0
    scale = 1.0 / chart[right + n]
    for i in range(n):
        row = i * stride
        for q in range(n - 1, i - 1, -1):
            j = q + 1
            below = j * stride
            start = j // LANES * LANES
            blocks = (stride - start) // LANES
            only_child = i == 0 and sentence.single
            back_left = 0.0
            if i > 0:
                if q > i:
                    chart[up + left + row + q] += pull_back(
                        chart,
                        up + left + row + start,
                        closed + q * stride + start,
                        up + closed + q * stride + start,
                        blocks,
                        chart[left + row + q],
                    )
                back_left = chart[up + closed + row + j] + chart[up + left + row + j]
            back_right = chart[up + opened + row + j] + pull_back(
                chart,
                up + right + row + start,
                right + below + start,
                up + right + below + start,
                blocks,
                chart[opened + row + j],
            )
            if not sentence.second:
                chart[up + split + row + j] = (
                    back_right * weights[i * (n + 1) + j] + back_left * weights[j * (n + 1) + i]
                )
            else:
                arc = (i * (n + 1) + j) * (n + 1)
                g = weights[arc : arc + n + 1]
                flow = back_right * g[i]
                chart[up + left + row + stride + j] += flow
                g[i] = flow * chart[left + row + stride + j] * scale
                if not only_child:
                    _pull_back_weighted(
                        back_right,
                        scale,
                        g[i + 1 : j],
                        chart[opened + row + i + 1 : opened + row + j],
                        chart[split_across + below + i + 1 : split_across + below + j],
                        chart[up + opened + row + i + 1 : up + opened + row + j],
                        chart[up + split_across + below + i + 1 : up + split_across + below + j],
                    )
                else:
                    g[i + 1 : j] = 0.0
                if i > 0:
                    back_left += chart[up + closed_across + below + i]
                    arc = (j * (n + 1) + i) * (n + 1)
                    g = weights[arc : arc + n + 1]
                    flow = back_left * g[j]
                    chart[up + right + row + q] += flow
                    g[j] = flow * chart[right + row + q] * scale
                    _pull_back_weighted(
                        back_left,
                        scale,
                        g[i + 1 : j],
                        chart[split + row + i + 1 : split + row + j],
                        chart[closed_across + below + i + 1 : closed_across + below + j],
                        chart[up + split + row + i + 1 : up + split + row + j],
                        chart[up + closed_across + below + i + 1 : up + closed_across + below + j],
                    )
                chart[up + split + row + j] += chart[up + split_across + below + i]
            arcs[i * (n + 1) + j] = back_right * chart[opened + row + j] * scale
            arcs[j * (n + 1) + i] = back_left * chart[closed + row + j] * scale
            if q == i or not only_child:
                chart[up + right + row + q] += pull_back(
                    chart,
                    up + split + row + start,
                    left + below + start,
                    up + left + below + start,
                    blocks,
                    chart[right + row + q],
                )
