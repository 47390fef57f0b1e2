"""Probabilities of words given a tree, from observable operators, bottom up.

The message of a word is stop' times a matrix for each of its children times one for the word
itself; the probability is the root's message times start. The matrices commute in the model but
not in its estimate, so their order is fixed: left children outside in, right children outside in,
the word. Messages are scaled as they go, and signs are kept: an estimate can be negative.
"""

from __future__ import annotations

import numpy as np
from numba import njit, prange

from syntagma.moments.inverses import FloatArray
from syntagma.moments.tree_operators import LEFT, RIGHT, TreeOperators
from syntagma.structures.base import IntArray, Offsets


@njit(cache=True, nogil=True)
def word_matrices(rows: IntArray, vectors: FloatArray, joint: FloatArray, out: FloatArray) -> None:
    """Write the matrix of every word, joint of its vector."""
    k = vectors.shape[1]
    for w in range(len(rows)):
        matrix = out[w]
        matrix[:] = 0.0
        for i in range(k):
            for j in range(k):
                value = vectors[rows[w], j]
                for m in range(k):
                    matrix[i, m] += joint[i, j, m] * value


@njit(cache=True, nogil=True)
def take_child(
    message: FloatArray, up: FloatArray, joint: FloatArray, child: FloatArray, out: FloatArray
) -> None:
    """Multiply a message by a child's: message' joint(up' child)."""
    k = len(message)
    out[:] = 0.0
    for j in range(k):
        value = 0.0
        for i in range(k):
            value += up[i, j] * child[i]
        for i in range(k):
            scaled = message[i] * value
            for m in range(k):
                out[m] += scaled * joint[i, j, m]


@njit(cache=True, nogil=True)
def rescale(message: FloatArray) -> float:
    """Divide a message by its largest entry; return the logarithm of that."""
    largest = 0.0
    for i in range(len(message)):
        largest = max(largest, abs(message[i]))
    if largest > 0.0:
        for i in range(len(message)):
            message[i] /= largest
        return float(np.log(largest))
    return -np.inf


@njit(cache=True, nogil=True)
def bottom_up(heads: IntArray, order: IntArray) -> bool:
    """List the words so that children come before their heads; False if there is a cycle."""
    words = len(heads)
    waiting = np.zeros(words + 1, np.int32)
    for i in range(words):
        waiting[heads[i]] += 1
    found = 0
    for i in range(words):
        if waiting[i + 1] == 0:
            order[found] = i
            found += 1
    done = 0
    while done < found:
        head = heads[order[done]]
        done += 1
        waiting[head] -= 1
        if head > 0 and waiting[head] == 0:
            order[found] = head - 1
            found += 1
    return found == words


@njit(cache=True, nogil=True)
def send_messages(
    heads: IntArray,
    matrices: FloatArray,
    stop: FloatArray,
    arcs: FloatArray,
    joint: FloatArray,
    messages: FloatArray,
    scales: FloatArray,
) -> bool:
    """Work out the message of every word of one tree, and its scale; False for no tree.

    The message of word i is ``messages[i]`` times the exponential of ``scales[i]``, which counts
    everything below it.
    """
    words, k = len(heads), len(stop)
    order = np.empty(words, np.int32)
    if not bottom_up(heads, order):
        return False
    now, then = np.empty(k), np.empty(k)
    # first and last child on each side, and the next one inwards
    outer = np.full((2, words), -1, np.int32)
    inner = np.full(words, -1, np.int32)
    for i in range(words - 1, -1, -1):
        head = heads[i] - 1
        if head > i:
            inner[i] = outer[LEFT, head]
            outer[LEFT, head] = i
    for i in range(words):
        head = heads[i] - 1
        if 0 <= head < i:
            inner[i] = outer[RIGHT, head]
            outer[RIGHT, head] = i
    for place in range(words):
        word = order[place]
        now[:] = stop
        scale = 0.0
        for side in range(2):
            child = outer[side, word]
            while child >= 0:
                take_child(now, arcs[side], joint, messages[child], then)
                scale += scales[child] + rescale(then)
                now, then = then, now
                child = inner[child]
        message = messages[word]
        message[:] = 0.0
        for i in range(k):
            for m in range(k):
                message[m] += now[i] * matrices[word, i, m]
        scales[word] = scale + rescale(message)
    return True


def score_trees(
    rows: IntArray,
    trees: IntArray,
    offsets: Offsets,
    vectors: FloatArray,
    operators: TreeOperators,
) -> tuple[FloatArray, FloatArray]:
    """Return log |p| and the sign of p of the words of every sentence under each of its trees.

    ``trees[r]`` holds rank r of all sentences, -1 where there is none: its log is -inf and its
    sign 0. ``vectors`` has the vector u of every word of the vocabulary, with G'u its emissions by
    state. Several roots multiply.
    """
    logs = np.empty((len(offsets) - 1, len(trees)))
    signs = np.empty_like(logs)
    _score_batch(rows, trees, offsets, vectors, *operators, logs, signs)
    return logs, signs


@njit(cache=True, nogil=True, parallel=True)
def _score_batch(
    rows: IntArray,
    trees: IntArray,
    offsets: Offsets,
    vectors: FloatArray,
    start: FloatArray,
    stop: FloatArray,
    arcs: FloatArray,
    joint: FloatArray,
    logs: FloatArray,
    signs: FloatArray,
) -> None:
    k = len(stop)
    for s in prange(len(offsets) - 1):
        first, last = offsets[s], offsets[s + 1]
        matrices = np.empty((last - first, k, k))
        word_matrices(rows[first:last], vectors, joint, matrices)
        messages = np.empty((last - first, k))
        scales = np.empty(last - first)
        for r in range(len(trees)):
            heads = trees[r, first:last]
            logs[s, r], signs[s, r] = -np.inf, 0.0
            if last > first and heads[0] < 0:
                continue
            if not send_messages(heads, matrices, stop, arcs, joint, messages, scales):
                continue
            total, sign = 0.0, 1.0
            for i in range(last - first):
                if heads[i] == 0:
                    value = 0.0
                    for m in range(k):
                        value += messages[i, m] * start[m]
                    total += scales[i] + (np.log(abs(value)) if value != 0.0 else -np.inf)
                    sign *= np.sign(value)
            logs[s, r], signs[s, r] = total, sign


def tree_messages(
    rows: IntArray,
    heads: IntArray,
    offsets: Offsets,
    vectors: FloatArray,
    operators: TreeOperators,
) -> tuple[FloatArray, FloatArray]:
    """Return every word's message and its scale, NaN in sentences that are no trees."""
    _, stop, arcs, joint = operators
    messages, scales = np.empty((len(rows), len(stop))), np.empty(len(rows))
    _all_messages(rows, heads, offsets, vectors, stop, arcs, joint, messages, scales)
    return messages, scales


@njit(cache=True, nogil=True, parallel=True)
def _all_messages(
    rows: IntArray,
    heads: IntArray,
    offsets: Offsets,
    vectors: FloatArray,
    stop: FloatArray,
    arcs: FloatArray,
    joint: FloatArray,
    messages: FloatArray,
    scales: FloatArray,
) -> None:
    k = len(stop)
    for s in prange(len(offsets) - 1):
        first, last = offsets[s], offsets[s + 1]
        matrices = np.empty((last - first, k, k))
        word_matrices(rows[first:last], vectors, joint, matrices)
        whole = send_messages(
            heads[first:last], matrices, stop, arcs, joint,
            messages[first:last], scales[first:last],
        )  # fmt: skip
        if not whole:
            messages[first:last] = np.nan
            scales[first:last] = np.nan
