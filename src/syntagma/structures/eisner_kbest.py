"""The k best trees, found lazily in the chart of the best scores.

An item's next derivation is worked out only when a tree asks for it (Huang and Chiang 2005,
algorithm 3). Ties go to the smaller joining position.
"""

from __future__ import annotations

import math
from typing import NamedTuple

import numpy as np
from numba import njit
from numpy.typing import NDArray

from syntagma.structures.base import FloatArray, IntArray
from syntagma.structures.eisner import (
    KINDS,
    OPEN_LEFT,
    OPEN_RIGHT,
    RIGHT,
    Sentence,
    edge_items,
    edge_range,
    edge_score,
    item_at,
    item_span,
)
from syntagma.structures.eisner_best import best_edge
from syntagma.structures.eisner_lanes import row_stride

_ROWS_PER_WORD = 16  # items in use that there is room for at first


class Forest(NamedTuple):
    """Derivations found so far of the items in use; each of those items has a row.

    A derivation is a number: ``(edge * base + rank of left) * base + rank of right``.
    """

    row: IntArray  # of every item, -1 while it has none
    found: IntArray  # how many derivations each row has so far, best first
    expanded: IntArray  # of those, how many have put their successors on the heap
    waiting: IntArray  # size of each row's heap
    scores: FloatArray  # rows x k
    derivations: NDArray[np.int64]
    heap_scores: FloatArray  # rows x (words + k + 1)
    heap: NDArray[np.int64]
    used: IntArray  # how many rows are in use, in a single cell
    best: FloatArray  # chart of `best_inside`


@njit(cache=True, nogil=True)
def _new_forest(best: FloatArray, words: int, k: int, rows: int) -> Forest:
    width = words + k + 1
    return Forest(
        np.full(best.size, -1, np.int32),
        np.zeros(rows, np.int32),
        np.zeros(rows, np.int32),
        np.zeros(rows, np.int32),
        np.empty((rows, k)),
        np.empty((rows, k), np.int64),
        np.empty((rows, width)),
        np.empty((rows, width), np.int64),
        np.zeros(1, np.int32),
        best,
    )


@njit(cache=True, nogil=True)
def _before(score: float, derivation: int, other: float, other_derivation: int) -> bool:
    return score > other or (score == other and derivation < other_derivation)


@njit(cache=True, nogil=True)
def _push(forest: Forest, row: int, score: float, derivation: int) -> None:
    scores, heap = forest.heap_scores[row], forest.heap[row]
    at = forest.waiting[row]
    forest.waiting[row] += 1
    while at > 0:
        parent = (at - 1) // 2
        if not _before(score, derivation, scores[parent], heap[parent]):
            break
        scores[at], heap[at] = scores[parent], heap[parent]
        at = parent
    scores[at], heap[at] = score, derivation


@njit(cache=True, nogil=True)
def _pop(forest: Forest, row: int) -> None:
    """Move the best waiting derivation to the end of those found."""
    scores, heap = forest.heap_scores[row], forest.heap[row]
    forest.scores[row, forest.found[row]] = scores[0]
    forest.derivations[row, forest.found[row]] = heap[0]
    forest.found[row] += 1
    forest.waiting[row] -= 1
    size = forest.waiting[row]
    score, derivation = scores[size], heap[size]
    at = 0
    while 2 * at + 1 < size:
        child = 2 * at + 1
        if child + 1 < size and _before(
            scores[child + 1], heap[child + 1], scores[child], heap[child]
        ):
            child += 1
        if not _before(scores[child], heap[child], score, derivation):
            break
        scores[at], heap[at] = scores[child], heap[child]
        at = child
    scores[at], heap[at] = score, derivation


@njit(cache=True, nogil=True)
def _value(forest: Forest, item: int, rank: int) -> float:
    """Score of a derivation; -inf if the item has so few, NaN if that is not known yet."""
    if rank == 0:
        return forest.best[item]
    row = forest.row[item]
    if row < 0:
        return math.nan
    if rank < forest.found[row]:
        return forest.scores[row, rank]
    exhausted = forest.waiting[row] == 0 and forest.expanded[row] == forest.found[row]
    return -math.inf if exhausted else math.nan


@njit(cache=True, nogil=True)
def _open_row(forest: Forest, item: int, sentence: Sentence, base: int) -> int:
    """Give an item a row, with the best derivation by each edge waiting."""
    stride = row_stride(sentence.words)
    row = forest.used[0]
    forest.used[0] += 1
    forest.row[item] = row
    kind, i, j = item_span(item, sentence.words, stride)
    if i < j:
        first, last = edge_range(kind, i, j, sentence)
        for k in range(first, last):
            left, right = edge_items(kind, i, j, k, sentence, stride)
            score = forest.best[left] + forest.best[right] + edge_score(kind, i, j, k, sentence)
            if score > -math.inf:
                _push(forest, row, score, k * base * base)
    return row


@njit(cache=True, nogil=True)
def _find(
    forest: Forest, item: int, rank: int, sentence: Sentence, base: int, stack: NDArray[np.int64]
) -> bool:
    """Find derivations of an item up to this rank, if it has them; false if rows ran out."""
    stride = row_stride(sentence.words)
    stack[0, 0], stack[0, 1] = item, rank
    depth = 1
    while depth:
        item, rank = int(stack[depth - 1, 0]), int(stack[depth - 1, 1])
        if not math.isnan(_value(forest, item, rank)):
            depth -= 1
            continue
        row = forest.row[item]
        if row < 0:
            if forest.used[0] == forest.found.size:
                return False
            row = _open_row(forest, item, sentence, base)
        if forest.expanded[row] < forest.found[row]:
            derivation = forest.derivations[row, forest.expanded[row]]
            rest, right_rank = divmod(derivation, base)
            k, left_rank = divmod(rest, base)
            kind, i, j = item_span(item, sentence.words, stride)
            left, right = edge_items(kind, i, j, k, sentence, stride)
            # the left rank moves only while the right one is 0: no pair is reached twice
            further_right = _value(forest, right, right_rank + 1)
            further_left = _value(forest, left, left_rank + 1) if right_rank == 0 else -math.inf
            if math.isnan(further_right):
                stack[depth, 0], stack[depth, 1] = right, right_rank + 1
                depth += 1
                continue
            if math.isnan(further_left):
                stack[depth, 0], stack[depth, 1] = left, left_rank + 1
                depth += 1
                continue
            score = edge_score(kind, i, j, k, sentence)
            if further_right > -math.inf:
                value = _value(forest, left, left_rank) + further_right + score
                _push(forest, row, value, derivation + 1)
            if further_left > -math.inf:
                value = further_left + _value(forest, right, right_rank) + score
                _push(forest, row, value, derivation + base)
            forest.expanded[row] += 1
        if forest.waiting[row] > 0:
            _pop(forest, row)
    return True


@njit(cache=True, nogil=True)
def _read_tree(
    forest: Forest,
    rank: int,
    sentence: Sentence,
    base: int,
    stack: NDArray[np.int64],
    heads: IntArray,
) -> None:
    n = sentence.words
    stride = row_stride(n)
    stack[0, 0], stack[0, 1] = item_at(RIGHT, 0, n, n, stride), rank
    depth = 1
    while depth:
        depth -= 1
        item, rank = int(stack[depth, 0]), int(stack[depth, 1])
        kind, i, j = item_span(item, n, stride)
        if i == j:
            continue
        row = forest.row[item]
        if rank == 0 and (row < 0 or forest.found[row] == 0):
            edge = best_edge(kind, i, j, forest.best, sentence)
            derivation = edge * base * base
        else:
            derivation = int(forest.derivations[row, rank])
        rest, right_rank = divmod(derivation, base)
        k, left_rank = divmod(rest, base)
        if kind == OPEN_RIGHT:
            heads[j - 1] = i
        elif kind == OPEN_LEFT:
            heads[i - 1] = j
        left, right = edge_items(kind, i, j, k, sentence, stride)
        stack[depth, 0], stack[depth, 1] = left, left_rank
        stack[depth + 1, 0], stack[depth + 1, 1] = right, right_rank
        depth += 2


@njit(cache=True, nogil=True)
def _list_trees(forest: Forest, sentence: Sentence, scores: FloatArray, heads: IntArray) -> bool:
    """Read off the best trees one after another; false if the forest has too few rows."""
    n = sentence.words
    base = scores.size + 1
    goal = item_at(RIGHT, 0, n, n, row_stride(n))
    stack = np.empty((KINDS * (n + 2), 2), np.int64)
    for rank in range(scores.size):
        if not _find(forest, goal, rank, sentence, base, stack):
            return False
        scores[rank] = _value(forest, goal, rank)
        if scores[rank] == -math.inf:
            break
        _read_tree(forest, rank, sentence, base, stack, heads[rank])
    return True


@njit(cache=True, nogil=True)
def best_trees(sentence: Sentence, best: FloatArray, scores: FloatArray, heads: IntArray) -> None:
    """Fill ``scores`` and the rows of ``heads`` with the k best trees, best first.

    ``best`` is the chart that `best_inside` filled. What does not exist is left as it was.
    """
    n, k = sentence.words, scores.size
    rows = 1 if k == 1 else _ROWS_PER_WORD * (n + 1)
    while not _list_trees(_new_forest(best, n, k, rows), sentence, scores, heads):
        rows *= 4
