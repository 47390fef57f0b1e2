"""The queries over a whole batch: chunks of sentences in parallel, one workspace for each."""

from __future__ import annotations

import math

import numpy as np
from numba import njit, prange

from syntagma.structures.arborescences_best import make_nodes
from syntagma.structures.arborescences_kbest import best_arborescences
from syntagma.structures.arborescences_log import log_adjoints, log_eliminate, log_marginals
from syntagma.structures.arborescences_sample import draw_arborescence
from syntagma.structures.arborescences_sums import (
    SHARES,
    WEIGHTS,
    scaled_marginals,
    scaled_sum,
    table_of,
    workspace,
)
from syntagma.structures.base import FloatArray, IntArray, Offsets
from syntagma.structures.eisner import Batch, sentence_of
from syntagma.structures.eisner_batch import longest
from syntagma.structures.eisner_sample import stream


@njit(cache=True, nogil=True)
def _sum_chunk(
    batch: Batch,
    first: int,
    last: int,
    wanted: bool,
    log_partition: FloatArray,
    arcs: FloatArray,
) -> None:
    words = longest(batch.offsets, first, last)
    space = workspace(words)
    shifts, totals = np.empty(words + 1), np.empty(words + 1)
    for s in range(first, last):
        sentence = sentence_of(batch, s)
        n = sentence.words
        block = slice(batch.arc_starts[s], batch.arc_starts[s + 1])
        log_partition[s] = 0.0
        if n == 0:
            continue
        log_partition[s] = scaled_sum(space, sentence, shifts, totals)
        if not math.isnan(log_partition[s]):
            if wanted:
                scaled_marginals(space, sentence, shifts, totals, arcs[block])
            continue
        weights, shares = np.empty((n + 1, n + 1)), np.empty((n + 1, n + 1))
        log_partition[s], top = log_eliminate(sentence, weights, shares, totals)
        if wanted and log_partition[s] > -math.inf:
            adjoints, below = np.empty((n + 1, n + 1)), np.empty((3, n + 1))
            log_adjoints(n, top, weights, shares, totals, adjoints, below)
            log_marginals(sentence, adjoints, arcs[block])


@njit(cache=True, nogil=True, parallel=True)
def sum_arborescences(
    batch: Batch, chunks: Offsets, wanted: bool, log_partition: FloatArray, arcs: FloatArray
) -> None:
    """Write every sentence's log partition and, if wanted, the probability of every arc."""
    for c in prange(chunks.size - 1):
        _sum_chunk(batch, chunks[c], chunks[c + 1], wanted, log_partition, arcs)


@njit(cache=True, nogil=True)
def _best_chunk(batch: Batch, first: int, last: int, scores: FloatArray, heads: IntArray) -> None:
    nodes = make_nodes(longest(batch.offsets, first, last))
    for s in range(first, last):
        trees = heads[:, batch.offsets[s] : batch.offsets[s + 1]]
        best_arborescences(sentence_of(batch, s), nodes, scores[s], trees)


@njit(cache=True, nogil=True, parallel=True)
def find_best_arborescences(
    batch: Batch, chunks: Offsets, scores: FloatArray, heads: IntArray
) -> None:
    """Write the k best trees of every sentence; ``scores`` has a column for each."""
    for c in prange(chunks.size - 1):
        _best_chunk(batch, chunks[c], chunks[c + 1], scores, heads)


@njit(cache=True, nogil=True)
def _draw_chunk(batch: Batch, first: int, last: int, seed: np.uint64, heads: IntArray) -> None:
    words = longest(batch.offsets, first, last)
    space = workspace(words)
    shifts, totals = np.empty(words + 1), np.empty(words + 1)
    until, below = np.empty(words + 1, np.int32), np.empty(words + 1, np.int32)
    for s in range(first, last):
        sentence = sentence_of(batch, s)
        n = sentence.words
        if n == 0:
            continue
        logarithms = math.isnan(scaled_sum(space, sentence, shifts, totals))
        top = 1 if sentence.single else n + 1
        weights, shares = table_of(space, WEIGHTS, n), table_of(space, SHARES, n)
        if logarithms:
            weights, shares = np.empty((n + 1, n + 1)), np.empty((n + 1, n + 1))
            log_partition, top = log_eliminate(sentence, weights, shares, totals)
            if log_partition == -math.inf:
                continue
        for draw in range(heads.shape[0]):
            tree = heads[draw, batch.offsets[s] : batch.offsets[s + 1]]
            key = stream(seed, s, draw)
            draw_arborescence(
                sentence, weights, shares, logarithms, top, key, until, below, shifts, tree
            )


@njit(cache=True, nogil=True, parallel=True)
def draw_arborescences(batch: Batch, chunks: Offsets, seed: np.uint64, heads: IntArray) -> None:
    """Write ``len(heads)`` trees drawn from every sentence's distribution."""
    for c in prange(chunks.size - 1):
        _draw_chunk(batch, chunks[c], chunks[c + 1], seed, heads)
