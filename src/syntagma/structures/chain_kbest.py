"""The k best label sequences of linear chains: each state keeps its k best histories.

States are numbered (context, label) as in `chain_forward`. The histories of a state are merged from
the sorted histories of its predecessors through a heap. Ties go to the smaller predecessor, then to
its better history, so that the first of the k best is what `chain_best` finds.
"""

from __future__ import annotations

import numpy as np
from numba import njit, prange

from syntagma.structures.base import FloatArray, IntArray, Offsets


@njit(cache=True, nogil=True)
def sift(heap: IntArray, size: int, place: int, value: FloatArray) -> None:
    """Let the source at ``place`` sink to where it belongs: larger first, then smaller number."""
    source = heap[place]
    while True:
        child = 2 * place + 1
        if child >= size:
            break
        if child + 1 < size:
            one, two = heap[child], heap[child + 1]
            if value[two] > value[one] or (value[two] == value[one] and two < one):
                child += 1
        below = heap[child]
        if value[below] < value[source] or (value[below] == value[source] and source < below):
            break
        heap[place] = below
        place = child
    heap[place] = source


@njit(cache=True, nogil=True)
def merge(
    histories: FloatArray,
    first: int,
    step: int,
    gain: FloatArray,
    score: FloatArray,
    back: IntArray,
    heap: IntArray,
    rank: IntArray,
    value: FloatArray,
) -> None:
    """Write the best of all histories of the states ``first + i * step``, each plus its gain.

    ``back`` gets ``i * k + rank``, or -1 where nothing is left.
    """
    k = len(score)
    size = 0
    for i in range(len(gain)):
        value[i] = histories[first + i * step, 0] + gain[i]
        rank[i] = 0
        if value[i] > -np.inf:
            heap[size] = i
            size += 1
    for place in range(size // 2 - 1, -1, -1):
        sift(heap, size, place, value)
    for r in range(k):
        if size == 0:
            score[r:] = -np.inf
            back[r:] = -1
            break
        i = heap[0]
        score[r] = value[i]
        back[r] = i * k + rank[i]
        rank[i] += 1
        value[i] = -np.inf
        if rank[i] < k:
            value[i] = histories[first + i * step, rank[i]] + gain[i]
        if value[i] == -np.inf:
            size -= 1
            heap[0] = heap[size]
        if size:
            sift(heap, size, 0, value)


@njit(cache=True, nogil=True)
def kbest_sentence(
    order: int,
    labels: FloatArray,
    weights: FloatArray,
    weights_vary: bool,
    transitions: FloatArray,
    transitions_vary: bool,
    start: int,
    words: int,
    score: FloatArray,
    outcome: IntArray,
) -> None:
    """Fill the k best scores and sequences of one sentence."""
    k = len(outcome)
    if words == 0:
        score[:] = -np.inf
        score[0] = 0.0
        return
    contexts, size = weights.shape[1], labels.shape[1]
    states = contexts * size
    histories = np.full((states, k), -np.inf)
    fresh = np.full((states, k), -np.inf)
    back = np.full((words, states, k), -1, np.int32)
    heap, rank = np.empty(states, np.int32), np.empty(states, np.int32)
    value, gain = np.empty(states), np.empty(size)
    for t in range(words):
        word = labels[start + t]
        weight = weights[start + t if weights_vary else 0]
        transition = transitions[start + t if transitions_vary else 0]
        for j in range(contexts if t > 0 else 1):
            for label in range(size):
                state = j * size + label
                if word[label] == -np.inf or (t > 0 and weight[j, label] == -np.inf):
                    fresh[state] = -np.inf
                elif t == 0:
                    fresh[state, 0] = word[label]
                elif t < order:
                    fresh[state] = (histories[j] + weight[j, label]) + word[label]
                    for r in range(k):
                        back[t, state, r] = r
                else:
                    for i in range(size):
                        gain[i] = transition[i * contexts + j, label]
                    first, step = (j, size) if order == 2 else (0, 1)
                    merge(
                        histories,
                        first,
                        step,
                        gain,
                        fresh[state],
                        back[t, state],
                        heap,
                        rank,
                        value,
                    )
                    for r in range(k):
                        fresh[state, r] = (fresh[state, r] + weight[j, label]) + word[label]
        histories, fresh = fresh, histories
    ends = np.empty(k, np.int32)
    chosen = outcome[:, start : start + words]
    used = states if words > 1 else size
    merge(histories, 0, 1, np.zeros(used), score, ends, heap, rank, value)
    for r in range(k):
        if ends[r] < 0:
            chosen[r] = -1
            continue
        state, history = ends[r] // k, ends[r] % k
        for t in range(words - 1, -1, -1):
            j, label = state // size, state % size
            chosen[r, t] = label
            if t > 0:
                source = back[t, state, history]
                history = source % k
                if t < order:
                    state = j
                else:
                    state = (source // k) * size + j if order == 2 else source // k


@njit(cache=True, nogil=True, parallel=True)
def kbest_chain(
    order: int,
    labels: FloatArray,
    weights: FloatArray,
    weights_vary: bool,
    transitions: FloatArray,
    transitions_vary: bool,
    offsets: Offsets,
    score: FloatArray,
    outcome: IntArray,
) -> None:
    """Find the k best sequences of every sentence."""
    for s in prange(len(offsets) - 1):
        kbest_sentence(
            order,
            labels,
            weights,
            weights_vary,
            transitions,
            transitions_vary,
            offsets[s],
            offsets[s + 1] - offsets[s],
            score[s],
            outcome,
        )
