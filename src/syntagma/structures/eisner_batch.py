"""The queries over a whole batch: chunks of sentences in parallel, one workspace for each."""

from __future__ import annotations

import math

import numba
import numpy as np
from numba import njit, prange

from syntagma.structures.base import FloatArray, IntArray, Offsets
from syntagma.structures.eisner import KINDS, RIGHT, TABLES, Batch, item_at, sentence_of
from syntagma.structures.eisner_best import best_inside
from syntagma.structures.eisner_kbest import best_trees
from syntagma.structures.eisner_lanes import aligned, row_stride
from syntagma.structures.eisner_log import log_inside, log_outside
from syntagma.structures.eisner_sample import draw_tree, stream
from syntagma.structures.eisner_scaled import scaled_inside, scaled_outside, workspace
from syntagma.structures.eisner_weights import arc_weights, smallest_sum, word_shifts

_CHUNKS_PER_THREAD = 4


def chunks_of(offsets: Offsets) -> Offsets:
    """Cut a batch into runs of sentences that take about the same time."""
    work = np.concatenate(([0.0], np.cumsum((np.diff(offsets) + 8.0) ** 3)))
    count = min(len(offsets) - 1, _CHUNKS_PER_THREAD * numba.get_num_threads())
    bounds = np.searchsorted(work, work[-1] * np.arange(1, count) / max(count, 1))
    return np.concatenate(([0], bounds, [len(offsets) - 1])).astype(np.int64)


@njit(cache=True, nogil=True)
def longest(offsets: Offsets, first: int, last: int) -> int:
    """Count the words of the longest of some sentences."""
    words = 0
    for s in range(first, last):
        words = max(words, offsets[s + 1] - offsets[s])
    return words


@njit(cache=True, nogil=True)
def _sum_chunk(
    batch: Batch,
    first: int,
    last: int,
    wanted: bool,
    log_partition: FloatArray,
    arcs: FloatArray,
    siblings: FloatArray,
) -> None:
    words = longest(batch.offsets, first, last)
    space = workspace(words)
    shifts = np.empty(words + 1)
    scratch = np.empty(words + 1 if batch.second else (words + 1) ** 2)
    for s in range(first, last):
        sentence = sentence_of(batch, s)
        n = sentence.words
        log_partition[s] = 0.0
        if n == 0:
            continue
        shift = word_shifts(sentence, shifts)
        if shift == -math.inf:
            log_partition[s] = shift
            continue
        arc_block = slice(batch.arc_starts[s], batch.arc_starts[s + 1])
        sibling_block = slice(batch.sibling_starts[s], batch.sibling_starts[s + 1])
        weights = scratch
        if batch.second:
            weights = siblings[sibling_block] if wanted else scratch[: n + 1]
        else:
            arc_weights(sentence, shifts, weights)
        total = scaled_inside(space, sentence, weights, shifts)
        if total >= smallest_sum(n):
            log_partition[s] = math.log(total) + shift
            if wanted:
                scaled_outside(space, sentence, weights, arcs[arc_block])
            continue
        chart = log_inside(sentence)
        log_partition[s] = chart[item_at(RIGHT, 0, n, n, n + 1)]
        if wanted:
            siblings[sibling_block] = 0.0
            if log_partition[s] > -math.inf:
                log_outside(chart, sentence, arcs[arc_block], siblings[sibling_block])


@njit(cache=True, nogil=True, parallel=True)
def sum_trees(
    batch: Batch,
    chunks: Offsets,
    wanted: bool,
    log_partition: FloatArray,
    arcs: FloatArray,
    siblings: FloatArray,
) -> None:
    """Write every sentence's log partition and, if wanted, the probability of every part."""
    for c in prange(chunks.size - 1):
        _sum_chunk(batch, chunks[c], chunks[c + 1], wanted, log_partition, arcs, siblings)


@njit(cache=True, nogil=True)
def _best_chunk(batch: Batch, first: int, last: int, scores: FloatArray, heads: IntArray) -> None:
    words = longest(batch.offsets, first, last)
    chart = aligned(TABLES * (words + 1) * row_stride(words))
    for s in range(first, last):
        sentence = sentence_of(batch, s)
        n = sentence.words
        best_inside(sentence, chart)
        best_trees(
            sentence,
            chart[: KINDS * (n + 1) * row_stride(n)],
            scores[s],
            heads[:, batch.offsets[s] : batch.offsets[s + 1]],
        )


@njit(cache=True, nogil=True, parallel=True)
def find_best(batch: Batch, chunks: Offsets, scores: FloatArray, heads: IntArray) -> None:
    """Write the k best trees of every sentence; ``scores`` has a column for each."""
    for c in prange(chunks.size - 1):
        _best_chunk(batch, chunks[c], chunks[c + 1], scores, heads)


@njit(cache=True, nogil=True)
def _draw_chunk(batch: Batch, first: int, last: int, seed: np.uint64, heads: IntArray) -> None:
    words = longest(batch.offsets, first, last)
    space = workspace(words)
    shifts = np.empty(words + 1)
    scratch = np.empty(words + 1 if batch.second else (words + 1) ** 2)
    stack = np.empty((2 * words + 2, 3), np.int64)
    for s in range(first, last):
        sentence = sentence_of(batch, s)
        n = sentence.words
        if n == 0 or word_shifts(sentence, shifts) == -math.inf:
            continue
        weights = scratch[: n + 1] if batch.second else scratch
        if not batch.second:
            arc_weights(sentence, shifts, weights)
        stride = row_stride(n)
        logarithms = scaled_inside(space, sentence, weights, shifts) < smallest_sum(n)
        chart = space
        if logarithms:
            stride = n + 1
            chart = log_inside(sentence)
            if chart[item_at(RIGHT, 0, n, n, n + 1)] == -math.inf:
                continue
        for draw in range(heads.shape[0]):
            tree = heads[draw, batch.offsets[s] : batch.offsets[s + 1]]
            state = stream(seed, s, draw)
            draw_tree(chart, stride, logarithms, sentence, shifts, state, stack, tree)


@njit(cache=True, nogil=True, parallel=True)
def draw_trees(batch: Batch, chunks: Offsets, seed: np.uint64, heads: IntArray) -> None:
    """Write ``len(heads)`` trees drawn from every sentence's distribution."""
    for c in prange(chunks.size - 1):
        _draw_chunk(batch, chunks[c], chunks[c + 1], seed, heads)
