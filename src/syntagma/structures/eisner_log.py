"""Inside and outside in the log domain: slow, and right for any scores.

The scaled recursions hand over the sentences in which they could lose a part that matters.
"""

from __future__ import annotations

import math

import numpy as np
from numba import njit

from syntagma.structures.base import FloatArray
from syntagma.structures.eisner import (
    DOWNWARD,
    KINDS,
    LEFT,
    OPEN_LEFT,
    OPEN_RIGHT,
    RIGHT,
    UPWARD,
    Sentence,
    edge_items,
    edge_range,
    edge_score,
    exists,
    item_at,
)
from syntagma.structures.exponential import exponential


@njit(cache=True, nogil=True)
def _edge_values(
    chart: FloatArray, kind: int, i: int, j: int, sentence: Sentence, values: FloatArray
) -> float:
    """Write the log weight of an item by each edge into ``values``, from 0; return the largest."""
    first, last = edge_range(kind, i, j, sentence)
    top = -math.inf
    for k in range(first, last):
        left, right = edge_items(kind, i, j, k, sentence, sentence.words + 1)
        value = chart[left] + chart[right] + edge_score(kind, i, j, k, sentence)
        values[k - first] = value
        top = value if value > top else top
    return top


@njit(cache=True, nogil=True, fastmath={"contract", "reassoc", "nsz"})
def _weights_below(top: float, values: FloatArray) -> float:
    """Replace log weights by their exponentials relative to the largest; return the sum."""
    total = 0.0
    for k in range(values.size):
        values[k] = exponential(values[k] - top)
        total += values[k]
    return total


@njit(cache=True, nogil=True)
def log_inside(sentence: Sentence) -> FloatArray:
    """Log of the summed weight of every item, in a chart with rows of ``words + 1``."""
    n = sentence.words
    chart = np.full(KINDS * (n + 1) * (n + 1), -math.inf)
    values = np.empty(n + 1)
    for i in range(n, -1, -1):
        chart[item_at(RIGHT, i, i, n, n + 1)] = 0.0
        chart[item_at(LEFT, i, i, n, n + 1)] = 0.0
        for j in range(i + 1, n + 1):
            for kind in UPWARD:
                if not exists(kind, i):
                    continue
                top = _edge_values(chart, kind, i, j, sentence, values)
                if top > -math.inf:
                    first, last = edge_range(kind, i, j, sentence)
                    total = _weights_below(top, values[: last - first])
                    chart[item_at(kind, i, j, n, n + 1)] = top + math.log(total)
    return chart


@njit(cache=True, nogil=True)
def log_outside(
    chart: FloatArray, sentence: Sentence, arcs: FloatArray, siblings: FloatArray
) -> None:
    """Hand the probability of every item down to its edges; write those of the arcs drawn."""
    n = sentence.words
    probability = np.zeros(chart.size)
    values = np.empty(n + 1)
    probability[item_at(RIGHT, 0, n, n, n + 1)] = 1.0
    for i in range(n + 1):
        for j in range(n, i, -1):
            for kind in DOWNWARD:
                item = item_at(kind, i, j, n, n + 1)
                if probability[item] == 0.0:
                    continue
                first, last = edge_range(kind, i, j, sentence)
                top = _edge_values(chart, kind, i, j, sentence, values)
                total = _weights_below(top, values[: last - first])
                for k in range(first, last):
                    share = probability[item] * values[k - first] / total
                    if share == 0.0:
                        continue
                    left, right = edge_items(kind, i, j, k, sentence, n + 1)
                    probability[left] += share
                    probability[right] += share
                    if kind == OPEN_RIGHT or kind == OPEN_LEFT:
                        arc = i * (n + 1) + j if kind == OPEN_RIGHT else j * (n + 1) + i
                        arcs[arc] += share
                        if sentence.second:
                            siblings[arc * (n + 1) + k] += share
