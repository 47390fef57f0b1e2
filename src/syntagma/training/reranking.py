"""Choosing among the n best trees of a sentence: features of whole trees, and learning of weights.

A tree has the features of its base parser (a few real numbers, such as its score) and hashed ones:
a word's tag with those of its head and its head's head, and a head's tag with those of the nearest
modifiers on both sides.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numba import njit, prange
from numpy.typing import NDArray

from syntagma.structures.base import IntArray, Offsets
from syntagma.training.arc_features import Codes, table_shift

FloatArray = NDArray[np.float64]
Places = NDArray[np.int32]

PER_WORD = 2  # hashed features
_MIX = np.uint64(0x9E3779B97F4A7C15)
_GRAND, _NEIGHBOURS = np.uint64(0x71), np.uint64(0x35)
_ROOT, _NONE = np.uint64(0xB007), np.uint64(0xFACE)


class Lists(NamedTuple):
    """Ranked trees of sentences.

    ``trees[r]`` has rank r of every sentence, -1 where there is none; ``dense[s, r]`` the real
    features of a tree, those of the best ranked being 0; ``codes`` what stands for each word's tag.
    """

    trees: IntArray
    dense: FloatArray
    codes: Codes
    offsets: Offsets


@njit(cache=True, nogil=True, inline="always")
def _hash(kind: np.uint64, one: np.uint64, two: np.uint64, three: np.uint64) -> np.uint64:
    value = kind
    for part in (one, two, three):
        value = (value ^ part) * _MIX
        value ^= value >> np.uint64(32)
    return value * _MIX


@njit(cache=True, nogil=True)
def tree_places(heads: IntArray, codes: Codes, shift: np.uint64, out: Places) -> int:
    """List the places of a tree's hashed features; return how many there are."""
    words = len(heads)
    left, right = np.full(words + 1, -1, np.int64), np.full(words + 1, -1, np.int64)
    for i in range(words):
        head = heads[i]
        if i + 1 < head:
            left[head] = i  # the last one seen is the nearest
        elif right[head] < 0:
            right[head] = i
    n = 0
    for i in range(words):
        head = heads[i]
        above = (
            _NONE if head == 0 else _ROOT if heads[head - 1] == 0 else codes[heads[head - 1] - 1]
        )
        tag = _ROOT if head == 0 else codes[head - 1]
        side = np.uint64(1 if i + 1 < head else 2)
        out[n] = np.int32(_hash(_GRAND * side, codes[i], tag, above) >> shift)
        n += 1
        if left[i + 1] >= 0 or right[i + 1] >= 0:
            before = codes[left[i + 1]] if left[i + 1] >= 0 else _NONE
            after = codes[right[i + 1]] if right[i + 1] >= 0 else _NONE
            out[n] = np.int32(_hash(_NEIGHBOURS, before, codes[i], after) >> shift)
            n += 1
    return n


@njit(cache=True, nogil=True)
def _list_places(
    trees: IntArray, codes: Codes, shift: np.uint64, places: Places, counts: IntArray
) -> int:
    """List the places of every tree of one sentence; return how many trees there are."""
    for r in range(len(trees)):
        if len(codes) and trees[r, 0] < 0:
            return r
        counts[r] = tree_places(trees[r], codes, shift, places[r])
    return len(trees)


@njit(cache=True, nogil=True)
def _score(
    dense: FloatArray,
    places: Places,
    counts: IntArray,
    number: int,
    reals: FloatArray,
    weights: FloatArray,
    scores: FloatArray,
) -> None:
    for r in range(number):
        total = 0.0
        for d in range(len(reals)):
            total += reals[d] * dense[r, d]
        for i in range(counts[r]):
            total += weights[places[r, i]]
        scores[r] = total


@njit(cache=True, nogil=True, parallel=True)
def rerank(
    trees: IntArray,
    dense: FloatArray,
    codes: Codes,
    offsets: Offsets,
    reals: FloatArray,
    weights: FloatArray,
    chosen: IntArray,
    scores: FloatArray,
) -> None:
    """Score every tree of every sentence, and choose the best; -1 where there is none."""
    shift = table_shift(len(weights))
    for s in prange(len(offsets) - 1):
        first, last = offsets[s], offsets[s + 1]
        places = np.empty((len(trees), PER_WORD * (last - first)), np.int32)
        counts = np.zeros(len(trees), np.int32)
        number = _list_places(trees[:, first:last], codes[first:last], shift, places, counts)
        scores[s] = -np.inf
        _score(dense[s], places, counts, number, reals, weights, scores[s])
        chosen[s] = scores[s, :number].argmax() if number else -1


@njit(cache=True, nogil=True)
def learn_by_perceptron(
    trees: IntArray,
    dense: FloatArray,
    codes: Codes,
    offsets: Offsets,
    right: IntArray,
    order: Offsets,
    reals: FloatArray,
    weights: FloatArray,
    real_sums: FloatArray,
    sums: FloatArray,
    step: int,
) -> int:
    """Go through some sentences; where a worse tree wins, move towards the best of its list.

    ``right[s, r]`` counts the right heads of a tree. ``real_sums`` and ``sums`` collect every
    change times the step it was made at, for the average. Returns how many sentences were wrong.
    """
    shift = table_shift(len(weights))
    wrong = 0
    for s in order:
        step += 1
        first, last = offsets[s], offsets[s + 1]
        places = np.empty((len(trees), PER_WORD * (last - first)), np.int32)
        counts = np.zeros(len(trees), np.int32)
        scores = np.empty(len(trees))
        number = _list_places(trees[:, first:last], codes[first:last], shift, places, counts)
        if number < 2:
            continue
        _score(dense[s], places, counts, number, reals, weights, scores)
        best = right[s, :number].max()
        chosen, target = 0, -1
        for r in range(number):
            if scores[r] > scores[chosen]:
                chosen = r
            if right[s, r] == best and (target < 0 or scores[r] > scores[target]):
                target = r
        if right[s, chosen] == best:
            continue
        wrong += 1
        for tree, sign in ((target, 1.0), (chosen, -1.0)):
            for d in range(len(reals)):
                reals[d] += sign * dense[s, tree, d]
                real_sums[d] += step * sign * dense[s, tree, d]
            for i in range(counts[tree]):
                weights[places[tree, i]] += sign
                sums[places[tree, i]] += step * sign
    return wrong
