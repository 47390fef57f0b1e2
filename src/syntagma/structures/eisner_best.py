"""The best tree, by the recursion for sums with maxima in their place."""

from __future__ import annotations

import math

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
    edge_items,
    edge_range,
    edge_score,
)
from syntagma.structures.eisner_lanes import LANES, raise_to, row_stride


@njit(cache=True, nogil=True, fastmath={"nnan", "nsz"})
def _best_sum(a: FloatArray, b: FloatArray, score: float, scores: FloatArray) -> float:
    best = -math.inf
    for k in range(a.size):
        value = (a[k] + b[k]) + (score + scores[k])
        best = value if value > best else best
    return best


@njit(cache=True, nogil=True)
def best_inside(sentence: Sentence, chart: FloatArray) -> None:
    """Write every item's best score: the recursion of `scaled_inside`, for maxima of sums.

    Sums associate as in `best_edge`, which finds the same numbers again.
    """
    n = sentence.words
    stride = row_stride(n)
    table = (n + 1) * stride
    split, opened, closed = SPLIT * table, OPEN_RIGHT * table, OPEN_LEFT * table
    right, left = RIGHT * table, LEFT * table
    split_across, closed_across = SPLIT_ACROSS * table, OPEN_LEFT_ACROSS * table
    chart[: (TABLES if sentence.second else KINDS) * table] = -math.inf
    arcs, siblings = sentence.arcs, sentence.siblings
    for i in range(n + 1):
        chart[right + i * stride + i] = 0.0
        chart[left + i * stride + i] = 0.0
    for i in range(n - 1, -1, -1):
        row = i * stride
        for q in range(i, n):
            j = q + 1
            below = j * stride
            start = j // LANES * LANES
            blocks = (stride - start) // LANES
            only_child = i == 0 and sentence.single
            if q == i or not only_child:
                raise_to(
                    chart, split + row + start, left + below + start, blocks, chart[right + row + q]
                )
            parts = chart[split + row + j]
            rightward, leftward = i * (n + 1) + j, j * (n + 1) + i
            to_right = parts + arcs[rightward]
            to_left = parts + arcs[leftward] if i > 0 else -math.inf
            if sentence.second:
                g = siblings[rightward * (n + 1) : (rightward + 1) * (n + 1)]
                to_right = chart[left + row + stride + j] + (arcs[rightward] + g[i])
                if not only_child:
                    further = _best_sum(
                        chart[opened + row + i + 1 : opened + row + j],
                        chart[split_across + below + i + 1 : split_across + below + j],
                        arcs[rightward],
                        g[i + 1 : j],
                    )
                    to_right = max(to_right, further)
                if i > 0:
                    g = siblings[leftward * (n + 1) : (leftward + 1) * (n + 1)]
                    further = _best_sum(
                        chart[split + row + i + 1 : split + row + j],
                        chart[closed_across + below + i + 1 : closed_across + below + j],
                        arcs[leftward],
                        g[i + 1 : j],
                    )
                    to_left = max(chart[right + row + q] + (arcs[leftward] + g[j]), further)
                chart[split_across + below + i] = parts
                chart[closed_across + below + i] = to_left
            chart[opened + row + j] = to_right
            raise_to(chart, right + row + start, right + below + start, blocks, to_right)
            if i > 0:
                chart[closed + row + j] = to_left
                if q > i:
                    raise_to(
                        chart,
                        left + row + start,
                        closed + q * stride + start,
                        blocks,
                        chart[left + row + q],
                    )
                chart[left + row + j] = max(chart[left + row + j], to_left)


@njit(cache=True, nogil=True)
def best_edge(kind: int, i: int, j: int, chart: FloatArray, sentence: Sentence) -> int:
    """Find the edge by which an item reaches its best score: the first one if several do."""
    best = -math.inf
    edge = -1
    first, last = edge_range(kind, i, j, sentence)
    for k in range(first, last):
        left, right = edge_items(kind, i, j, k, sentence, row_stride(sentence.words))
        value = chart[left] + chart[right] + edge_score(kind, i, j, k, sentence)
        if value > best:
            best = value
            edge = k
    return edge
