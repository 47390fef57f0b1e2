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


@njit(cache=True, nogil=True)
def _normalise(matrices: FloatArray) -> float:
    """Divide every matrix by its largest entry; return the logarithms of those, summed."""
    scale = 0.0
    for matrix in matrices:
        largest = 0.0
        for row in matrix:
            for value in row:
                largest = max(largest, abs(value))
        if largest > 0.0:
            scale += np.log(largest)
            for i in range(len(matrix)):
                for j in range(len(matrix)):
                    matrix[i, j] /= largest
    return scale


@njit(cache=True, nogil=True)
def _sum_sentence(
    rows: IntArray,
    tags: IntArray,
    vectors: FloatArray,
    start: FloatArray,
    stop: FloatArray,
    operators: FloatArray,
    joint: FloatArray,
    roots: FloatArray,
    ends: FloatArray,
    children: FloatArray,
    block: FloatArray,
) -> tuple[float, float]:
    """Sum over the trees of a sentence; return log |p| and the sign of p."""
    words, k = len(rows), len(start)
    matrices = np.empty((words, k, k))
    word_matrices(rows, vectors, joint, matrices)
    scale = _normalise(matrices)
    arcs = np.empty((2, words + 1, words + 1))
    closed = np.empty((words, 2, 2))
    scale += prior_weights(tags, roots, ends, children, arcs, closed)
    found = block.reshape((words + 1, words + 1))
    log, sign = -np.inf, 0.0
    for with_words in (True, False):
        if not with_words:
            matrices, operators = np.ones((words, 1, 1)), np.ones((2, 1, 1))
            start, stop, joint = np.ones(1), np.ones(1), np.ones((1, 1, 1))
        total = sum_over_trees(matrices, start, stop, operators, joint, arcs, closed, found)
        if with_words and np.isfinite(total) and total != 0.0:
            log, sign = scale + np.log(abs(total)), np.sign(total)
        if sign > 0.0:
            break
    return log, sign


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
    for s in prange(len(offsets) - 1):
        first, last = offsets[s], offsets[s + 1]
        if last > first:
            logs[s], signs[s] = _sum_sentence(
                rows[first:last],
                tags[first:last],
                vectors,
                start,
                stop,
                operators,
                joint,
                roots,
                ends,
                children,
                marginals[blocks[s] : blocks[s + 1]],
            )


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
    logs, signs = np.zeros(sentences), np.ones(sentences)
    marginals = np.zeros(int(blocks[-1]))
    _sum_batch(rows, tags, offsets, blocks, vectors, *operators, *prior, logs, signs, marginals)
    return Sums(logs, signs, marginals)
