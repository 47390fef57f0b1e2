"""Parsing with latent tree models: arc marginals of every sentence of a batch."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numba import njit, prange

from syntagma.moments.inverses import FloatArray
from syntagma.moments.tree_messages import word_matrices
from syntagma.moments.tree_operators import TreeOperators
from syntagma.moments.tree_sums import sum_over_trees
from syntagma.structures.arcs import block_starts
from syntagma.structures.base import IntArray, Offsets
from syntagma.training.tree_prior import TreePrior, prior_weights


class Sums(NamedTuple):
    """Sums over the trees of each sentence: log |p| of its words, the sign, arc marginals.

    ``marginals`` are blocks of (words + 1)^2, a row a head. Where the sign is not positive the
    words were left out of account and the marginals are those of the prior.
    """

    log_probability: FloatArray
    sign: FloatArray
    marginals: FloatArray


@njit(cache=True, nogil=True, parallel=True)
def _sum_batch(
    rows: IntArray,
    tags: IntArray,
    offsets: Offsets,
    blocks: Offsets,
    vectors: FloatArray,
    start: FloatArray,
    stop: FloatArray,
    operators: FloatArray,
    joint: FloatArray,
    roots: FloatArray,
    ends: FloatArray,
    children: FloatArray,
    logs: FloatArray,
    signs: FloatArray,
    marginals: FloatArray,
) -> None:
    k = len(start)
    one, ones, square = np.ones(1), np.ones((1, 1, 1)), np.ones((2, 1, 1))
    for s in prange(len(offsets) - 1):
        first, last = offsets[s], offsets[s + 1]
        words = last - first
        logs[s], signs[s] = 0.0, 1.0
        if words == 0:
            continue
        matrices = np.empty((words, k, k))
        word_matrices(rows[first:last], vectors, joint, matrices)
        scale = 0.0
        for i in range(words):
            largest = np.abs(matrices[i]).max()
            if largest > 0.0:
                matrices[i] /= largest
                scale += np.log(largest)
        arcs = np.empty((2, words + 1, words + 1))
        closed = np.empty((words, 2, 2))
        scale += prior_weights(tags[first:last], roots, ends, children, arcs, closed)
        found = np.empty((words + 1, words + 1))
        total = sum_over_trees(matrices, start, stop, operators, joint, arcs, closed, found)
        if np.isfinite(total) and total != 0.0:
            logs[s], signs[s] = scale + np.log(abs(total)), np.sign(total)
        else:
            logs[s], signs[s] = -np.inf, 0.0
        if signs[s] <= 0.0:
            plain = np.ones((words, 1, 1))
            sum_over_trees(plain, one, one, square, ones, arcs, closed, found)
        marginals[blocks[s] : blocks[s + 1]] = found.ravel()


def sum_trees(
    rows: IntArray,
    tags: IntArray,
    offsets: Offsets,
    vectors: FloatArray,
    operators: TreeOperators,
    prior: TreePrior,
) -> Sums:
    """Sum over the projective trees of every sentence, weighted by a prior."""
    blocks = block_starts(offsets, 2)
    sentences = len(offsets) - 1
    logs, signs = np.empty(sentences), np.empty(sentences)
    marginals = np.zeros(int(blocks[-1]))
    _sum_batch(rows, tags, offsets, blocks, vectors, *operators, *prior, logs, signs, marginals)
    return Sums(logs, signs, marginals)
