"""Hidden states on the words of dependency trees: exact sums by messages, and EM.

Every word has a state; the root's is drawn from ``start``, a child's from its head's by
``left[child, head]`` or ``right[child, head]``, and a word from its state by ``emissions[word,
state]``. Messages go up the tree and down again, scaled word by word, so long sentences neither
under- nor overflow.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numba import njit, prange
from numpy.typing import NDArray
from scipy.sparse import csr_array

from syntagma.moments.tree_messages import bottom_up
from syntagma.moments.trees import TreeChunk
from syntagma.structures.base import IntArray, Offsets
from syntagma.training.loop import Progress

FloatArray = NDArray[np.float64]

PORTION = 64  # sentences whose expectations are added up apart, so that threads change nothing


class TreeStates(NamedTuple):
    """Parameters: columns of ``transitions[side]`` and ``emissions`` are distributions."""

    start: FloatArray
    transitions: FloatArray
    emissions: FloatArray

    @classmethod
    def random(cls, counts: FloatArray, states: int, seed: int) -> TreeStates:
        """Return parameters that are all about the same, but for a little noise.

        ``counts`` says how often each word of the vocabulary is seen.
        """
        rng = np.random.default_rng(seed)
        start = rng.dirichlet(np.full(states, 5.0))
        transitions = rng.dirichlet(np.full(states, 5.0), size=(2, states)).transpose(0, 2, 1)
        emissions = (counts + 0.5)[:, None] * rng.uniform(0.5, 1.5, size=(len(counts), states))
        return cls(start, np.ascontiguousarray(transitions), emissions / emissions.sum(0))


class TreeEM(NamedTuple):
    """What EM came to: parameters, and the log-likelihood of the trees before each step."""

    states: TreeStates
    log_likelihoods: list[float]


@njit(cache=True, nogil=True)
def _up(
    rows: IntArray,
    heads: IntArray,
    order: IntArray,
    transitions: FloatArray,
    emissions: FloatArray,
    inside: FloatArray,
    carried: FloatArray,
) -> float:
    """Write each word's inside message and what it carries to its head; return the log scale."""
    words, states = inside.shape
    scale = 0.0
    for i in range(words):
        for h in range(states):
            inside[i, h] = emissions[rows[i], h]
    for place in range(words):
        i = order[place]
        largest = inside[i].max()
        if largest <= 0.0:
            return -np.inf
        scale += np.log(largest)
        for h in range(states):
            inside[i, h] /= largest
        if heads[i] == 0:
            continue
        head = heads[i] - 1
        table = transitions[0 if i < head else 1]
        for g in range(states):
            carried[i, g] = 0.0
        for h in range(states):
            for g in range(states):
                carried[i, g] += table[h, g] * inside[i, h]
        for g in range(states):
            inside[head, g] *= carried[i, g]
    return scale


@njit(cache=True, nogil=True)
def _down(
    heads: IntArray,
    order: IntArray,
    start: FloatArray,
    transitions: FloatArray,
    inside: FloatArray,
    carried: FloatArray,
    posterior: FloatArray,
    expected_start: FloatArray,
    expected: FloatArray,
) -> None:
    """Write the posterior of every word's state; add the expected starts and transitions."""
    words, states = inside.shape
    around = np.empty(states)
    for place in range(words - 1, -1, -1):
        i = order[place]
        if heads[i] == 0:
            total = 0.0
            for h in range(states):
                posterior[i, h] = start[h] * inside[i, h]
                total += posterior[i, h]
            for h in range(states):
                posterior[i, h] /= total
                expected_start[h] += posterior[i, h]
            continue
        head = heads[i] - 1
        side = 0 if i < head else 1
        table = transitions[side]
        for g in range(states):
            around[g] = posterior[head, g] / carried[i, g] if carried[i, g] > 0.0 else 0.0
        for h in range(states):
            total = 0.0
            for g in range(states):
                pair = table[h, g] * inside[i, h] * around[g]
                expected[side, h, g] += pair
                total += pair
            posterior[i, h] = total


@njit(cache=True, nogil=True, parallel=True)
def expectations(
    rows: IntArray,
    heads: IntArray,
    offsets: Offsets,
    start: FloatArray,
    transitions: FloatArray,
    emissions: FloatArray,
    logs: FloatArray,
    posterior: FloatArray,
    starts: FloatArray,
    pairs: FloatArray,
) -> None:
    """Sum over the states of every tree; ``starts`` and ``pairs`` have a row for each portion.

    A tree of probability 0, or none at all, has log -inf and posteriors of 0.
    """
    states = len(start)
    for portion in prange(len(starts)):
        for s in range(portion * PORTION, min((portion + 1) * PORTION, len(offsets) - 1)):
            first, last = offsets[s], offsets[s + 1]
            words = last - first
            order = np.empty(words, np.int32)
            inside, carried = np.empty((words, states)), np.empty((words, states))
            tree = heads[first:last]
            logs[s] = -np.inf
            posterior[first:last] = 0.0
            if not bottom_up(tree, order):
                continue
            scale = _up(rows[first:last], tree, order, transitions, emissions, inside, carried)
            for i in range(words):
                if tree[i] == 0:
                    scale += np.log(max((inside[i] * start).sum(), 1e-300))
            logs[s] = scale
            if np.isfinite(scale):
                _down(
                    tree,
                    order,
                    start,
                    transitions,
                    inside,
                    carried,
                    posterior[first:last],
                    starts[portion],
                    pairs[portion],
                )


@njit(cache=True, nogil=True, parallel=True)
def _score_batch(
    rows: IntArray,
    trees: IntArray,
    offsets: Offsets,
    start: FloatArray,
    transitions: FloatArray,
    emissions: FloatArray,
    logs: FloatArray,
) -> None:
    states = len(start)
    for s in prange(len(offsets) - 1):
        first, last = offsets[s], offsets[s + 1]
        words = last - first
        order = np.empty(words, np.int32)
        inside, carried = np.empty((words, states)), np.empty((words, states))
        for r in range(len(trees)):
            tree = trees[r, first:last]
            logs[s, r] = -np.inf
            if (words and tree[0] < 0) or not bottom_up(tree, order):
                continue
            scale = _up(rows[first:last], tree, order, transitions, emissions, inside, carried)
            for i in range(words):
                if tree[i] == 0:
                    scale += np.log(max((inside[i] * start).sum(), 1e-300))
            logs[s, r] = scale


def score_by_states(
    rows: IntArray, trees: IntArray, offsets: Offsets, states: TreeStates
) -> tuple[FloatArray, FloatArray]:
    """Return log p and its sign as `score_trees` does: k^2 a word instead of k^3."""
    logs = np.empty((len(offsets) - 1, len(trees)))
    _score_batch(rows, trees, offsets, *states, logs)
    return logs, np.isfinite(logs).astype(float)


def learn_states(
    chunk: TreeChunk,
    start: TreeStates,
    iterations: int,
    tolerance: float,
    smoothing: float,
    progress: Progress = lambda done, total, value: None,
) -> TreeEM:
    """Improve parameters by EM until a step gains less than ``tolerance`` per word.

    ``smoothing`` is added to every expected count; to those of words it is added in proportion to
    how often they are seen.
    """
    rows, words = chunk.rows, len(chunk.rows)
    vocabulary = len(start.emissions)
    seen = csr_array(
        (np.ones(words), rows, np.arange(words + 1, dtype=np.int64)), shape=(words, vocabulary)
    ).T.tocsr()
    seen_often = (np.bincount(rows, minlength=vocabulary) + 0.5)[:, None]
    pseudo = smoothing * vocabulary * seen_often / seen_often.sum()
    states, curve = start, []
    for iteration in range(iterations):
        logs, posterior, starts, pairs = expect(chunk, states)
        curve.append(float(logs.sum()))
        progress(iteration + 1, iterations, curve[-1] / words)
        if iteration and curve[-1] - curve[-2] < tolerance * words:
            break
        states = TreeStates(
            _normalised(starts + smoothing),
            np.stack([_normalised(side + smoothing) for side in pairs]),
            _normalised(seen @ posterior + pseudo),
        )
    return TreeEM(states, curve)


def expect(
    chunk: TreeChunk, states: TreeStates
) -> tuple[FloatArray, FloatArray, FloatArray, FloatArray]:
    """Return log-probabilities of trees, posteriors of states, expected starts and transitions."""
    sentences, k = len(chunk.offsets) - 1, len(states.start)
    portions = -(-sentences // PORTION)
    logs, posterior = np.empty(sentences), np.empty((len(chunk.rows), k))
    starts, pairs = np.zeros((portions, k)), np.zeros((portions, 2, k, k))
    expectations(*chunk, *states, logs, posterior, starts, pairs)
    return logs, posterior, starts.sum(0), pairs.sum(0)


def _normalised(counts: FloatArray) -> FloatArray:
    return np.ascontiguousarray(counts / counts.sum(0))
