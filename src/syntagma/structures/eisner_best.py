"""The best trees: the best one by dynamic programming, the k best lazily from its chart.

k best follows Huang and Chiang (2005, algorithm 3): an item's next derivation is worked out only
when a tree asks for it. Ties go to the smaller joining position, so the first of the k best is the
tree that `best_tree` finds.
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
    LEFT,
    OPEN_LEFT,
    OPEN_RIGHT,
    RIGHT,
    UPWARD,
    Sentence,
    edge_items,
    edge_range,
    edge_score,
    exists,
    item_at,
    item_span,
)


@njit(cache=True, nogil=True)
def best_inside(sentence: Sentence, chart: FloatArray, edges: IntArray) -> float:
    """Write every item's best score and the edge that reaches it; return the best tree's."""
    n = sentence.words
    for i in range(n, -1, -1):
        for kind in UPWARD:
            axiom = i > 0 and kind == LEFT or kind == RIGHT
            chart[item_at(kind, i, i, n, n + 1)] = 0.0 if axiom else -math.inf
        for j in range(i + 1, n + 1):
            for kind in UPWARD:
                best = -math.inf
                edge = -1
                if exists(kind, i):
                    first, last = edge_range(kind, i, j, sentence)
                    for k in range(first, last):
                        left, right = edge_items(kind, i, j, k, sentence, n + 1)
                        value = chart[left] + chart[right] + edge_score(kind, i, j, k, sentence)
                        if value > best:
                            best = value
                            edge = k
                item = item_at(kind, i, j, n, n + 1)
                chart[item] = best
                edges[item] = edge
    return chart[item_at(RIGHT, 0, n, n, n + 1)]


class Forest(NamedTuple):
    """Derivations found so far of the items in use; each of those items has a row.

    A derivation is a number: ``(edge * base + rank of left) * base + rank of right``.
    """

    row: IntArray  # of every item, -1 while it has none
    item: IntArray  # of every row; -1 while the row is free
    found: IntArray  # derivations of each row so far, best first
    expanded: IntArray  # of those, how many have put their successors on the heap
    waiting: IntArray  # size of each row's heap
    scores: FloatArray  # rows x k
    derivations: NDArray[np.int64]
    heap_scores: FloatArray  # rows x (words + k + 1)
    heap: NDArray[np.int64]
    used: IntArray  # how many rows are in use, in a single cell
    best: FloatArray  # chart and edges of `best_inside`
    edges: IntArray


@njit(cache=True, nogil=True)
def _new_forest(best: FloatArray, edges: IntArray, words: int, k: int, rows: int) -> Forest:
    width = words + k + 1
    return Forest(
        np.full(best.size, -1, np.int32),
        np.full(rows, -1, np.int32),
        np.zeros(rows, np.int32),
        np.zeros(rows, np.int32),
        np.zeros(rows, np.int32),
        np.empty((rows, k)),
        np.empty((rows, k), np.int64),
        np.empty((rows, width)),
        np.empty((rows, width), np.int64),
        np.zeros(1, np.int32),
        best,
        edges,
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
    row = forest.used[0]
    forest.used[0] += 1
    forest.row[item] = row
    forest.item[row] = item
    kind, i, j = item_span(item, sentence.words)
    if i < j:
        first, last = edge_range(kind, i, j, sentence)
        for k in range(first, last):
            left, right = edge_items(kind, i, j, k, sentence, sentence.words + 1)
            score = forest.best[left] + forest.best[right] + edge_score(kind, i, j, k, sentence)
            if score > -math.inf:
                _push(forest, row, score, k * base * base)
    return row


@njit(cache=True, nogil=True)
def _find(
    forest: Forest, item: int, rank: int, sentence: Sentence, base: int, stack: NDArray[np.int64]
) -> bool:
    """Find derivations of an item up to this rank, if it has them; false if rows ran out."""
    stack[0, 0], stack[0, 1] = item, rank
    depth = 1
    while depth:
        item, rank = stack[depth - 1, 0], stack[depth - 1, 1]
        if not math.isnan(_value(forest, item, rank)):
            depth -= 1
            continue
        row = forest.row[item]
        if row < 0:
            if forest.used[0] == forest.item.size:
                return False
            row = _open_row(forest, item, sentence, base)
        if forest.expanded[row] < forest.found[row]:
            derivation = forest.derivations[row, forest.expanded[row]]
            rest, right_rank = divmod(derivation, base)
            k, left_rank = divmod(rest, base)
            kind, i, j = item_span(item, sentence.words)
            left, right = edge_items(kind, i, j, k, sentence, sentence.words + 1)
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
    stack[0, 0], stack[0, 1] = item_at(RIGHT, 0, n, n, n + 1), rank
    depth = 1
    while depth:
        depth -= 1
        item, rank = stack[depth, 0], stack[depth, 1]
        kind, i, j = item_span(item, n)
        if i == j:
            continue
        derivation = np.int64(forest.edges[item]) * base * base
        if rank > 0:
            derivation = forest.derivations[forest.row[item], rank]
        rest, right_rank = divmod(derivation, base)
        k, left_rank = divmod(rest, base)
        if kind == OPEN_RIGHT:
            heads[j - 1] = i
        elif kind == OPEN_LEFT:
            heads[i - 1] = j
        left, right = edge_items(kind, i, j, k, sentence, n + 1)
        stack[depth, 0], stack[depth, 1] = left, left_rank
        stack[depth + 1, 0], stack[depth + 1, 1] = right, right_rank
        depth += 2


@njit(cache=True, nogil=True)
def best_trees(
    sentence: Sentence, best: FloatArray, edges: IntArray, scores: FloatArray, heads: IntArray
) -> None:
    """Fill ``scores`` and the rows of ``heads`` with the k best trees, best first.

    ``best`` and ``edges`` are the chart that `best_inside` filled. What does not exist is left
    as it was.
    """
    n, k = sentence.words, scores.size
    goal = item_at(RIGHT, 0, n, n, n + 1)
    if best[goal] == -math.inf:
        return
    base = k + 1
    stack = np.empty((KINDS * (n + 2), 2), np.int64)
    rows = 1 if k == 1 else 32 * (n + 1)
    forest = _new_forest(best, edges, n, k, rows)
    rank = 0
    while rank < k:
        if not _find(forest, goal, rank, sentence, base, stack):
            rows *= 4  # begin again with room for more items
            forest = _new_forest(best, edges, n, k, rows)
            rank = 0
            continue
        scores[rank] = _value(forest, goal, rank)
        if scores[rank] == -math.inf:
            return
        _read_tree(forest, rank, sentence, base, stack, heads[rank])
        rank += 1
