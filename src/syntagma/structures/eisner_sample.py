"""Trees drawn from the distribution, top down along the inside chart."""

from __future__ import annotations

import math

import numpy as np
from numba import njit
from numpy.typing import NDArray

from syntagma.structures.base import FloatArray, IntArray
from syntagma.structures.eisner import (
    OPEN_LEFT,
    OPEN_RIGHT,
    RIGHT,
    Sentence,
    edge_items,
    edge_range,
    edge_score,
    item_at,
    item_span,
)

_STEP = np.uint64(0x9E3779B97F4A7C15)
_MIX_1 = np.uint64(0xBF58476D1CE4E5B9)
_MIX_2 = np.uint64(0x94D049BB133111EB)


@njit(cache=True, nogil=True)
def _mix(state: np.uint64) -> np.uint64:
    """Scramble a counter into 64 random bits (splitmix64, Steele et al. 2014)."""
    z = (state ^ (state >> np.uint64(30))) * _MIX_1
    z = (z ^ (z >> np.uint64(27))) * _MIX_2
    return z ^ (z >> np.uint64(31))


@njit(cache=True, nogil=True)
def stream(seed: np.uint64, sentence: int, draw: int) -> np.uint64:
    """First state of the random numbers of one draw of one sentence."""
    state = _mix(seed + _STEP)
    state = _mix(state ^ (np.uint64(sentence) + _STEP))
    return _mix(state ^ (np.uint64(draw) + _STEP))


@njit(cache=True, nogil=True)
def draw_tree(
    chart: FloatArray,
    stride: int,
    logarithms: bool,
    sentence: Sentence,
    shifts: FloatArray,
    state: np.uint64,
    stack: NDArray[np.int64],
    heads: IntArray,
) -> None:
    """Draw one tree; the chart holds scaled sums, or logarithms of unscaled ones."""
    n = sentence.words
    depth = 1
    stack[0, 0], stack[0, 1], stack[0, 2] = RIGHT, 0, n
    while depth:
        depth -= 1
        kind, i, j = stack[depth, 0], stack[depth, 1], stack[depth, 2]
        if kind == OPEN_RIGHT:
            heads[j - 1] = i
        elif kind == OPEN_LEFT:
            heads[i - 1] = j
        first, last = edge_range(kind, i, j, sentence)
        edge = first
        if last > first + 1:
            state += _STEP
            rest = np.float64(_mix(state) >> np.uint64(11)) * 2.0**-53
            total = chart[item_at(kind, i, j, n, stride)]
            modifier = j if kind == OPEN_RIGHT else i
            for k in range(first, last):
                left, right = edge_items(kind, i, j, k, sentence, stride)
                score = edge_score(kind, i, j, k, sentence)
                if logarithms:
                    share = math.exp(chart[left] + chart[right] + score - total)
                else:
                    share = chart[left] * chart[right] / total
                    if kind == OPEN_RIGHT or kind == OPEN_LEFT:
                        share *= math.exp(score - shifts[modifier])
                if share > 0.0:
                    edge = k  # the last possible one takes what rounding leaves over
                    rest -= share
                    if rest < 0.0:
                        break
        for item in edge_items(kind, i, j, edge, sentence, stride):
            part, begin, end = item_span(item, n, stride)
            if begin < end:
                stack[depth, 0], stack[depth, 1], stack[depth, 2] = part, begin, end
                depth += 1
