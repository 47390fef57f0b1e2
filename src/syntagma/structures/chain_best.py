"""The best and the k best label sequences of linear chains of either order.

States, weights and transitions are those of `chain_forward`, here as logarithms. Ties go to the
smaller state and the smaller predecessor, in both searches, so the best is the first of the k best.
"""

from __future__ import annotations

import numpy as np
from numba import njit, prange

from syntagma.structures.base import FloatArray, IntArray, Offsets


@njit(cache=True, nogil=True)
def advance(
    order: int,
    t: int,
    before: FloatArray,
    now: FloatArray,
    word_before: FloatArray,
    word: FloatArray,
    weight: FloatArray,
    transition: FloatArray,
) -> None:
    """Fill the best score of every state at word t from those at the word before."""
    contexts, labels = now.shape
    for j in range(contexts if t > 0 else 1):
        row = now[j]
        if t == 0:
            row[:] = word
            continue
        row[:] = -np.inf
        if order == 2 and word_before[j] == -np.inf:
            continue
        if t < order:
            row[:] = before[0, j]
        else:
            for i in range(labels):
                score = before[i, j] if order == 2 else before[0, i]
                if score > -np.inf:
                    source = transition[i * contexts + j]
                    for k in range(labels):
                        total = score + source[k]
                        row[k] = total if total > row[k] else row[k]
        context = weight[j]
        for k in range(labels):
            row[k] = (row[k] + context[k]) + word[k]


@njit(cache=True, nogil=True)
def trace(
    order: int,
    words: int,
    best: FloatArray,
    transitions: FloatArray,
    transitions_vary: bool,
    start: int,
    outcome: IntArray,
) -> float:
    """Read the best sequence off the filled table, from its end; return its score."""
    contexts, labels = best.shape[1], best.shape[2]
    top, j, k = -np.inf, 0, 0
    for a in range(contexts if words > 1 else 1):
        for b in range(labels):
            if best[words - 1, a, b] > top:
                top, j, k = best[words - 1, a, b], a, b
    if top == -np.inf:
        outcome[:] = -1
        return top
    for t in range(words - 1, -1, -1):
        outcome[t] = k
        if t == 0:
            break
        if t < order:
            k, j = j, 0
            continue
        transition = transitions[start + t if transitions_vary else 0]
        most, choice = -np.inf, 0
        for i in range(labels):
            score = best[t - 1, i, j] if order == 2 else best[t - 1, 0, i]
            score += transition[i * contexts + j, k]
            if score > most:
                most, choice = score, i
        k, j = (j, choice) if order == 2 else (choice, 0)
    return top


@njit(cache=True, nogil=True)
def viterbi_chunk(
    order: int,
    labels: FloatArray,
    weights: FloatArray,
    weights_vary: bool,
    transitions: FloatArray,
    transitions_vary: bool,
    offsets: Offsets,
    first: int,
    last: int,
    score: FloatArray,
    outcome: IntArray,
) -> None:
    """Find the best sequences of the sentences ``first`` to ``last - 1``, with one table."""
    longest = 1
    for s in range(first, last):
        longest = max(longest, offsets[s + 1] - offsets[s])
    best = np.empty((longest, weights.shape[1], labels.shape[1]))
    for s in range(first, last):
        start, words = offsets[s], offsets[s + 1] - offsets[s]
        if words == 0:
            score[s] = 0.0
            continue
        for t in range(words):
            advance(
                order,
                t,
                best[max(t - 1, 0)],
                best[t],
                labels[start + max(t - 1, 0)],
                labels[start + t],
                weights[start + t if weights_vary else 0],
                transitions[start + t if transitions_vary else 0],
            )
        score[s] = trace(
            order, words, best, transitions, transitions_vary, start, outcome[start : start + words]
        )


@njit(cache=True, nogil=True, parallel=True)
def viterbi(
    order: int,
    labels: FloatArray,
    weights: FloatArray,
    weights_vary: bool,
    transitions: FloatArray,
    transitions_vary: bool,
    offsets: Offsets,
    bounds: Offsets,
    score: FloatArray,
    outcome: IntArray,
) -> None:
    """Find the best sequence of every sentence."""
    for c in prange(len(bounds) - 1):
        viterbi_chunk(
            order,
            labels,
            weights,
            weights_vary,
            transitions,
            transitions_vary,
            offsets,
            bounds[c],
            bounds[c + 1],
            score,
            outcome,
        )
