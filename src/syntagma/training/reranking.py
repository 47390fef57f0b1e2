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
from syntagma.training.loop import Progress

FloatArray = NDArray[np.float64]
Places = NDArray[np.int32]

PER_WORD = 2  # hashed features
SQUARES, SUMS = 0, 1  # of the state that goes with every weight
REAL_RATE = 0.05  # first step of a real feature's weight
SMALLEST = 1e-4  # slope of a tree that is still followed
# the perceptron's steps are of size 1: the base score must outweigh many of them
FIRST_GUESS = {"log-linear": 1.0, "perceptron": 300.0}
_MIX = np.uint64(0x9E3779B97F4A7C15)
_GRAND, _NEIGHBOURS = np.uint64(0x71), np.uint64(0x35)
_ROOT, _NONE = np.uint64(0xB007), np.uint64(0xFACE)


class Lists(NamedTuple):
    """Ranked trees of sentences.

    ``trees[r]`` has rank r of every sentence, -1 where there is none; ``dense[s, r]`` the real
    features of a tree, less those of the best ranked; ``codes`` what stands for each word's tag.
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
def learn_choices(
    trees: IntArray,
    dense: FloatArray,
    codes: Codes,
    offsets: Offsets,
    right: IntArray,
    order: Offsets,
    perceptron: bool,
    rate: float,
    reals: FloatArray,
    weights: FloatArray,
    real_state: FloatArray,
    state: FloatArray,
    step: int,
) -> float:
    """Go through some sentences once; return what they cost, in the learner's own measure.

    The log-linear learner makes the best trees of a list likelier (AdaGrad); the perceptron moves
    towards the best tree of a list, and away from the one that won instead. ``right[s, r]`` counts
    the right heads of a tree. The states hold sums of squares and of every change times the step it
    was made at, for the average.
    """
    shift = table_shift(len(weights))
    cost = 0.0
    for s in order:
        step += 1
        first, last = offsets[s], offsets[s + 1]
        places = np.empty((len(trees), PER_WORD * (last - first)), np.int32)
        counts = np.zeros(len(trees), np.int32)
        number = _list_places(trees[:, first:last], codes[first:last], shift, places, counts)
        if number < 2:
            continue
        scores = np.empty(number)
        _score(dense[s], places, counts, number, reals, weights, scores)
        best = right[s, :number].max() == right[s, :number]
        slopes = np.zeros(number)
        if perceptron:
            chosen = scores.argmax()
            if best[chosen]:
                continue
            cost += 1.0
            slopes[chosen] = -1.0
            slopes[np.where(best, scores, -np.inf).argmax()] = 1.0
        else:
            probability = np.exp(scores - scores.max())
            probability /= probability.sum()
            wanted = probability[best].sum()
            cost -= np.log(max(wanted, 1e-300))
            for r in range(number):
                target = probability[r] / max(wanted, 1e-300) if best[r] else 0.0
                slopes[r] = target - probability[r]
        for d in range(len(reals)):
            slope = 0.0
            for r in range(number):
                slope += slopes[r] * dense[s, r, d]
            _move(reals, real_state, d, slope, perceptron, REAL_RATE, step)
        for r in range(number):
            if abs(slopes[r]) > SMALLEST:
                for i in range(counts[r]):
                    _move(weights, state, places[r, i], slopes[r], perceptron, rate, step)
    return cost


@njit(cache=True, nogil=True, inline="always")
def _move(
    weights: FloatArray,
    state: FloatArray,
    place: int,
    slope: float,
    perceptron: bool,
    rate: float,
    step: int,
) -> None:
    change = slope
    if not perceptron:
        state[place, SQUARES] += slope * slope
        change *= rate / np.sqrt(1.0 + state[place, SQUARES])
    weights[place] += change
    state[place, SUMS] += step * change


class Choice(NamedTuple):
    """What was learnt: weights of real features, in their own units, and of hashed ones."""

    reals: FloatArray
    weights: FloatArray


def learn_to_choose(
    lists: Lists,
    right: IntArray,
    *,
    learner: str,
    epochs: int,
    rate: float,
    size: int,
    seed: int,
    progress: Progress = lambda done, total, value: None,
) -> Choice:
    """Learn the weights of features from lists, and average them over all steps.

    Learning begins with the base parser's own choice: the first real feature has weight 1 for each
    standard deviation.
    """
    scale = lists.dense.std((0, 1))
    scale[scale == 0.0] = 1.0
    scaled = lists._replace(dense=lists.dense / scale)
    count = len(scale)
    reals, weights = np.zeros(count), np.zeros(size)
    reals[0] = FIRST_GUESS[learner]
    real_state, state = np.zeros((count, 2)), np.zeros((size, 2))
    rng, step = np.random.default_rng(seed), 0
    for epoch in range(epochs):
        order = rng.permutation(len(right))
        cost = learn_choices(
            *scaled, right, order, learner == "perceptron", rate, reals, weights,
            real_state, state, step,
        )  # fmt: skip
        step += len(order)
        progress(epoch + 1, epochs, cost)
    averaged = reals - real_state[:, SUMS] / max(step, 1)
    return Choice(averaged / scale, weights - state[:, SUMS] / max(step, 1))
